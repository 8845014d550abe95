// SPDX-License-Identifier: MPL-2.0
#include "send/send_job.h"

#include <fcntl.h>

#include "manifest/digest.h"

namespace keibi::send {

using core::Code;
using core::Status;
using manifest::Entry;

SendJob::SendJob(SendOptions options, core::Wake wake)
    : options_(std::move(options)),
      wake_(std::move(wake)),
      dirs_(
          table_,
          [this](uint32_t index, const Entry&, core::Fd* fd) {
            return OpenRoot(tops_[index], O_RDONLY | O_DIRECTORY, fd);
          },
          Code::kSourceUnreadable),
      sources_(table_, tops_, &dirs_),
      queue_(table_),
      limiter_(options_.budget),
      lanes_(&queue_, {.ended = [this](net::LaneEnd end) { OnLaneEnd(end); },
                       .moved =
                           [this](uint32_t lane) {
                             {
                               const std::scoped_lock lock(mutex_);
                               news_.lanes_moved.push_back(lane);
                             }
                             wake_();
                           },
                       .stranded =
                           [this](uint32_t lane) {
                             OnLaneEnd({lane, 0, Status::Of(Code::kSourceUnreadable)});
                           }}) {}

SendJob::~SendJob() { Stop(); }

void SendJob::Start() {
  const std::scoped_lock starting(mutex_);
  if (stopped_ || walker_.joinable()) return;
  walker_ = std::thread([this] {
    Walker walker(options_.roots, &tops_, &table_, &dirs_,
                  {[this](const manifest::EntryTable::Page& page) { return OnPage(page); },
                   [this](WalkProblem problem) { OnProblem(std::move(problem)); }},
                  options_.selection);
    const WalkTotals totals = walker.Run();
    {
      const std::scoped_lock lock(mutex_);
      if (stopped_) return;
      news_.walked = totals;
    }
    wake_();
  });
}

SendNews SendJob::TakeNews() {
  const std::scoped_lock lock(mutex_);
  pages_taken_.notify_all();
  return std::exchange(news_, {});
}

Status SendJob::Answer(uint32_t first, uint32_t count, const uint8_t* wanted, size_t wanted_bytes,
                       const std::vector<std::pair<uint32_t, std::vector<uint8_t>>>& partials) {
  const Status malformed = Status::Of(Code::kHandshakeMalformed);
  const uint32_t known = table_.size();
  if (count == 0 || first > known || count > known - first || wanted_bytes != (size_t{count} + 7) / 8) return malformed;
  // Pages are answered in order, each entry once, so the queue stays bounded by the offer.
  if (first != answered_) return malformed;
  answered_ += count;

  std::unordered_map<uint32_t, const std::vector<uint8_t>*> held;
  for (const auto& [index, bitmap] : partials) {
    Entry entry;
    if (index < first || index - first >= count || !table_.Find(index, &entry)) return malformed;
    if (entry.type != manifest::EntryType::kFile || bitmap.size() != (manifest::ChunksOf(entry.size) + 7) / 8)
      return malformed;
    held[index] = &bitmap;
  }
  for (uint32_t i = 0; i < count; i++) {
    if (!(wanted[i / 8] >> (i % 8) & 1)) continue;
    Entry entry;
    table_.Find(first + i, &entry);
    if (!entry.IsFile()) return malformed;
    const auto part = held.find(first + i);
    if (part == held.end() || entry.size <= core::kChunkBytes) {
      queue_.Want(first + i);
    } else {
      queue_.WantRest(first + i, manifest::Bitmap(manifest::ChunksOf(entry.size), part->second->data()));
    }
  }
  return Status::Ok();
}

void SendJob::OnLane(int fd, uint32_t number, std::unique_ptr<frame::Sealer> sealer, std::unique_ptr<frame::Opener>) {
  core::Fd socket(fd);
  net::TuneLane(socket.get());
  sealer->Follow(rekeys_);
  lanes_.Add(number, std::make_unique<SendLane>(std::move(socket), std::move(sealer), &queue_, &sources_, &limiter_,
                                                [this](uint32_t entry, Status status) {
                                                  OnProblem({entry, status, table_.PathOf(entry)});
                                                }));
}

void SendJob::OnLaneEnd(net::LaneEnd end) {
  {
    const std::scoped_lock lock(mutex_);
    news_.lanes_ended.push_back(end);
  }
  wake_();
}

bool SendJob::OnPage(const manifest::EntryTable::Page& page) {
  {
    std::unique_lock lock(mutex_);
    pages_taken_.wait(lock, [&] { return stopped_ || news_.pages.size() < kMaxWaitingPages; });
    if (stopped_) return false;
    news_.pages.push_back(page);
  }
  wake_();
  return true;
}

void SendJob::OnProblem(WalkProblem problem) {
  {
    const std::scoped_lock lock(mutex_);
    news_.problems.push_back(std::move(problem));
  }
  wake_();
}

Status SendJob::Digest(uint32_t index, std::vector<uint8_t>* digests) const {
  Entry entry;
  core::Fd fd;
  Status status = sources_.Open(index, &entry, &fd);
  if (status.ok() && entry.type != manifest::EntryType::kFile) status = Status::Of(Code::kInternal);
  if (status.ok()) status = Sources::CheckUnchanged(fd.get(), entry);
  if (status.ok()) status = manifest::DigestChunks(fd.get(), entry.size, stopped_, digests);
  return status.ok() ? Sources::CheckUnchanged(fd.get(), entry) : status;
}

void SendJob::Finish() { queue_.Finish(); }

void SendJob::Stop() {
  const std::scoped_lock stopping(stopping_);
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
    pages_taken_.notify_all();
  }
  // No more lanes arrive, and the walker does not start any more.
  limiter_.Stop();
  queue_.Stop();
  lanes_.Shutdown();
  lanes_.Join();
  if (walker_.joinable()) walker_.join();
  dirs_.Close();
}

}  // namespace keibi::send
