// SPDX-License-Identifier: MPL-2.0
#include "fuse/library.h"

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace keibi::fuse {
namespace {

// The newer first: Debian 13 and Fedora 42 have version 4, older systems version 3.
constexpr std::array kNames{"libfuse3.so.4", "libfuse3.so.3"};

// Since 3.17 libfuse3 reads more of a fuse_file_info than older headers declare. The undeclared part is zero.
class WideFileInfo {
 public:
  explicit WideFileInfo(const fuse_file_info& info) {
    std::memcpy(bytes_.data(), &info, offsetof(fuse_file_info, poll_events) + sizeof info.poll_events);
  }
  const fuse_file_info* get() const { return reinterpret_cast<const fuse_file_info*>(bytes_.data()); }

 private:
  alignas(fuse_file_info) std::array<std::byte, sizeof(fuse_file_info) + 64> bytes_{};
};

// As libfuse 3.2 to 3.11 declare it; later headers hide it.
struct FirstLoopConfig {
  int clone_fd;
  unsigned max_idle_threads;
};

// Every libfuse3 has these with the same declarations.
#define KEIBI_FUSE_FUNCTIONS(X)       \
  X(fuse_add_direntry)                \
  X(fuse_add_direntry_plus)           \
  X(fuse_lowlevel_notify_inval_entry) \
  X(fuse_lowlevel_notify_inval_inode) \
  X(fuse_opt_add_arg)                 \
  X(fuse_opt_free_args)               \
  X(fuse_reply_attr)                  \
  X(fuse_reply_buf)                   \
  X(fuse_reply_create)                \
  X(fuse_reply_entry)                 \
  X(fuse_reply_err)                   \
  X(fuse_reply_lock)                  \
  X(fuse_reply_none)                  \
  X(fuse_reply_open)                  \
  X(fuse_reply_readlink)              \
  X(fuse_reply_statfs)                \
  X(fuse_reply_write)                 \
  X(fuse_reply_xattr)                 \
  X(fuse_req_interrupt_func)          \
  X(fuse_req_userdata)                \
  X(fuse_session_fd)                  \
  X(fuse_session_mount)

struct Library {
#define KEIBI_FUSE_POINTER(name) decltype(&::name) name = nullptr;
  KEIBI_FUSE_FUNCTIONS(KEIBI_FUSE_POINTER)
#undef KEIBI_FUSE_POINTER

  fuse_session* (*session_new)(fuse_args*, const fuse_lowlevel_ops*, size_t, void*) = nullptr;

  // Since 3.12; else the loop takes a FirstLoopConfig.
  fuse_loop_config* (*loop_cfg_create)() = nullptr;
  void (*loop_cfg_set_clone_fd)(fuse_loop_config*, unsigned) = nullptr;
  void (*loop_cfg_set_max_threads)(fuse_loop_config*, unsigned) = nullptr;
  void (*loop_cfg_set_idle_threads)(fuse_loop_config*, unsigned) = nullptr;
  int (*loop)(fuse_session*, fuse_loop_config*) = nullptr;
  int (*first_loop)(fuse_session*, FirstLoopConfig*) = nullptr;

  int (*version)() = nullptr;

  // Since 3.17, and since 3.13.
  int (*sized_custom_io)(fuse_session*, const fuse_custom_io*, size_t, int) = nullptr;
  int (*custom_io)(fuse_session*, const fuse_custom_io*, int) = nullptr;
};

Library library;

// True if the library has it.
template <typename Function>
bool Find(void* handle, const char* name, Function* found) {
  *found = reinterpret_cast<Function>(dlsym(handle, name));
  return *found != nullptr;
}

bool FindAll(void* handle) {
  bool complete = Find(handle, "fuse_session_new", &library.session_new);
  complete = Find(handle, "fuse_version", &library.version) && complete;
#define KEIBI_FUSE_FIND(name) complete = Find(handle, #name, &library.name) && complete;
  KEIBI_FUSE_FUNCTIONS(KEIBI_FUSE_FIND)
#undef KEIBI_FUSE_FIND
  if (Find(handle, "fuse_loop_cfg_create", &library.loop_cfg_create)) {
    complete = Find(handle, "fuse_loop_cfg_set_clone_fd", &library.loop_cfg_set_clone_fd) &&
               Find(handle, "fuse_loop_cfg_set_max_threads", &library.loop_cfg_set_max_threads) &&
               Find(handle, "fuse_loop_cfg_set_idle_threads", &library.loop_cfg_set_idle_threads) && complete;
    // The name with a number is there where the linker knows no versions (musl).
    complete = (Find(handle, "fuse_session_loop_mt_312", &library.loop) ||
                Find(handle, "fuse_session_loop_mt", &library.loop)) &&
               complete;
  } else {
    complete = (Find(handle, "fuse_session_loop_mt_32", &library.first_loop) ||
                Find(handle, "fuse_session_loop_mt", &library.first_loop)) &&
               complete;
  }
  if (!Find(handle, "fuse_session_custom_io_317", &library.sized_custom_io))
    Find(handle, "fuse_session_custom_io", &library.custom_io);
  return complete;
}

}  // namespace

bool LoadLibrary() {
  for (const char* name : kNames) {
    void* const handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr && FindAll(handle)) return true;
  }
  return false;
}

