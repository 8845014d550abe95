// SPDX-License-Identifier: MPL-2.0
#include "share/shared_folder.h"

#include <memory>
#include <string>
#include <vector>

#include "napi/async.h"
#include "napi/job.h"
#include "napi/module.h"

// SharedFolder for native/lib/shared-folder.ts, which has checked every argument. Disk access happens on pool threads.
namespace keibi::napi {
namespace {

using core::Status;

// One pass over a directory, held by JavaScript.
class Listing : public Napi::ObjectWrap<Listing> {
 public:
  static Napi::Function Define(Napi::Env env) {
    return DefineClass(env, "Listing",
                       {InstanceMethod<&Listing::Next>("next"), InstanceMethod<&Listing::Close>("close")});
  }

  // (external listing)
  explicit Listing(const Napi::CallbackInfo& info)
      : Napi::ObjectWrap<Listing>(info),
        listing_(*info[0].As<Napi::External<std::shared_ptr<share::Listing>>>().Data()) {}

  // () -> Promise<{ entries, count, leftOut, last }>
  Napi::Value Next(const Napi::CallbackInfo& info) {
    const auto page = std::make_shared<share::ListingPage>();
    return RunAsync(
        info.Env(), [listing = listing_, page] { return listing->Next(page.get()); },
        [page](Napi::Env env) {
          Napi::Object object = Napi::Object::New(env);
          object.Set("entries", BytesOf(env, page->entries.data(), page->entries.size()));
          object.Set("count", Napi::Number::New(env, page->count));
          object.Set("leftOut", Napi::Number::New(env, page->left_out));
          object.Set("last", Napi::Boolean::New(env, page->last));
          return object;
        });
  }

  // () -> Promise
  Napi::Value Close(const Napi::CallbackInfo& info) {
    return RunAsync(info.Env(), [listing = listing_] {
      listing->Close();
      return Status::Ok();
    });
  }

 private:
  const std::shared_ptr<share::Listing> listing_;
};

class SharedFolder : public Napi::ObjectWrap<SharedFolder> {
 public:
  static Napi::Function Define(Napi::Env env) {
    return DefineClass(env, "SharedFolder",
                       {InstanceMethod<&SharedFolder::Look>("look"), InstanceMethod<&SharedFolder::List>("list")});
  }

  // (folder, name)
  explicit SharedFolder(const Napi::CallbackInfo& info)
      : Napi::ObjectWrap<SharedFolder>(info),
        folder_(std::make_shared<share::SharedFolder>(info[0].As<Napi::String>().Utf8Value(),
                                                      info[1].As<Napi::String>().Utf8Value())),
        listings_(Napi::Persistent(Listing::Define(info.Env()))) {}

  // (path) -> Promise<one entry>
  Napi::Value Look(const Napi::CallbackInfo& info) {
    const auto entry = std::make_shared<std::vector<uint8_t>>();
    return RunAsync(
        info.Env(), [folder = folder_, path = PathOf(info), entry] { return folder->Look(path, entry.get()); },
        [entry](Napi::Env env) { return BytesOf(env, entry->data(), entry->size()); });
  }

  // (path) -> Promise<Listing>
  Napi::Value List(const Napi::CallbackInfo& info) {
    const auto listing = std::make_shared<std::shared_ptr<share::Listing>>();
    // Only the result holds it; the result runs and is dropped on this thread.
    const auto define = std::make_shared<Napi::FunctionReference>(Napi::Persistent(listings_.Value()));
    return RunAsync(
        info.Env(), [folder = folder_, path = PathOf(info), listing] { return folder->Open(path, listing.get()); },
        [listing, define](Napi::Env env) -> Napi::Value {
          return define->New({Napi::External<std::shared_ptr<share::Listing>>::New(env, listing.get())});
        });
  }

 private:
  static std::string PathOf(const Napi::CallbackInfo& info) { return info[0].As<Napi::String>().Utf8Value(); }

  const std::shared_ptr<share::SharedFolder> folder_;
  const Napi::FunctionReference listings_;
};

}  // namespace

void InitSharedFolder(Napi::Env env, Napi::Object exports) { exports.Set("SharedFolder", SharedFolder::Define(env)); }

}  // namespace keibi::napi
