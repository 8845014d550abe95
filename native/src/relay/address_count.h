// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace keibi::relay {

// A network, and how many times the limit of the narrowest one it may have.
struct Network {
  std::string name;
  size_t share = 1;
  bool operator==(const Network&) const = default;
};

// The networks that a numeric address is in, narrowest first: IPv4 /32 and /24, IPv6 /64, /56 and /48. One customer has
// the narrowest, and some have the widest; each has the share that packages/server/src/network.ts gives it.
using Networks = std::vector<Network>;
Networks NetworksOf(const std::string& address);

// How many of something each network has. One thread.
class NetworkCount {
 public:
  // Whether one more may come: `limit` holds for the narrowest network, its share of it for each around it.
  bool HasRoom(const Networks& networks, size_t limit) const { return FullOf(networks, limit) == nullptr; }
  // The narrowest of them that is full, or null.
  const Network* FullOf(const Networks& networks, size_t limit) const;
  void Add(const Networks& networks);
  void Remove(const Networks& networks);

 private:
  std::map<std::string, size_t> counts_;
};

}  // namespace keibi::relay
