// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "core/limits.h"
#include "net/lane_acceptor.h"

namespace keibi::net {

//   0            16            20                          53
//   | session id | lane number | frame with plaintext 00 |       a lane's hello, after its preamble (PROTOCOL 5.1)
inline constexpr size_t kLaneHelloBytes = 16 + 4 + frame::kOverheadBytes + 1;
using LaneHello = std::array<uint8_t, kLaneHelloBytes>;

// Limit for lanes of one network that wait for their session: all lanes of a session that moves (PROTOCOL 5.3).
inline constexpr size_t kMaxHeldLanes = size_t{2} * core::kMaxLanes;

// The sessions whose lanes a listener accepts, and the lane numbers that each has used. Any thread.
class LaneRegistry {
 public:
  struct Admitted {
    std::shared_ptr<LaneAcceptor> acceptor;
    uint32_t lane;
    std::unique_ptr<frame::Sealer> sealer;
    std::unique_ptr<frame::Opener> opener;  // already past the hello's frame
  };

  void Expect(ExpectedLanes lanes, std::shared_ptr<LaneAcceptor> acceptor);
  void Forget(const SessionId& session_id);
  void Close();  // forgets all sessions and refuses new ones

  // Whether a session that is not yet expected may still claim this lane.
  bool IsEarly(const LaneHello& hello);

  // Admits a lane whose session is expected, whose number is free and whose frame opens, and takes the number.
  // Otherwise returns nothing and changes nothing: a wrong hello costs the session no lane. Opens `hello` in place.
  std::optional<Admitted> Admit(LaneHello* hello);

 private:
  struct Session {
    ExpectedLanes lanes;
    std::shared_ptr<LaneAcceptor> acceptor;
    std::bitset<core::kMaxLaneNumbers> taken{};
  };

  std::mutex mutex_;
  std::map<SessionId, Session> sessions_;
  bool closed_ = false;
};

}  // namespace keibi::net
