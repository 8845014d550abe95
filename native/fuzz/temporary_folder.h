// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "check.h"

namespace keibi::fuzz {

// A folder of this process, removed when the process exits normally.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "keibidrop-fuzz-XXXXXX").string();
    Check(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Replaces the file's content.
inline void Fill(const std::filesystem::path& path, const uint8_t* data, size_t size) {
  FILE* const file = fopen(path.c_str(), "wb");
  Check(file != nullptr && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

// Whether the file has exactly this content.
inline bool Holds(const std::filesystem::path& path, const uint8_t* data, size_t size) {
  std::ifstream file(path, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  return content == std::string(reinterpret_cast<const char*>(data), size);
}

}  // namespace keibi::fuzz
