// SPDX-License-Identifier: MPL-2.0
#include "net/preamble.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

namespace keibi::net {
namespace {

constexpr size_t kPreambleBytes = 8;

struct Preamble {
  std::string_view bytes;
  PreambleReader::Kind kind;
};

constexpr Preamble kPreambles[] = {
    {"PRI * HT", PreambleReader::Kind::kRendezvous}, {"KEIBI-C1", PreambleReader::Kind::kControl},
    {"KEIBI-L1", PreambleReader::Kind::kLane},       {relay::kPreamble, PreambleReader::Kind::kRelay},
    {"GET ", PreambleReader::Kind::kHttp},           {"HEAD ", PreambleReader::Kind::kHttp},
    {"\x16\x03", PreambleReader::Kind::kTls},  // a handshake record (RFC 8446 5.1)
};

ssize_t Receive(int fd, void* to, size_t bytes, int flags) {
  ssize_t received;
  do {
    received = recv(fd, to, bytes, flags);
  } while (received < 0 && errno == EINTR);
  return received;
}

// The meaning of an unsuccessful recv.
PreambleReader::Kind WaitOrRefuse(ssize_t received) {
  const bool wait = received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  return wait ? PreambleReader::Kind::kUnknown : PreambleReader::Kind::kRefused;
}

}  // namespace

PreambleReader::Kind PreambleReader::Advance() {
  if (kind_ != Kind::kUnknown) return ReadRest();
  const Kind kind = Peek();
  char preamble[kPreambleBytes];
  if (kind != Kind::kControl && kind != Kind::kLane && kind != Kind::kRelay) return kind;
  if (Receive(fd.get(), preamble, kPreambleBytes, 0) != kPreambleBytes) return Kind::kRefused;
  if (kind == Kind::kControl) return kind;
  kind_ = kind;
  return ReadRest();
}

PreambleReader::Kind PreambleReader::Peek() {
  char start[kPreambleBytes];
  const ssize_t received = Receive(fd.get(), start, kPreambleBytes, MSG_PEEK);
  if (received <= 0) return WaitOrRefuse(received);
  const std::string_view arrived(start, static_cast<size_t>(received));
  for (const auto& [bytes, kind] : kPreambles) {
    if ((kind == Kind::kHttp || kind == Kind::kTls) && !takes_http_) continue;
    if (arrived.starts_with(bytes)) return kind;
    if (bytes.starts_with(arrived)) return Kind::kUnknown;
  }
  return Kind::kRefused;
}

PreambleReader::Kind PreambleReader::ReadRest() {
  const size_t wanted = kind_ == Kind::kLane ? kLaneHelloBytes : relay::kTokenBytes;
  while (rest_bytes_ < wanted) {
    const ssize_t received = Receive(fd.get(), hello_.data() + rest_bytes_, wanted - rest_bytes_, 0);
    if (received <= 0) return WaitOrRefuse(received);
    rest_bytes_ += static_cast<size_t>(received);
  }
  return kind_;
}

relay::Token PreambleReader::token() const {
  relay::Token token;
  std::copy_n(hello_.begin(), token.size(), token.begin());
  return token;
}

}  // namespace keibi::net
