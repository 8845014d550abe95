// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace keibi::relay {

// The part of a numeric address that one customer of a network has: an IPv4 address, or the /64 of an IPv6 one.
std::string NetworkOf(const std::string& address);

// How many of something each network has. One thread.
class AddressCount {
 public:
  size_t of(const std::string& network) const {
    const auto found = counts_.find(network);
    return found == counts_.end() ? 0 : found->second;
  }
  void Add(const std::string& network) { counts_[network]++; }
  void Remove(const std::string& network) {
    const auto found = counts_.find(network);
    if (found != counts_.end() && --found->second == 0) counts_.erase(found);
  }

 private:
  std::map<std::string, size_t> counts_;
};

}  // namespace keibi::relay
