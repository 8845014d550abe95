// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "core/fd.h"
#include "platform/file_time.h"

namespace keibi::test {

namespace fs = std::filesystem;

// A test's own directory, removed afterwards whatever the modes in it.
class Folder {
 public:
  Folder() {
    std::string path = (fs::temp_directory_path() / "keibi-XXXXXX").string();
    path_ = mkdtemp(path.data());
  }
  ~Folder() {
    std::error_code ignored;
    for (fs::recursive_directory_iterator at(path_, ignored), end; at != end; at.increment(ignored)) {
      if (!at->is_symlink() && at->is_directory()) fs::permissions(at->path(), fs::perms::owner_all, ignored);
    }
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const fs::path& path() const { return path_; }
  fs::path operator/(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

// Incompressible bytes in which an off-by-one shows; the same for the same seed.
inline std::string Content(size_t bytes, uint32_t seed = 1) {
  std::string content(bytes, '\0');
  std::mt19937_64 random(seed);
  for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
    const uint64_t word = random();
    std::memcpy(content.data() + at, &word, std::min(sizeof word, bytes - at));
  }
  return content;
}

inline void WriteFile(const fs::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

// Reads in one call: byte by byte takes most of a test's time under a sanitizer.
inline std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::string content(file ? static_cast<size_t>(file.tellg()) : 0, '\0');
  file.seekg(0).read(content.data(), static_cast<std::streamsize>(content.size()));
  return content;
}

// Makes a file of `bytes` that is one hole, except for `content` at each of `places`.
inline void WriteSparse(const fs::path& path, uint64_t bytes, const std::string& content,
                        const std::vector<uint64_t>& places) {
  const core::Fd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  ASSERT_EQ(ftruncate(fd.get(), static_cast<off_t>(bytes)), 0);
  for (const uint64_t at : places) {
    ASSERT_EQ(pwrite(fd.get(), content.data(), content.size(), static_cast<off_t>(at)),
              static_cast<ssize_t>(content.size()));
  }
}

// The disk space that a file uses.
inline uint64_t AllocatedBytes(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(lstat(path.c_str(), &status), 0) << path;
  return static_cast<uint64_t>(status.st_blocks) * 512;
}

inline void SetMtime(const fs::path& path, int64_t mtime_ns) {
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), platform::FileTimes(mtime_ns).times, AT_SYMLINK_NOFOLLOW), 0);
}

inline int64_t MtimeOf(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(lstat(path.c_str(), &status), 0) << path;
  return platform::MtimeNs(status);
}

inline mode_t ModeOf(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(lstat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

// Everything below a folder: type, mode, mtime and content by relative path. Equal maps are equal trees.
inline std::map<std::string, std::string> Listing(const fs::path& root, bool with_mtimes = true) {
  std::map<std::string, std::string> listing;
  for (const auto& item : fs::recursive_directory_iterator(root)) {
    std::string line;
    if (item.is_symlink()) {
      line = "symlink " + fs::read_symlink(item.path()).string();
    } else if (item.is_directory()) {
      line = "directory " + std::to_string(ModeOf(item.path()));
    } else {
      line = "file " + std::to_string(ModeOf(item.path())) + " " + ReadFile(item.path());
    }
    if (with_mtimes) line += " " + std::to_string(MtimeOf(item.path()));
    listing[fs::relative(item.path(), root).string()] = line;
  }
  return listing;
}

inline size_t OpenDescriptors() {
  return static_cast<size_t>(std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()));
}

}  // namespace keibi::test