fuse_session* NewSession(fuse_args* arguments, const fuse_lowlevel_ops& operations, void* userdata) {
  return library.session_new(arguments, &operations, sizeof operations, userdata);
}

int ServeSession(fuse_session* session, unsigned threads) {
  if (library.loop == nullptr) {
    FirstLoopConfig config{1, threads};
    return library.first_loop(session, &config);
  }
  fuse_loop_config* const config = library.loop_cfg_create();
  library.loop_cfg_set_clone_fd(config, 1);
  library.loop_cfg_set_max_threads(config, threads);
  library.loop_cfg_set_idle_threads(config, threads);
  return library.loop(session, config);
}

bool SetCustomIo(fuse_session* session, const fuse_custom_io& io) {
  const int fd = fuse_session_fd(session);
  if (library.sized_custom_io != nullptr) return library.sized_custom_io(session, &io, sizeof io, fd) == 0;
  return library.custom_io != nullptr && library.custom_io(session, &io, fd) == 0;
}

bool ReleasesFlock(const fuse_file_info& info) {
  constexpr size_t kBitsAt = sizeof(int);  // after `flags`
  constexpr unsigned kBit = 5;
  uint32_t bits = 0;
  std::memcpy(&bits, reinterpret_cast<const std::byte*>(&info) + kBitsAt, sizeof bits);
  const int version = library.version();
  return (bits >> (version == 315 || version == 316 ? kBit + 1 : kBit) & 1) != 0;
}

}  // namespace keibi::fuse

using keibi::fuse::library;

extern "C" {

size_t fuse_add_direntry(fuse_req_t request, char* buffer, size_t size, const char* name, const struct stat* status,
                         off_t offset) {
  return library.fuse_add_direntry(request, buffer, size, name, status, offset);
}

size_t fuse_add_direntry_plus(fuse_req_t request, char* buffer, size_t size, const char* name,
                              const fuse_entry_param* entry, off_t offset) {
  return library.fuse_add_direntry_plus(request, buffer, size, name, entry, offset);
}

int fuse_lowlevel_notify_inval_entry(fuse_session* session, fuse_ino_t parent, const char* name, size_t length) {
  return library.fuse_lowlevel_notify_inval_entry(session, parent, name, length);
}

int fuse_lowlevel_notify_inval_inode(fuse_session* session, fuse_ino_t ino, off_t offset, off_t length) {
  return library.fuse_lowlevel_notify_inval_inode(session, ino, offset, length);
}

int fuse_opt_add_arg(fuse_args* arguments, const char* word) { return library.fuse_opt_add_arg(arguments, word); }

void fuse_opt_free_args(fuse_args* arguments) { library.fuse_opt_free_args(arguments); }

int fuse_reply_attr(fuse_req_t request, const struct stat* status, double seconds) {
  return library.fuse_reply_attr(request, status, seconds);
}

int fuse_reply_buf(fuse_req_t request, const char* bytes, size_t length) {
  return library.fuse_reply_buf(request, bytes, length);
}

int fuse_reply_create(fuse_req_t request, const fuse_entry_param* entry, const fuse_file_info* info) {
  return library.fuse_reply_create(request, entry, keibi::fuse::WideFileInfo(*info).get());
}

int fuse_reply_entry(fuse_req_t request, const fuse_entry_param* entry) {
  return library.fuse_reply_entry(request, entry);
}

int fuse_reply_err(fuse_req_t request, int error) { return library.fuse_reply_err(request, error); }

int fuse_reply_lock(fuse_req_t request, const struct flock* lock) { return library.fuse_reply_lock(request, lock); }

void fuse_reply_none(fuse_req_t request) { library.fuse_reply_none(request); }

int fuse_reply_open(fuse_req_t request, const fuse_file_info* info) {
  return library.fuse_reply_open(request, keibi::fuse::WideFileInfo(*info).get());
}

int fuse_reply_readlink(fuse_req_t request, const char* target) { return library.fuse_reply_readlink(request, target); }

int fuse_reply_statfs(fuse_req_t request, const struct statvfs* status) {
  return library.fuse_reply_statfs(request, status);
}

int fuse_reply_write(fuse_req_t request, size_t count) { return library.fuse_reply_write(request, count); }

int fuse_reply_xattr(fuse_req_t request, size_t count) { return library.fuse_reply_xattr(request, count); }

void fuse_req_interrupt_func(fuse_req_t request, fuse_interrupt_func_t called, void* data) {
  library.fuse_req_interrupt_func(request, called, data);
}

void* fuse_req_userdata(fuse_req_t request) { return library.fuse_req_userdata(request); }

int fuse_session_fd(fuse_session* session) { return library.fuse_session_fd(session); }

int fuse_session_mount(fuse_session* session, const char* folder) {
  return library.fuse_session_mount(session, folder);
}

}  // extern "C"
