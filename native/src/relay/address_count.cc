// SPDX-License-Identifier: MPL-2.0
#include "relay/address_count.h"

#include <arpa/inet.h>

namespace keibi::relay {
namespace {

constexpr size_t kNetworkBytes = 8;

}  // namespace

std::string NetworkOf(const std::string& address) {
  in6_addr ipv6{};
  const std::string plain = address.substr(0, address.find('%'));  // without the interface of a link-local one
  if (inet_pton(AF_INET6, plain.c_str(), &ipv6) != 1) return address;
  return std::string(reinterpret_cast<const char*>(ipv6.s6_addr), kNetworkBytes);
}

}  // namespace keibi::relay
