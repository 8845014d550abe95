// SPDX-License-Identifier: MPL-2.0
#include <fcntl.h>
#include <sys/event.h>
#include <sys/time.h>
#include <sys/types.h>

#include <algorithm>
#include <array>

#include "core/poller.h"

// Written from the manual pages, never compiled (docs/PORTING.md).
namespace keibi::core {
namespace {

constexpr uint64_t kWakeId = UINT64_MAX;
constexpr int kMostEvents = 64;  // of one Wait; the next Wait returns the others

// EV_CLEAR makes an event edge-triggered, like EPOLLET.
struct kevent EventOf(uintptr_t ident, int16_t filter, uint16_t flags, uint32_t what, uint64_t id) {
  struct kevent event;
  EV_SET(&event, ident, filter, flags, what, 0, reinterpret_cast<void*>(static_cast<uintptr_t>(id)));
  return event;
}

bool Change(int poll, const struct kevent* events, int count) {
  return kevent(poll, events, count, nullptr, 0, nullptr) == 0;
}

}  // namespace

Status Poller::Open() {
  poll_ = Fd(kqueue());
  if (!poll_.valid() || fcntl(poll_.get(), F_SETFD, FD_CLOEXEC) != 0) return Status::FromErrno(Code::kInternal);
  // A wake needs no descriptor: wake_ stays empty.
  const struct kevent wake = EventOf(0, EVFILT_USER, EV_ADD | EV_CLEAR, 0, kWakeId);
  return Change(poll_.get(), &wake, 1) ? Status::Ok() : Status::FromErrno(Code::kInternal);
}

bool Poller::Add(int fd, uint64_t id) {
  const struct kevent event = EventOf(static_cast<uintptr_t>(fd), EVFILT_READ, EV_ADD | EV_CLEAR, 0, id);
  return Change(poll_.get(), &event, 1);
}

bool Poller::AddForWriting(int fd, uint64_t id) {
  const auto ident = static_cast<uintptr_t>(fd);
  const std::array events{EventOf(ident, EVFILT_READ, EV_ADD | EV_CLEAR, 0, id),
                          EventOf(ident, EVFILT_WRITE, EV_ADD | EV_CLEAR, 0, id)};
  return Change(poll_.get(), events.data(), static_cast<int>(events.size()));
}

void Poller::Remove(int fd) {
  // One by one: a missing filter is an error and would stop a list of changes.
  for (const int16_t filter : {EVFILT_READ, EVFILT_WRITE}) {
    const struct kevent event = EventOf(static_cast<uintptr_t>(fd), filter, EV_DELETE, 0, 0);
    Change(poll_.get(), &event, 1);
  }
}

void Poller::Wait(int timeout_ms, std::vector<uint64_t>* ready) {
  ready->clear();
  std::array<struct kevent, kMostEvents> events;
  const timespec timeout{timeout_ms / 1000, (timeout_ms % 1000) * 1'000'000L};
  const int count = kevent(poll_.get(), nullptr, 0, events.data(), kMostEvents, timeout_ms < 0 ? nullptr : &timeout);
  for (int i = 0; i < count; i++) {
    const auto id = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(events[i].udata));
    // Reading and writing on one descriptor are two events.
    if (events[i].filter != EVFILT_USER && std::find(ready->begin(), ready->end(), id) == ready->end())
      ready->push_back(id);
  }
}

void Poller::Wake() {
  const struct kevent wake = EventOf(0, EVFILT_USER, 0, NOTE_TRIGGER, kWakeId);
  Change(poll_.get(), &wake, 1);
}

}  // namespace keibi::core
