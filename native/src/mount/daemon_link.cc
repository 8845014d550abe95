// SPDX-License-Identifier: MPL-2.0
#include "mount/daemon_link.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

namespace keibi::mount {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kTickMs = 100;  // how late a timeout may fire

}  // namespace

DaemonLink::DaemonLink(int fd, std::chrono::milliseconds patience) : fd_(fd), patience_(patience), silence_(patience) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

uint32_t DaemonLink::Ask(Type type, const Writer& body, Answer answer, int patiences) {
  int error = ENOTCONN;
  {
    const std::scoped_lock lock(mutex_);
    const auto now = Clock::now();
    const bool shows_presence = answer.waits && patiences == 1;
    const Clock::duration patience = shows_presence ? silence_.Left(now) : Clock::duration(patiences * patience_);
    if (!ended_ && patience == Clock::duration::zero()) {
      error = ETIMEDOUT;
    } else if (!ended_) {
      // Numbers wrap after 2^32 requests, long after the earlier request with that number has ended.
      const uint32_t request = next_++;
      if (next_ == 0) next_ = 1;
      const auto latest = now + std::max(patience, Clock::duration(rules::kPagePatiences * patience_));
      asked_[request] = {type, std::move(answer), now, now + patience, latest, shows_presence};
      Append(type, request, body);
      return request;
    }
  }
  answer.on_done(error, Reader(nullptr, 0));
  return 0;
}

void DaemonLink::Notify(Type type, const Writer& body) {
  const std::scoped_lock lock(mutex_);
  Append(type, 0, body);
}

void DaemonLink::Append(Type type, uint32_t request, const Writer& body) {
  // If the daemon reads nothing, drop the message; its requests time out.
  if (broken_ || unsent_.size() > size_t{rules::kMostQueuedBytes}) return;
  Writer head;
  head.Number(static_cast<uint32_t>(rules::kHeadBytes - 4 + body.bytes().size()))
      .Number(static_cast<uint8_t>(type))
      .Number(request);
  unsent_.insert(unsent_.end(), head.bytes().begin(), head.bytes().end());
  unsent_.insert(unsent_.end(), body.bytes().begin(), body.bytes().end());
  if (!Flush()) broken_ = true;
}

bool DaemonLink::Flush() {
  size_t sent = 0;
  while (sent < unsent_.size()) {
    const ssize_t some = send(fd_.get(), unsent_.data() + sent, unsent_.size() - sent, MSG_NOSIGNAL);
    if (some < 0 && errno == EINTR) continue;
    if (some < 0 && errno != EAGAIN) return false;
    if (some < 0) break;
    sent += static_cast<size_t>(some);
  }
  unsent_.erase(unsent_.begin(), unsent_.begin() + static_cast<ptrdiff_t>(sent));
  return true;
}

void DaemonLink::WaitSent(std::chrono::milliseconds most) {
  const Clock::time_point until = Clock::now() + most;
  while (Clock::now() < until) {
    {
      const std::scoped_lock lock(mutex_);
      if (broken_ || unsent_.empty() || !Flush() || unsent_.empty()) return;
    }
    pollfd ready{fd_.get(), POLLOUT, 0};
    poll(&ready, 1, kTickMs);
  }
}

void DaemonLink::SetAway(bool away) {
  const std::scoped_lock lock(mutex_);
  if (!away) return silence_.Back(Clock::now());
  std::optional<Clock::time_point> oldest;
  for (const auto& [request, question] : asked_) {
    if (question.shows_presence && (!oldest || question.asked < *oldest)) oldest = question.asked;
  }
  silence_.Lost(Clock::now(), oldest);
}

void DaemonLink::Learn(const Question& question, bool answered) {
  if (!question.shows_presence) return;
  answered ? silence_.Heard(Clock::now()) : silence_.TimedOut(question.asked);
}

void DaemonLink::FinishAsked(Type type, int error) {
  std::vector<uint32_t> requests;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [request, question] : asked_) {
      if (question.type == type) requests.push_back(request);
    }
  }
  for (const uint32_t request : requests) Finish(request, error, Reader(nullptr, 0));
}

