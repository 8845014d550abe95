// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/bytes.h"

namespace keibi::mount {

// The messages between the mount host and the daemon over their socket pair; packages/mount/src/host-message.ts has the
// same table. File bytes never pass here, and nothing leaves the machine.
//
// | length 4 | type 1 | request 4 | body |      length = 5 + body, big-endian; request 0: expects no answer
//
// Texts in a body are `length 2 | UTF-8`. A text marked "to the end" is the rest of the body.
enum class Type : uint8_t {
  // Sent by the host.
  kMounted = 1,  // the folder is mounted
  kFailed = 2,   // mounting failed: errno 4 | reason, to the end of the body
  kList = 3,     // path, to the end: answered by pages, then kDone
  kLook = 4,     // path, to the end: answered by a page with one entry, then kDone
  kWant = 5,  // key 32 | size 8 | mtime 8 | first 4 | count 4 | ahead 4 | path: answered by kDone with blocks ahead 4
  kRelease = 6,  // key 32: no program has it open
  kSpace = 7,    // answered by kDone with total bytes 8 | free bytes 8
  kBusy = 8,     // kUnmount is refused: unsent files 4, or 0 if the folder is in use
  kLost = 9,     // unsent files 4: their changes are discarded
  // Changes: each is answered by kDone; those marked * by a page with one entry before that.
  // * type 1 (as in a manifest) | mode 2 | path | target, to the end: kDone has mtime 8 of the directory, if known
  kMake = 10,
  kRemove = 11,           // directory 1 | path, to the end: answered like kMake
  kRename = 12,           // how 1 (0 replace, 1 keep, 2 exchange) | from | to, to the end
  kChange = 13,           // * what 1 (1 mode, 2 mtime) | mode 2 | mtime 8 | path, to the end
  kCopy = 14,             // * from | to, to the end
  kGetAttribute = 15,     // path | name, to the end: a page with the value, then kDone
  kSetAttribute = 16,     // how 1 (0 any, 1 new, 2 old) | path | name | value, to the end
  kRemoveAttribute = 17,  // path | name, to the end
  kListAttributes = 18,   // path, to the end: a page with the names, each followed by a 0, then kDone
  kSyncDirectory = 19,    // path, to the end
  // * token 32 | size 8 | mtime 8 | base size 8 | base mtime 8 | keep 8 | sync 1 | ranges 4 |
  // each range: offset 8 | length 8 | path, to the end
  kPut = 20,
  kStop = 21,   // request 4: the result is not needed any more; the daemon ends it soon
  kFetch = 22,  // whole files to prefetch, each: key 32 | size 8 | mtime 8 | path: answered by kDone when
                // they are there, or will not be
  kLeave = 23,  // key 32: the reader jumped away; do not send the blocks requested ahead
  // Locks. * owner 8 | whole 1 | kind 1 (1 shared, 2 exclusive) | from 8 | end 8 (2^63: the end) | path, to the end:
  // kDone has holder 4. EAGAIN while another owner has a conflicting lock.
  kLock = 24,
  kUnlock = 25,    // holder 4 | from 8 | end 8
  kTestLock = 26,  // same body as kLock; kDone has kind 4 (0 none) | from 8 | end 8
  // Sent by the daemon.
  kDone = 0x81,       // errno 4, 0 on success | the body named at the request
  kPage = 0x82,       // entries as in a manifest (PROTOCOL 6), without parents
  kChanges = 0x83,    // for each change: kind 1 (1 made, 2 changed, 3 removed) | path
  kWatched = 0x84,    // 1: changes are reported from now on, earlier ones may be missed; 0: they are not reported
  kAway = 0x85,       // 1: the other peer is away; 0: it is there
  kUnmount = 0x86,    // 1: even if the folder is in use
  kLocksLost = 0x87,  // the other peer has released all locks
};

inline constexpr size_t kHeadBytes = 9;
inline constexpr size_t kMaxMessageBytes = size_t{1} << 20;
inline constexpr size_t kKeyBytes = 32;

// Builds a message.
class Writer {
 public:
  template <typename T>
  Writer& Number(T value) {
    std::array<uint8_t, sizeof(T)> bytes;
    core::StoreBigEndian<T>(bytes.data(), value);
    Append(bytes.data(), bytes.size());
    return *this;
  }
  Writer& Text(std::string_view text) { return Number(static_cast<uint16_t>(text.size())).Rest(text); }
  Writer& Rest(std::string_view text) {
    Append(text.data(), text.size());
    return *this;
  }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  void Append(const void* from, size_t length);

  std::vector<uint8_t> bytes_;
};

// Parses a message. After a missing field all further fields read as zero or empty, and ok() is false.
class Reader {
 public:
  Reader(const uint8_t* bytes, size_t length) : at_(bytes), left_(length) {}

  template <typename T>
  T Number() {
    const uint8_t* const from = Take(sizeof(T));
    return from == nullptr ? T{} : core::LoadBigEndian<T>(from);
  }
  std::string_view Text() {
    const size_t length = Number<uint16_t>();
    const uint8_t* const from = Take(length);
    return from == nullptr ? std::string_view() : std::string_view(reinterpret_cast<const char*>(from), length);
  }
  bool ok() const { return ok_; }
  size_t left() const { return left_; }

 private:
  const uint8_t* Take(size_t length) {
    if (!ok_ || left_ < length) {
      ok_ = false;
      return nullptr;
    }
    const uint8_t* const from = at_;
    at_ += length;
    left_ -= length;
    return from;
  }

  const uint8_t* at_;
  size_t left_;
  bool ok_ = true;
};

}  // namespace keibi::mount
