// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string_view>
#include <vector>

#include "core/fd.h"
#include "mount/host_messages.h"
#include "mount/host_protocol.h"
#include "mount/silence.h"

namespace keibi::mount {

// The host's end of the socket pair. Any thread may send requests; one thread runs the link.
class DaemonLink {
 public:
  // Called on the thread that runs the link; once the link has ended, on the thread that calls Ask.
  struct Answer {
    std::function<void(const uint8_t* entries, size_t length)> on_page;
    // Called once, with an errno and the body of the answer. ETIMEDOUT if none came in time, ENOTCONN if the daemon has
    // gone.
    std::function<void(int error, Reader body)> on_done;
    bool waits = true;  // for the other peer; false for requests that the daemon answers by itself
  };
  using Heard = std::function<void(Type type, Reader body)>;

  // Takes ownership of the descriptor. `patience` is the timeout of an answer; ten times that if it comes in pages.
  // Once the other peer is silent, all requests share one timeout (silence.h).
  DaemonLink(int fd, std::chrono::milliseconds patience);

  // Sends and returns. A message that cannot be sent fails later, like an unanswered one.
  //
  // `patiences` multiplies the timeout. Returns the number of the request, or 0 if the link has ended.
  uint32_t Ask(Type type, const Writer& body, Answer answer, int patiences = 1);
  void Notify(Type type, const Writer& body);

  // Whether the other peer is known to be away.
  void SetAway(bool away);

  // Waits until everything sent before has left this process; at most `most`.
  void WaitSent(std::chrono::milliseconds most);

  // Answers all pending requests of that type with an errno, without the daemon.
  void FinishAsked(Type type, int error);

  // Runs until the daemon closes its end or violates the protocol. Every request has been answered by then.
  void Run(const Heard& heard);

 private:
  struct Question {
    Type type;
    Answer answer;
    std::chrono::steady_clock::time_point asked;
    std::chrono::steady_clock::time_point until;   // when silence becomes a timeout
    std::chrono::steady_clock::time_point latest;  // the deadline, even if pages still come
    bool shows_presence;                           // its answer, or timeout, shows whether the other peer is there
  };

  // Both with mutex_ held.
  void Append(Type type, uint32_t request, const Writer& body);
  bool Flush();

  bool Receive(std::vector<uint8_t>* received, const Heard& heard);
  bool Handle(const uint8_t* message, size_t length, const Heard& heard);
  void Finish(uint32_t request, int error, Reader body);
  void FinishLate();
  void Learn(const Question& question, bool answered);  // with mutex_ held
  void FinishAll();

  const core::Fd fd_;
  const std::chrono::milliseconds patience_;
  std::mutex mutex_;
  std::vector<uint8_t> unsent_;
  std::map<uint32_t, Question> asked_;  // ordered by number, so also by deadline
  uint32_t next_ = 1;
  Silence silence_;
  bool broken_ = false;  // nothing can be sent from now on
  bool ended_ = false;   // no request is answered from now on
};

}  // namespace keibi::mount
