// SPDX-License-Identifier: MPL-2.0
#include <sys/socket.h>

#include <cstdint>
#include <memory>

#include "check.h"
#include "net/lane_registry.h"
#include "net/preamble.h"

// The first bytes of a connection, in two pieces: the preamble and the lane hello, sent by a stranger without a key.
using keibi::core::Fd;
using keibi::net::LaneRegistry;
using keibi::net::PreambleReader;

namespace {

class NoLanes : public keibi::net::LaneAcceptor {
 public:
  void OnLane(int, uint32_t, std::unique_ptr<keibi::frame::Sealer>, std::unique_ptr<keibi::frame::Opener>) override {}
};

void Feed(PreambleReader* connection, int peer, const uint8_t* data, size_t size, LaneRegistry* registry) {
  if (size > 0 && send(peer, data, size, MSG_NOSIGNAL) < 0) return;
  if (connection->Advance() != PreambleReader::Kind::kLane) return;
  keibi::fuzz::Check(!registry->Admit(connection->hello()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2 || size > 4096) return 0;
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) != 0) return 0;
  const Fd peer(pair[1]);
  const bool takes_http = (data[1] & 1) != 0;
  PreambleReader connection(Fd(pair[0]), {}, PreambleReader::Clock::time_point::max(), takes_http);
  LaneRegistry registry;
  const uint8_t secret[32] = {7};
  registry.Expect({{}, keibi::frame::Key(secret), keibi::aead::Suite::kAes256Gcm, keibi::frame::Role::kResponder},
                  std::make_shared<NoLanes>());
  data += 2;
  size -= 2;
  const size_t first = size == 0 ? 0 : data[-2] % size;
  Feed(&connection, peer.get(), data, first, &registry);
  Feed(&connection, peer.get(), data + first, size - first, &registry);
  return 0;
}
