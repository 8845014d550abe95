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
#include "stream/lane_acceptor.h"

namespace keibi::stream {

//   0            16            20                          53
//   | session id | lane number | frame with plaintext 00 |       a lane's hello behind its preamble (PROTOCOL 5.1)
inline constexpr size_t kLaneHelloBytes = 16 + 4 + frame::kOverheadBytes + 1;
using LaneHello = std::array<uint8_t, kLaneHelloBytes>;

// Lanes of one network that wait for their session: all of a session that moves (PROTOCOL 5.3).
inline constexpr size_t kMaxHeldLanes = size_t{2} * core::kMaxLanes;

// The sessions whose lanes a listener accepts, and which lanes each has already. Any thread.
class LaneRegistry {
 public:
  struct Admitted {
    std::shared_ptr<LaneAcceptor> acceptor;
    uint32_t lane;
    std::unique_ptr<frame::Sealer> sealer;
    std::unique_ptr<frame::Opener> opener;  // the hello's frame is behind it
  };

  void Expect(ExpectedLanes lanes, std::shared_ptr<LaneAcceptor> acceptor);
  void Forget(const SessionId& session_id);
  void Close();  // forgets all and expects none any more

  // Whether a session that is not expected yet may still claim this lane.
  bool IsEarly(const LaneHello& hello);

  // A lane whose session is expected, whose number is free and whose frame opens; takes the number then. Nothing
  // otherwise, and nothing is changed: a wrong hello does not cost the session a lane. `hello` is opened in place.
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

}  // namespace keibi::stream
