// SPDX-License-Identifier: MPL-2.0
#include "mount/uploader.h"

#include <cerrno>
#include <utility>

#include "mount/conflict_name.h"
#include "mount/host_messages.h"

namespace keibi::mount {
namespace {

using manifest::Entry;

bool ParseOne(const std::vector<uint8_t>& page, Entry* entry) {
  size_t at = 0;
  return manifest::ParseEntry(page.data(), page.size(), &at, entry).ok();
}

// The answer to a request that brings one page.
DaemonLink::Answer PageAnswer(std::function<void(int, const std::vector<uint8_t>&)> then) {
  const auto page = std::make_shared<std::vector<uint8_t>>();
  DaemonLink::Answer answer;
  answer.on_page = [page](const uint8_t* bytes, size_t length) { page->assign(bytes, bytes + length); };
  answer.on_done = [page, then = std::move(then)](int error, Reader) {
    Entry entry;
    then(error == 0 && !ParseOne(*page, &entry) ? EIO : error, *page);
  };
  return answer;
}

std::string_view NameOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace

uint32_t Uploader::Send(const Upload& upload) {
  const Put& put = upload.put;
  message::Put body{.token = upload.overlay->token(),
                    .size = put.now.size,
                    .mtime_ns = put.now.mtime_ns,
                    .base_size = put.base.size,
                    .base_mtime_ns = put.base.mtime_ns,
                    .keep = put.keep,
                    .sync = put.sync,
                    .ranges = {},
                    .path = upload.path};
  for (const auto& [offset, length] : put.ranges) body.ranges.push_back({offset, length});
  const Writer written = body.Body();
  return link_->Ask(Type::kPut, written, PageAnswer([this, upload](int error, const std::vector<uint8_t>& page) {
                      Ended(upload, error, page);
                    }),
                    rules::kPutPatiences);
}

void Uploader::Stop(uint32_t request) { link_->Notify(Type::kStop, message::Stop{request}.Body()); }

void Uploader::Ended(const Upload& upload, int error, const std::vector<uint8_t>& page) {
  Entry entry;
  if (error == 0 && ParseOne(page, &entry)) {
    inodes_->own_changes().Changed(upload.ino, entry, OwnChanges::What::kContent);
    upload.overlay->Done(upload.put, {entry.size, entry.mtime_ns});
    upload.overlay->Shrink(options_.most_overlay_bytes);
  } else {
    upload.overlay->Failed(upload.put);
  }
  outside_.ended(upload, error);
}

void Uploader::Leave(const Upload& upload) {
  message::Unsent body{upload.overlay->token(), upload.overlay->version().mtime_ns, false, upload.path};
  // If the disk is full, the file stays as it is: it has the written bytes.
  upload.overlay->Leave(&body.complete);
  link_->Notify(Type::kUnsent, body.Body());
}

void Uploader::CopyAside(Upload upload, int number) {
  std::string path;
  InodeTable::Doubt doubt;
  if (number > rules::kMostConflicts || !inodes_->Ask(upload.ino, &path, &doubt)) return outside_.moved(upload, EEXIST);
  const std::string_view name = NameOf(path);
  const std::string aside = ConflictName(name, DateOfToday(), options_.label, number);
  const std::string to = path.substr(0, path.size() - name.size()) + aside;
  link_->Ask(Type::kCopy, message::Copy{path, to}.Body(),
             PageAnswer([this, upload = std::move(upload), number, aside](int error, const std::vector<uint8_t>& page) {
               if (error == EEXIST) return CopyAside(upload, number + 1);
               if (error == ENOENT) return MakeFrom(upload, 0);
               if (error != 0) return outside_.moved(upload, error);
               MoveTo(upload, page, aside);
             }),
             rules::kPutPatiences);
}

// `made_until`: the directories of the path up to here exist.
void Uploader::MakeFrom(Upload upload, size_t made_until) {
  std::string path;
  InodeTable::Doubt doubt;
  Found found;
  if (!inodes_->Ask(upload.ino, &path, &doubt) || inodes_->Look(upload.ino, true, &found) != InodeTable::Known::kYes) {
    return outside_.moved(upload, ENOENT);
  }
  const size_t slash = made_until == 0 ? std::string::npos : path.find('/', made_until);
  const bool directory = slash != std::string::npos;
  const std::string_view made = directory ? std::string_view(path).substr(0, slash) : std::string_view(path);
  const message::Make make{.kind = directory ? message::Make::Kind::kDirectory : message::Make::Kind::kFile,
                           .mode = directory ? uint16_t{rules::kDirectoryMode} : found.attributes.mode,
                           .path = made,
                           .target = {}};
  link_->Ask(Type::kMake, make.Body(),
             PageAnswer([=, this, upload = std::move(upload)](int error, const std::vector<uint8_t>& page) {
               if (directory && (error == 0 || error == EEXIST)) return MakeFrom(upload, slash + 1);
               if (!directory && error == 0) return MoveTo(upload, page, {});
               // Retry once, and create the directories from the top.
               if (error == ENOENT && made_until == 0 && path.find('/') != std::string::npos)
                 return MakeFrom(upload, 1);
               // EEXIST: another peer has created one meanwhile; the next put finds it.
               outside_.moved(upload, error);
             }));
}

void Uploader::MoveTo(const Upload& upload, const std::vector<uint8_t>& page, const std::string& name) {
  // The copy may be large.
  outside_.run([this, upload, page, name] {
    Entry entry;
    ParseOne(page, &entry);
    const int error = upload.overlay->MoveTo({entry.size, entry.mtime_ns}, !name.empty());
    if (error == 0 && !name.empty()) outside_.invalidate(inodes_->own_changes().MoveAside(upload.ino, name));
    outside_.moved(upload, error);
  });
}

}  // namespace keibi::mount
