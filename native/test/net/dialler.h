// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <string>

#include "bytes.h"
#include "core/fd.h"

namespace keibi::test {

// The other side of a listener under test: a blocking TCP connection over loopback.
class Dialler {
 public:
  static core::Fd Socket(const std::string& host);  // not connected yet

  Dialler(const std::string& host, uint16_t port);  // connected, or !connected()
  Dialler(core::Fd socket, const std::string& host, uint16_t port);

  bool connected() const { return connected_; }
  bool Send(const Bytes& bytes);
  bool Send(const std::string& text) { return Send(FromText(text)); }
  size_t SendWhatFits(const Bytes& bytes);  // until nothing more has fitted for 100 ms
  void EndSending();
  Bytes Receive(size_t bytes);  // fewer if the other side ended
  bool IsClosed();              // waits up to 5 s for the other side to end the connection
  void Close() { fd_.Close(); }

 private:
  core::Fd fd_;
  bool connected_ = false;
};

}  // namespace keibi::test
