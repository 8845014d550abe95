// SPDX-License-Identifier: MPL-2.0
#include "napi/folder_writes.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "disk/byte_range.h"
#include "napi/async.h"
#include "napi/job.h"
#include "napi/lock_table.h"
#include "napi/module.h"

namespace keibi::napi {
namespace {

constexpr napi_type_tag kFolderWritesTag = {0x1d0c7a64e85b4f93, 0xa2f7619c30de48b5};

using core::Status;
using Bytes = std::vector<uint8_t>;

uint16_t ModeAt(const Napi::CallbackInfo& info, size_t i) {
  return static_cast<uint16_t>(info[i].As<Napi::Number>().Uint32Value());
}
int64_t TimeAt(const Napi::CallbackInfo& info, size_t i) {
  bool lossless = false;
  return info[i].As<Napi::BigInt>().Int64Value(&lossless);
}
uint64_t SizeAt(const Napi::CallbackInfo& info, size_t i) {
  return static_cast<uint64_t>(info[i].As<Napi::Number>().Int64Value());
}

// Resolves with the bytes that `work` produces.
Napi::Promise RunForBytes(Napi::Env env, std::function<Status(Bytes*)> work) {
  const auto bytes = std::make_shared<Bytes>();
  return RunAsync(
      env, [work = std::move(work), bytes] { return work(bytes.get()); },
      [bytes](Napi::Env own) { return BytesOf(own, bytes->data(), bytes->size()); });
}

// Resolves with the entry that `work` creates and the mtime of its directory.
Napi::Promise RunForMade(Napi::Env env, std::function<Status(Bytes* entry, int64_t* directory_ns)> work) {
  struct Made {
    Bytes entry;
    int64_t directory_ns = 0;
  };
  const auto made = std::make_shared<Made>();
  return RunAsync(
      env, [work = std::move(work), made] { return work(&made->entry, &made->directory_ns); },
      [made](Napi::Env own) {
        Napi::Object result = Napi::Object::New(own);
        result.Set("entry", BytesOf(own, made->entry.data(), made->entry.size()));
        result.Set("directoryMtimeNs", Napi::BigInt::New(own, made->directory_ns));
        return result;
      });
}

}  // namespace

share::PutBase BaseAt(const Napi::CallbackInfo& info, size_t i) {
  share::PutBase base;
  const int64_t size = info[i].As<Napi::Number>().Int64Value();
  if (size >= 0) base.version = disk::FileVersion{static_cast<uint64_t>(size), TimeAt(info, i + 1)};
  std::copy_n(info[i + 2].As<Napi::Uint8Array>().Data(), base.token.size(), base.token.data());
  base.keep = SizeAt(info, i + 3);
  return base;
}

share::Finish FinishAt(const Napi::CallbackInfo& info, size_t i) {
  return {{SizeAt(info, i), TimeAt(info, i + 1)}, info[i + 2].As<Napi::Boolean>().Value()};
}

std::vector<disk::ByteRange> RangesAt(const Napi::CallbackInfo& info, size_t i) {
  const auto numbers = info[i].As<Napi::Float64Array>();
  std::vector<disk::ByteRange> ranges(numbers.ElementLength() / 2);
  for (size_t at = 0; at < ranges.size(); at++) {
    ranges[at] = {static_cast<uint64_t>(numbers[2 * at]), static_cast<uint64_t>(numbers[2 * at + 1])};
  }
  return ranges;
}

Napi::Function FolderWrites::Define(Napi::Env env) {
  return DefineClass(
      env, "FolderWrites",
      {InstanceMethod<&FolderWrites::Create>("create"), InstanceMethod<&FolderWrites::MakeDirectory>("makeDirectory"),
       InstanceMethod<&FolderWrites::MakeSymlink>("makeSymlink"), InstanceMethod<&FolderWrites::Remove>("remove"),
       InstanceMethod<&FolderWrites::Rename>("rename"), InstanceMethod<&FolderWrites::Change>("change"),
       InstanceMethod<&FolderWrites::Copy>("copy"), InstanceMethod<&FolderWrites::Get>("getAttribute"),
       InstanceMethod<&FolderWrites::Set>("setAttribute"), InstanceMethod<&FolderWrites::Unset>("removeAttribute"),
       InstanceMethod<&FolderWrites::List>("listAttributes"),
       InstanceMethod<&FolderWrites::SyncDirectory>("syncDirectory"), InstanceMethod<&FolderWrites::Put>("put")});
}

FolderWrites::FolderWrites(const Napi::CallbackInfo& info)
    : Napi::ObjectWrap<FolderWrites>(info),
      writes_(std::make_shared<share::FolderWrites>(share::ServedFolder{TextAt(info, 0), TextAt(info, 1)})),
      ledger_(std::make_shared<share::WriteLedger>(
          TextAt(info, 2).empty() ? nullptr : share::WriteJournal::Open(TextAt(info, 2)))) {
  info.This().As<Napi::Object>().TypeTag(&kFolderWritesTag);
}

std::shared_ptr<share::WriteLedger> FolderWrites::LedgerOf(const Napi::Value& value) {
  if (!value.IsObject() || !value.As<Napi::Object>().CheckTypeTag(&kFolderWritesTag)) return nullptr;
  return Unwrap(value.As<Napi::Object>())->ledger_;
}

// (path, mode) -> Promise<{ entry, directoryMtimeNs }>
Napi::Value FolderWrites::Create(const Napi::CallbackInfo& info) {
  return RunForMade(info.Env(), [writes = writes_, path = TextAt(info, 0), mode = ModeAt(info, 1)](
                                    Bytes* entry, int64_t* ns) { return writes->Create(path, mode, entry, ns); });
}

// (path, mode) -> Promise<{ entry, directoryMtimeNs }>
Napi::Value FolderWrites::MakeDirectory(const Napi::CallbackInfo& info) {
  return RunForMade(info.Env(),
                    [writes = writes_, path = TextAt(info, 0), mode = ModeAt(info, 1)](Bytes* entry, int64_t* ns) {
                      return writes->MakeDirectory(path, mode, entry, ns);
                    });
}

// (path, target) -> Promise<{ entry, directoryMtimeNs }>
Napi::Value FolderWrites::MakeSymlink(const Napi::CallbackInfo& info) {
  return RunForMade(info.Env(),
                    [writes = writes_, path = TextAt(info, 0), target = TextAt(info, 1)](Bytes* entry, int64_t* ns) {
                      return writes->MakeSymlink(path, target, entry, ns);
                    });
}

// (path, whether it is a directory) -> Promise<mtime of its former directory>
Napi::Value FolderWrites::Remove(const Napi::CallbackInfo& info) {
  const auto directory_ns = std::make_shared<int64_t>();
  return RunAsync(
      info.Env(),
      [writes = writes_, path = TextAt(info, 0), directory = info[1].ToBoolean().Value(), directory_ns] {
        return writes->Remove(path, directory, directory_ns.get());
      },
      [directory_ns](Napi::Env env) { return Napi::BigInt::New(env, *directory_ns); });
}

// (from, to, 0 replace, 1 keep, 2 exchange) -> Promise
Napi::Value FolderWrites::Rename(const Napi::CallbackInfo& info) {
  const auto mode = static_cast<share::RenameMode>(ModeAt(info, 2));
  return RunAsync(info.Env(), [writes = writes_, from = TextAt(info, 0), to = TextAt(info, 1), mode] {
    return writes->Rename(from, to, mode);
  });
}

// (path, mode or undefined, mtime or undefined) -> Promise<entry>
Napi::Value FolderWrites::Change(const Napi::CallbackInfo& info) {
  std::optional<uint16_t> mode;
  std::optional<int64_t> mtime_ns;
  if (!info[1].IsUndefined()) mode = ModeAt(info, 1);
  if (!info[2].IsUndefined()) mtime_ns = TimeAt(info, 2);
  return RunForBytes(info.Env(), [writes = writes_, path = TextAt(info, 0), mode, mtime_ns](Bytes* entry) {
    return writes->Change(path, mode, mtime_ns, entry);
  });
}

// (from, to) -> Promise<entry>
Napi::Value FolderWrites::Copy(const Napi::CallbackInfo& info) {
  return RunForBytes(info.Env(), [writes = writes_, from = TextAt(info, 0), to = TextAt(info, 1)](Bytes* entry) {
    return writes->Copy(from, to, entry);
  });
}

// (path, name) -> Promise<value>
Napi::Value FolderWrites::Get(const Napi::CallbackInfo& info) {
  return RunForBytes(info.Env(), [writes = writes_, path = TextAt(info, 0), name = TextAt(info, 1)](Bytes* value) {
    return writes->Get(path, name, value);
  });
}

// (path, name, value, 0 any, 1 new, 2 old) -> Promise
Napi::Value FolderWrites::Set(const Napi::CallbackInfo& info) {
  const auto given = info[2].As<Napi::Uint8Array>();
  Bytes value(given.Data(), given.Data() + given.ByteLength());
  const auto mode = static_cast<platform::AttributeMode>(ModeAt(info, 3));
  return RunAsync(info.Env(), [writes = writes_, path = TextAt(info, 0), name = TextAt(info, 1),
                               value = std::move(value), mode] { return writes->Set(path, name, value, mode); });
}

// (path, name) -> Promise
Napi::Value FolderWrites::Unset(const Napi::CallbackInfo& info) {
  return RunAsync(info.Env(), [writes = writes_, path = TextAt(info, 0), name = TextAt(info, 1)] {
    return writes->Unset(path, name);
  });
}

// (path) -> Promise<names>
Napi::Value FolderWrites::List(const Napi::CallbackInfo& info) {
  const auto names = std::make_shared<std::vector<std::string>>();
  return RunAsync(
      info.Env(), [writes = writes_, path = TextAt(info, 0), names] { return writes->List(path, names.get()); },
      [names](Napi::Env env) {
        Napi::Array array = Napi::Array::New(env, names->size());
        for (uint32_t i = 0; i < names->size(); i++) array.Set(i, Napi::String::New(env, (*names)[i]));
        return array;
      });
}

// (path) -> Promise
Napi::Value FolderWrites::SyncDirectory(const Napi::CallbackInfo& info) {
  return RunAsync(info.Env(), [writes = writes_, path = TextAt(info, 0)] { return writes->SyncDirectory(path); });
}

// (path, base size or -1, base mtime, token, keep, size, mtime, sync, directory, key, ranges, lock table or undefined)
// -> Promise<entry>
Napi::Value FolderWrites::Put(const Napi::CallbackInfo& info) {
  remote::LocalWrite put{TextAt(info, 0), BaseAt(info, 1),    FinishAt(info, 5),        TextAt(info, 8),
                         TextAt(info, 9), RangesAt(info, 10), LockTable::From(info[11])};
  return RunForBytes(info.Env(), [writes = writes_, ledger = ledger_, put = std::move(put)](Bytes* entry) {
    return remote::WriteLocally(ledger.get(), writes->folder(), put, entry);
  });
}

void InitFolderWrites(Napi::Env env, Napi::Object exports) { exports.Set("FolderWrites", FolderWrites::Define(env)); }

}  // namespace keibi::napi
