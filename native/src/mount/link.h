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
#include "mount/message.h"
#include "mount/silence.h"

namespace keibi::mount {

// The host's end of the socket pair. Any thread asks, one thread runs it.
class Link {
 public:
  // Called by the thread that runs the link; once the link has ended, by the one that asks.
  struct Answer {
    std::function<void(const uint8_t* entries, size_t length)> on_page;
    // Once: with an errno and what the answer says. ETIMEDOUT if none came in time, ENOTCONN if the Peer has gone.
    std::function<void(int error, Reader body)> on_done;
    bool waits = true;  // for the other peer: what the Peer alone answers says nothing of that one
  };
  using Heard = std::function<void(Type type, Reader body)>;

  // Takes the descriptor over. `patience`: for how long an answer is waited for; ten times that if pages come. Once the
  // other peer says nothing, all questions have that time together (silence.h).
  Link(int fd, std::chrono::milliseconds patience);

  // Sends and returns. What cannot be sent fails like what is not answered: later, and not here.
  //
  // `patiences`: so many times the patience there is time. The number of the question, 0 if the link has ended.
  uint32_t Ask(Type type, const Writer& body, Answer answer, int patiences = 1);
  void Tell(Type type, const Writer& body);

  // Whether the other peer is known to be away.
  void SetAway(bool away);

  // Answers all questions of that type with an errno, without the Peer.
  void FinishAsked(Type type, int error);

  // Until the Peer closes its end, or breaks the rules: every question has then been answered.
  void Run(const Heard& heard);

 private:
  struct Question {
    Type type;
    Answer answer;
    std::chrono::steady_clock::time_point asked;
    std::chrono::steady_clock::time_point until;   // silence is over
    std::chrono::steady_clock::time_point latest;  // whatever comes
    bool tells;                                    // by its answer, or none, whether the other peer is there
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
  std::map<uint32_t, Question> asked_;  // in the order of their numbers, so also of their ends
  uint32_t next_ = 1;
  Silence silence_;
  bool broken_ = false;  // nothing can be sent any more
  bool ended_ = false;   // nothing is answered any more
};

}  // namespace keibi::mount
