// SPDX-License-Identifier: MPL-2.0
#include "share/write_journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>

namespace keibi::share {
namespace {

constexpr uint64_t kBegins = 1, kWrites = 2, kLeaves = 3, kEnds = 4;
// Kinds of later versions are between kEnds and this. A power cut leaves zeros, and other damage larger numbers.
constexpr uint64_t kMostKinds = 255;
// 3.5 MiB: then the file is rewritten with the current traces of its overlays.
constexpr uint64_t kMostRecords = 65536;
constexpr size_t kMostTraces = 16384;
// The system stamps a write slightly after us, from a clock that is one tick behind ours.
constexpr int64_t kTickNs = 20'000'000;

int64_t NowNs() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
}

}  // namespace

std::shared_ptr<WriteJournal> WriteJournal::Open(const std::string& path) {
  core::Fd fd(open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid() || flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return nullptr;
  std::shared_ptr<WriteJournal> journal(new WriteJournal(std::move(fd)));
  return journal->Load() ? journal : nullptr;
}

bool WriteJournal::Load() {
  static_assert(sizeof(Record) == 56);
  struct stat status;
  if (fstat(fd_.get(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  const uint64_t records = static_cast<uint64_t>(status.st_size) / sizeof(Record);
  if (records <= 2 * kMostRecords) {
    std::array<Record, 512> part;
    for (uint64_t at = 0; at < records;) {
      const size_t want = std::min<uint64_t>(part.size(), records - at);
      const ssize_t got = pread(fd_.get(), part.data(), want * sizeof(Record), static_cast<off_t>(at * sizeof(Record)));
      if (got < static_cast<ssize_t>(sizeof(Record))) return false;
      const size_t whole = static_cast<size_t>(got) / sizeof(Record);
      for (size_t i = 0; i < whole; i++) {
        if (part[i].kind > kEnds && part[i].kind <= kMostKinds) return false;
        Follow(part[i], &earlier_);
      }
      at += whole;
    }
  }
  traces_ = earlier_;
  // This also drops a truncated record.
  const std::scoped_lock lock(mutex_);
  Compact();
  return true;
}

void WriteJournal::Follow(const Record& record, std::map<OverlayToken, Trace>* traces) {
  Trace& trace = (*traces)[record.token];
  const auto& numbers = record.numbers;
  switch (record.kind) {
    case kBegins:
      trace.inode = {static_cast<dev_t>(numbers[0]), static_cast<ino_t>(numbers[1])};
      trace.begun_ns = static_cast<int64_t>(numbers[2]);
      trace.written_ns = static_cast<int64_t>(numbers[3]);
      trace.ended = false;
      return;
    case kWrites:
      trace.written_ns = std::max(trace.written_ns, static_cast<int64_t>(numbers[0]));
      return;
    case kLeaves:
    case kEnds:
      trace.before = trace.left;
      trace.left = {numbers[0], static_cast<int64_t>(numbers[1])};
      trace.ended = record.kind == kEnds;
      return;
    default:
      return;
  }
}

void WriteJournal::Begins(const OverlayToken& token, const WriteHandle::Inode& inode) {
  const auto now = static_cast<uint64_t>(NowNs());
  Append({kBegins, token, {inode.first, inode.second, now, now}});
}

void WriteJournal::Writes(const OverlayToken& token) { Append({kWrites, token, {static_cast<uint64_t>(NowNs())}}); }

void WriteJournal::Leaves(const OverlayToken& token, const disk::FileVersion& version) {
  Append({kLeaves, token, {version.size, static_cast<uint64_t>(version.mtime_ns)}});
}

void WriteJournal::Ends(const OverlayToken& token, const disk::FileVersion& version) {
  Append({kEnds, token, {version.size, static_cast<uint64_t>(version.mtime_ns)}});
}

// A record that cannot be written acts like no journal: after a kill both versions are kept.
void WriteJournal::Append(const Record& record) {
  const std::scoped_lock lock(mutex_);
  Follow(record, &traces_);
  if (++records_ > kMostRecords) return Compact();
  (void)!write(fd_.get(), &record, sizeof record);
}

void WriteJournal::Compact() {
  if (traces_.size() > kMostTraces) {
    std::vector<int64_t> times;
    for (const auto& [_, trace] : traces_) times.push_back(trace.written_ns);
    const auto middle = times.begin() + static_cast<ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    std::erase_if(traces_, [&](const auto& each) { return each.second.written_ns < *middle; });
  }
  std::vector<Record> records;
  for (const auto& [token, trace] : traces_) {
    const auto [device, inode] = trace.inode;
    records.push_back(
        {kBegins,
         token,
         {device, inode, static_cast<uint64_t>(trace.begun_ns), static_cast<uint64_t>(trace.written_ns)}});
    for (const auto& left : {trace.before, trace.left}) {
      if (left)
        records.push_back({trace.ended ? kEnds : kLeaves, token, {left->size, static_cast<uint64_t>(left->mtime_ns)}});
    }
  }
  records_ = records.size();
  if (ftruncate(fd_.get(), 0) == 0 && !records.empty()) {
    (void)!write(fd_.get(), records.data(), records.size() * sizeof(Record));
  }
}

bool WriteJournal::Knows(const OverlayToken& token, const WriteHandle::Inode& inode,
                         const disk::FileVersion& version) const {
  const auto found = earlier_.find(token);
  if (found == earlier_.end()) return false;
  const Trace& trace = found->second;
  if (trace.left == version || trace.before == version) return true;
  return !trace.ended && trace.inode == inode && version.mtime_ns >= trace.begun_ns - kTickNs &&
         version.mtime_ns <= trace.written_ns + kTickNs;
}

}  // namespace keibi::share
