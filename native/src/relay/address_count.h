// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace keibi::relay {

// A network and its share: how many times the narrowest network's limit it may have.
struct Network {
  std::string name;
  size_t share = 1;
  bool operator==(const Network&) const = default;
};

// The networks of a numeric address, narrowest first: IPv4 /32 and /24, IPv6 /64, /56 and /48. Every customer has the
// narrowest, some the widest; packages/server/src/network.ts defines the share of each.
using Networks = std::vector<Network>;
Networks NetworksOf(const std::string& address);

// Counts connections per network. One thread.
class NetworkCount {
 public:
  // Whether one more fits: `limit` applies to the narrowest network, and `limit` times its share to each wider one.
  bool HasRoom(const Networks& networks, size_t limit) const { return FullOf(networks, limit) == nullptr; }
  // The narrowest full network, or null.
  const Network* FullOf(const Networks& networks, size_t limit) const;
  void Add(const Networks& networks);
  void Remove(const Networks& networks);

 private:
  std::map<std::string, size_t> counts_;
};

}  // namespace keibi::relay
