// SPDX-License-Identifier: MPL-2.0
#include "relay/address_count.h"

#include <arpa/inet.h>

#include <algorithm>

namespace keibi::relay {
namespace {

struct Width {
  size_t bytes;
  size_t share;
};

constexpr Width kIpv4Widths[] = {{4, 1}, {3, 4}};
constexpr Width kIpv6Widths[] = {{8, 1}, {7, 2}, {6, 4}};

template <size_t kCount>
Networks Named(char family, const void* address, const Width (&widths)[kCount]) {
  Networks networks;
  for (const auto& [bytes, share] : widths) {
    networks.push_back({family + std::string(static_cast<const char*>(address), bytes), share});
  }
  return networks;
}

}  // namespace

Networks NetworksOf(const std::string& address) {
  in_addr ipv4{};
  if (inet_pton(AF_INET, address.c_str(), &ipv4) == 1) return Named('4', &ipv4, kIpv4Widths);
  in6_addr ipv6{};
  const std::string plain = address.substr(0, address.find('%'));  // without the interface of a link-local address
  if (inet_pton(AF_INET6, plain.c_str(), &ipv6) == 1) return Named('6', &ipv6, kIpv6Widths);
  return {{address, 1}};
}

const Network* NetworkCount::FullOf(const Networks& networks, size_t limit) const {
  const auto full = std::find_if(networks.begin(), networks.end(), [this, limit](const Network& network) {
    const auto found = counts_.find(network.name);
    return (found == counts_.end() ? 0 : found->second) >= limit * network.share;
  });
  return full == networks.end() ? nullptr : &*full;
}

void NetworkCount::Add(const Networks& networks) {
  for (const Network& network : networks) counts_[network.name]++;
}

void NetworkCount::Remove(const Networks& networks) {
  for (const Network& network : networks) {
    const auto found = counts_.find(network.name);
    if (found != counts_.end() && --found->second == 0) counts_.erase(found);
  }
}

}  // namespace keibi::relay
