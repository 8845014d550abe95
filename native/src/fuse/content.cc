// SPDX-License-Identifier: MPL-2.0
#include "fuse/content.h"

#include <openssl/evp.h>

#include <array>
#include <vector>

#include "mount/message.h"

namespace keibi::fuse {

std::string KeyOf(const std::string& path, uint64_t size, int64_t mtime_ns) {
  mount::Writer text;
  text.Number(size).Number(static_cast<uint64_t>(mtime_ns)).Rest(path);
  std::array<uint8_t, EVP_MAX_MD_SIZE> digest{};
  EVP_Digest(text.bytes().data(), text.bytes().size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  constexpr char kDigits[] = "0123456789abcdef";
  std::string key;
  for (size_t i = 0; i < mount::kKeyBytes / 2; i++) {
    key += kDigits[digest[i] >> 4];
    key += kDigits[digest[i] & 15];
  }
  return key;
}

core::Status Contents::Open(const std::string& path, const mount::Attributes& attributes,
                            std::shared_ptr<Content>* content) {
  const std::string key = KeyOf(path, attributes.size, attributes.mtime_ns);
  const std::scoped_lock lock(mutex_);
  std::weak_ptr<Content>& known = open_[key];
  *content = known.lock();
  if (*content != nullptr) return core::Status::Ok();
  std::shared_ptr<stream::CacheFile> file;
  const stream::CacheIdentity identity{attributes.size, attributes.mtime_ns};
  if (const core::Status status = stream::CacheFile::Open(directory_.get(), key, identity, &file); !status.ok()) {
    open_.erase(key);
    return status;
  }
  *content = std::shared_ptr<Content>(new Content{key, path, std::move(file)}, [this](const Content* last) {
    {
      const std::scoped_lock inner(mutex_);
      const auto found = open_.find(last->key);
      // Somebody else may have opened it meanwhile.
      if (found != open_.end() && found->second.expired()) open_.erase(found);
    }
    released_(last->key);
    delete last;
  });
  known = *content;
  return core::Status::Ok();
}

bool Contents::SameAsBefore(uint64_t ino, const Content& content) {
  const std::scoped_lock lock(mutex_);
  std::string& before = before_[ino];
  const bool same = before == content.key;
  before = content.key;
  return same;
}

void Contents::Forget(uint64_t ino) {
  const std::scoped_lock lock(mutex_);
  before_.erase(ino);
}

}  // namespace keibi::fuse
