// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/fd.h"
#include "core/status.h"
#include "relay/wire.h"

namespace keibi::relay {

struct Limits {
  size_t pairs = 0;                       // that run at the same time
  size_t waiting = 0;                     // connections whose other side has not come yet
  size_t per_address = 0;                 // connections of one address (IPv6: of its /64), waiting or paired; the
                                          // networks around it have a multiple (NetworksOf)
  std::chrono::milliseconds wait{0};      // for the other side to come
  std::chrono::milliseconds idle{0};      // a pair without traffic for so long ends
  std::chrono::milliseconds lifetime{0};  // of a pair
  uint64_t bytes_per_second = 0;          // of all pairs together, both directions; 0: no limit
};

struct Stats {
  uint64_t waiting = 0;  // now
  uint64_t pairs = 0;    // now
  uint64_t joined = 0;   // pairs, ever
  uint64_t refused = 0;  // connections refused for lack of room
  uint64_t expired = 0;  // connections whose other side never came
  uint64_t cut = 0;      // pairs that were idle for too long or lived too long
  uint64_t bytes = 0;    // forwarded, both directions
};

// Joins connections that show the same token and forwards between them without reading (PROTOCOL 2.3). Uses one thread
// of its own.
class Hub {
 public:
  static core::Status Open(std::unique_ptr<Hub>* hub);
  ~Hub();  // stops
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;

  // Any thread. Applies to new connections; the rate applies to running pairs too. Limits of 0 refuse every new
  // connection; running pairs continue.
  void SetLimits(const Limits& limits);

  // Any thread. Takes a non-blocking connection whose preamble and `token` were already read; `address` is the numeric
  // address of the other side.
  void Take(core::Fd fd, const Token& token, const std::string& address);

  Stats stats() const;  // any thread

  void Stop();  // closes everything. Idempotent; not from the hub's thread

 private:
  struct Impl;
  explicit Hub(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace keibi::relay
