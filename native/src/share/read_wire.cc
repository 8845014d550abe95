// SPDX-License-Identifier: MPL-2.0
#include "share/read_wire.h"

#include "core/bytes.h"

namespace keibi::share {
namespace {

using core::Code;
using core::LoadBigEndian;
using core::Status;

constexpr size_t kNumberBytes = 1 + 4;  // the kind and the file's number, at the start of every record
constexpr size_t kNameBytes = kNumberBytes + 8 + 8 + 2;
constexpr size_t kReadBytes = kNumberBytes + 1 + 8 + 4;
constexpr uint8_t kAhead = 1;

template <typename T>
void Put(std::vector<uint8_t>* to, T value) {
  uint8_t bytes[sizeof(T)];
  core::StoreBigEndian<T>(bytes, value);
  to->insert(to->end(), bytes, bytes + sizeof bytes);
}

}  // namespace

void ReadRequest::Append(std::vector<uint8_t>* to) const {
  to->push_back(static_cast<uint8_t>(kind));
  Put<uint32_t>(to, file);
  if (kind == Kind::kName) {
    Put<uint64_t>(to, size);
    Put<uint64_t>(to, static_cast<uint64_t>(mtime_ns));
    Put<uint16_t>(to, static_cast<uint16_t>(path.size()));
    to->insert(to->end(), path.begin(), path.end());
  } else if (kind == Kind::kRead) {
    to->push_back(ahead ? kAhead : 0);
    Put<uint64_t>(to, offset);
    Put<uint32_t>(to, length);
  }
}

bool ReadRequest::Take(const uint8_t** at, const uint8_t* end, ReadRequest* ask) {
  const uint8_t* const from = *at;
  const auto bytes = static_cast<size_t>(end - from);
  if (bytes < kNumberBytes) return false;
  *ask = {};
  ask->kind = static_cast<Kind>(from[0]);
  ask->file = LoadBigEndian<uint32_t>(from + 1);
  switch (ask->kind) {
    case Kind::kName: {
      if (bytes < kNameBytes) return false;
      ask->size = LoadBigEndian<uint64_t>(from + 5);
      ask->mtime_ns = static_cast<int64_t>(LoadBigEndian<uint64_t>(from + 13));
      const size_t length = LoadBigEndian<uint16_t>(from + 21);
      if (length > kMaxSharePathBytes || bytes - kNameBytes < length) return false;
      ask->path = {reinterpret_cast<const char*>(from + kNameBytes), length};
      *at = from + kNameBytes + length;
      return true;
    }
    case Kind::kRead:
      if (bytes < kReadBytes || from[5] > kAhead) return false;
      ask->ahead = from[5] == kAhead;
      ask->offset = LoadBigEndian<uint64_t>(from + 6);
      ask->length = LoadBigEndian<uint32_t>(from + 14);
      *at = from + kReadBytes;
      return true;
    case Kind::kForget:
      *at = from + kNumberBytes;
      return true;
  }
  return false;
}

void Refusal::Append(std::vector<uint8_t>* to) const {
  Put<uint32_t>(to, file);
  Put<uint64_t>(to, offset);
  to->push_back(static_cast<uint8_t>(reason));
}

bool Refusal::Take(const uint8_t** at, const uint8_t* end, Refusal* refusal) {
  const uint8_t* const from = *at;
  if (static_cast<size_t>(end - from) < kBytes) return false;
  const uint8_t reason = from[12];
  if (reason < static_cast<uint8_t>(Reason::kMissing) || reason > static_cast<uint8_t>(Reason::kForgotten))
    return false;
  *refusal = {LoadBigEndian<uint32_t>(from), LoadBigEndian<uint64_t>(from + 4), static_cast<Reason>(reason)};
  *at = from + kBytes;
  return true;
}

Refusal::Reason ReasonOf(Status status) {
  switch (status.code) {
    case Code::kSourceMissing:
      return Refusal::Reason::kMissing;
    case Code::kSourceChanged:
      return Refusal::Reason::kChanged;
    case Code::kPathRefused:
      return Refusal::Reason::kPathRefused;
    case Code::kCancelled:
      return Refusal::Reason::kForgotten;
    default:
      return Refusal::Reason::kUnreadable;
  }
}

Status StatusOf(Refusal::Reason reason) {
  switch (reason) {
    case Refusal::Reason::kMissing:
      return Status::Of(Code::kSourceMissing);
    case Refusal::Reason::kChanged:
      return Status::Of(Code::kSourceChanged);
    case Refusal::Reason::kPathRefused:
      return Status::Of(Code::kPathRefused);
    case Refusal::Reason::kForgotten:
      return Status::Of(Code::kCancelled);
    case Refusal::Reason::kUnreadable:
      break;
  }
  return Status::Of(Code::kSourceUnreadable);
}

}  // namespace keibi::share
