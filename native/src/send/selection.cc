// SPDX-License-Identifier: MPL-2.0
#include "send/selection.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "core/fd.h"
#include "core/whole_io.h"
#include "manifest/dir_entry.h"

namespace keibi::send {
namespace {

using core::Code;
using core::Status;

constexpr char kIgnoreFile[] = ".gitignore";

// As git, does not follow a symlink. `found` is false without a regular file of that name.
Status ReadIgnoreFile(int directory, std::string* text, bool* found) {
  *found = false;
  const core::Fd fd(openat(directory, kIgnoreFile, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd.valid()) return errno == ENOENT || errno == ELOOP ? Status::Ok() : manifest::SourceError();
  struct stat status {};
  if (fstat(fd.get(), &status) != 0) return manifest::SourceError();
  if (!S_ISREG(status.st_mode)) return Status::Ok();
  if (static_cast<uint64_t>(status.st_size) > Selection::kMaxIgnoreFileBytes) return Status::Of(Code::kLimitExceeded);
  text->resize(static_cast<size_t>(status.st_size));
  const ssize_t got = core::ReadWhole(fd.get(), reinterpret_cast<uint8_t*>(text->data()), text->size(), 0);
  if (got < 0) return manifest::SourceError();
  text->resize(static_cast<size_t>(got));
  *found = true;
  return Status::Ok();
}

}  // namespace

Status Selection::Enter(int directory, std::string_view folder, std::shared_ptr<const IgnoreScope>* scope) const {
  if (!gitignore_) return Status::Ok();
  std::string text;
  bool found;
  const Status status = ReadIgnoreFile(directory, &text, &found);
  if (!status.ok() || !found) return status;
  *scope = std::make_shared<const IgnoreScope>(IgnoreScope{std::move(*scope), IgnorePatterns(text), folder.size()});
  return status;
}

bool Selection::LeavesOut(const IgnoreScope* scope, std::string_view path, bool is_directory) const {
  Verdict verdict = exclude_.Judge(path, is_directory);
  for (; verdict == Verdict::kNone && scope != nullptr; scope = scope->outer.get()) {
    verdict = scope->patterns.Judge(path.substr(scope->folder_bytes), is_directory);
  }
  return verdict == Verdict::kLeaveOut;
}

}  // namespace keibi::send