void DaemonLink::Run(const Heard& heard) {
  std::vector<uint8_t> received;
  for (bool open = true; open;) {
    pollfd ready{fd_.get(), POLLIN, 0};
    {
      const std::scoped_lock lock(mutex_);
      if (!unsent_.empty()) ready.events |= POLLOUT;
    }
    if (poll(&ready, 1, kTickMs) < 0 && errno != EINTR) break;
    if ((ready.revents & POLLOUT) != 0) {
      const std::scoped_lock lock(mutex_);
      if (!Flush()) break;
    }
    if ((ready.revents & ~POLLOUT) != 0) open = Receive(&received, heard);
    FinishLate();
  }
  {
    const std::scoped_lock lock(mutex_);
    broken_ = ended_ = true;
  }
  FinishAll();
}

bool DaemonLink::Receive(std::vector<uint8_t>* received, const Heard& heard) {
  std::array<uint8_t, size_t{64} << 10> buffer;
  const ssize_t some = recv(fd_.get(), buffer.data(), buffer.size(), 0);
  if (some < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (some <= 0) return false;
  received->insert(received->end(), buffer.begin(), buffer.begin() + some);
  size_t taken = 0;
  while (received->size() - taken >= rules::kHeadBytes) {
    const size_t length = core::LoadBigEndian<uint32_t>(received->data() + taken);
    if (length < rules::kHeadBytes - 4 || length > size_t{rules::kMaxMessageBytes}) return false;
    if (received->size() - taken - 4 < length) break;
    if (!Handle(received->data() + taken + 4, length, heard)) return false;
    taken += 4 + length;
  }
  received->erase(received->begin(), received->begin() + static_cast<ptrdiff_t>(taken));
  return true;
}

bool DaemonLink::Handle(const uint8_t* message, size_t length, const Heard& heard) {
  Reader reader(message, length);
  const auto type = static_cast<Type>(reader.Number<uint8_t>());
  const auto request = reader.Number<uint32_t>();
  const uint8_t* const body = message + 5;
  const size_t body_bytes = length - 5;
  if (type == Type::kPage) {
    std::function<void(const uint8_t*, size_t)> on_page;
    {
      const std::scoped_lock lock(mutex_);
      const auto found = asked_.find(request);
      if (found == asked_.end()) return true;  // the answer is too late
      on_page = found->second.answer.on_page;
      // A page restarts the timeout, up to `latest`.
      found->second.until = std::min(Clock::now() + patience_, found->second.latest);
      Learn(found->second, true);
    }
    if (on_page) on_page(body, body_bytes);
  } else if (type == Type::kDone) {
    const auto error = static_cast<int>(reader.Number<uint32_t>());
    if (!reader.ok()) return false;
    {
      const std::scoped_lock lock(mutex_);
      if (const auto found = asked_.find(request); found != asked_.end()) {
        Learn(found->second, error != ETIMEDOUT);
      } else if (error != ETIMEDOUT) {
        silence_.Heard(Clock::now());  // too late for the caller, but it shows that the peer is there
      }
    }
    Finish(request, error, reader);
  } else {
    heard(type, reader);
  }
  return true;
}

void DaemonLink::Finish(uint32_t request, int error, Reader body) {
  Answer answer;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = asked_.find(request);
    if (found == asked_.end()) return;
    answer = std::move(found->second.answer);
    asked_.erase(found);
  }
  answer.on_done(error, body);
}

void DaemonLink::FinishLate() {
  std::vector<uint32_t> late;
  {
    const std::scoped_lock lock(mutex_);
    const auto now = Clock::now();
    for (const auto& [request, question] : asked_) {
      if (question.until >= now) continue;
      late.push_back(request);
      Learn(question, false);
    }
  }
  for (const uint32_t request : late) Finish(request, ETIMEDOUT, Reader(nullptr, 0));
}

void DaemonLink::FinishAll() {
  for (;;) {
    uint32_t request;
    {
      const std::scoped_lock lock(mutex_);
      if (asked_.empty()) return;
      request = asked_.begin()->first;
    }
    Finish(request, ENOTCONN, Reader(nullptr, 0));
  }
}

}  // namespace keibi::mount
