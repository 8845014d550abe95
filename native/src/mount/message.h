// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/bytes.h"

namespace keibi::mount {

// What the mount host and the Peer tell each other over their socket pair; packages/mount/src/host-message.ts says the
// same. File bytes never pass here, and nothing leaves the machine.
//
//   | length 4 | type 1 | request 4 | body |      length = 5 + body, big-endian; request 0: no answer belongs to it
//
// Texts in a body are `length 2 | UTF-8`, the last of them as long as the rest of the body where so said.
enum class Type : uint8_t {
  // By the host.
  kMounted = 1,  // the folder is there
  kFailed = 2,   // it cannot be: errno 4 | why, to the end of the body
  kList = 3,     // path, to the end: answered by pages, then kDone
  kLook = 4,     // path, to the end: answered by a page with one entry, then kDone
  kWant = 5,  // key 32 | size 8 | mtime 8 | first 4 | count 4 | ahead 4 | path: answered by kDone with blocks ahead 4
  kRelease = 6,  // key 32: nobody has it open
  kSpace = 7,    // answered by kDone with total bytes 8 | free bytes 8
  kBusy = 8,     // what kUnmount has asked for is refused: unsent files 4, 0 if somebody uses the folder
  kLost = 9,     // unsent files 4, which are given up
  // Of what changes: each answered by kDone; those marked * by a page with one entry before that.
  // * type 1 (as in a manifest) | mode 2 | path | target, to the end: in kDone mtime 8 of the directory then, if told
  kMake = 10,
  kRemove = 11,           // directory 1 | path, to the end: the same
  kRename = 12,           // how 1 (0 replace, 1 keep, 2 exchange) | from | to, to the end
  kChange = 13,           // * what 1 (1 mode, 2 mtime) | mode 2 | mtime 8 | path, to the end
  kCopy = 14,             // * from | to, to the end
  kGetAttribute = 15,     // path | name, to the end: a page with the value, then kDone
  kSetAttribute = 16,     // how 1 (0 any, 1 new, 2 old) | path | name | value, to the end
  kRemoveAttribute = 17,  // path | name, to the end
  kListAttributes = 18,   // path, to the end: a page with the names, each with a 0 behind it, then kDone
  kSyncDirectory = 19,    // path, to the end
  // * token 32 | size 8 | mtime 8 | base size 8 | base mtime 8 | keep 8 | sync 1 | ranges 4 | each: offset 8 | length 8
  // |
  // path, to the end
  kPut = 20,
  kStop = 21,   // request 4: nobody waits for it any more, and it is to end soon
  kFetch = 22,  // whole files, ahead of who reads them, each: key 32 | size 8 | mtime 8 | path: answered by kDone when
                // they are there, or will not be
  kLeave = 23,  // key 32: nobody goes on to read what was asked for ahead
  // Of locks. * owner 8 | whole 1 | kind 1 (1 shared, 2 exclusive) | from 8 | end 8 (2^63: the end) | path, to the end:
  // in kDone holder 4. EAGAIN while another has a lock there.
  kLock = 24,
  kUnlock = 25,    // holder 4 | from 8 | end 8
  kTestLock = 26,  // as kLock: in kDone kind 4 (0 none) | from 8 | end 8
  // By the Peer.
  kDone = 0x81,       // errno 4, 0 if it went well | what the request says
  kPage = 0x82,       // entries as in a manifest (PROTOCOL 6), none with a parent
  kChanges = 0x83,    // of each change: kind 1 (1 made, 2 changed, 3 removed) | path
  kWatched = 0x84,    // 1: changes are told from here on, and any may have come before; 0: they are not told
  kAway = 0x85,       // 1: the other peer is not there; 0: it is
  kUnmount = 0x86,    // 1: also if somebody uses the folder
  kLocksLost = 0x87,  // the other peer has given up all locks
};

inline constexpr size_t kHeadBytes = 9;
inline constexpr size_t kMaxMessageBytes = size_t{1} << 20;
inline constexpr size_t kKeyBytes = 32;

// Puts a message together.
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

// Takes one apart. Once something is missing, all that follows is nothing and ok() false.
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
