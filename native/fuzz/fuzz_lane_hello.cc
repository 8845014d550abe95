// SPDX-License-Identifier: MPL-2.0
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "stream/lane_registry.h"
#include "stream/undecided.h"

// What a stranger can send to a listener before anything is known of it: the preamble and the lane hello, in two
// pieces.
using keibi::core::Fd;
using keibi::stream::LaneRegistry;
using keibi::stream::Undecided;

namespace {

class Nobody : public keibi::stream::LaneAcceptor {
 public:
  void OnLane(int, uint32_t, std::unique_ptr<keibi::frame::Sealer>, std::unique_ptr<keibi::frame::Opener>) override {}
};

void Feed(Undecided* connection, int peer, const uint8_t* data, size_t size, LaneRegistry* registry) {
  if (size > 0 && send(peer, data, size, MSG_NOSIGNAL) < 0) return;
  if (connection->Advance() != Undecided::Kind::kLane) return;
  if (registry->Admit(connection->hello())) std::abort();  // nobody here knows the lane secret
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1 || size > 4096) return 0;
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) != 0) return 0;
  const Fd peer(pair[1]);
  Undecided connection(Fd(pair[0]), "", 0, Undecided::Clock::time_point::max());
  LaneRegistry registry;
  const uint8_t secret[32] = {7};
  registry.Expect({{}, keibi::frame::Key(secret), keibi::aead::Suite::kAes256Gcm, keibi::frame::Role::kResponder},
                  std::make_shared<Nobody>());
  const size_t first = data[0] % size;
  Feed(&connection, peer.get(), data + 1, first, &registry);
  Feed(&connection, peer.get(), data + 1 + first, size - 1 - first, &registry);
  return 0;
}
