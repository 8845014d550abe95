// SPDX-License-Identifier: MPL-2.0
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "core/poller.h"

namespace keibi::core {
namespace {

constexpr uint64_t kWakeId = UINT64_MAX;
constexpr int kMostEvents = 64;  // of one Wait; the next Wait returns the others

constexpr uint32_t kReading = EPOLLIN | EPOLLRDHUP;

bool AddTo(int poll, int fd, uint64_t id, uint32_t events = kReading) {
  epoll_event event{};
  event.events = events | EPOLLET;
  event.data.u64 = id;
  return epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event) == 0;
}

}  // namespace

Status Poller::Open() {
  poll_ = Fd(epoll_create1(EPOLL_CLOEXEC));
  if (!poll_.valid()) return Status::FromErrno(Code::kInternal);
  wake_ = Fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_.valid() || !AddTo(poll_.get(), wake_.get(), kWakeId)) return Status::FromErrno(Code::kInternal);
  return Status::Ok();
}

bool Poller::Add(int fd, uint64_t id) { return AddTo(poll_.get(), fd, id); }

bool Poller::AddForWriting(int fd, uint64_t id) { return AddTo(poll_.get(), fd, id, kReading | EPOLLOUT); }

void Poller::Remove(int fd) { epoll_ctl(poll_.get(), EPOLL_CTL_DEL, fd, nullptr); }

void Poller::Wait(int timeout_ms, std::vector<uint64_t>* ready) {
  ready->clear();
  epoll_event events[kMostEvents];
  const int count = epoll_wait(poll_.get(), events, kMostEvents, timeout_ms);
  for (int i = 0; i < count; i++) {
    const uint64_t id = events[i].data.u64;  // copied: epoll_event is packed, so its fields may be misaligned
    if (id != kWakeId) ready->push_back(id);
  }
}

// The edge of each write is a wake of its own, so the counter is never read.
void Poller::Wake() { eventfd_write(wake_.get(), 1); }

}  // namespace keibi::core
