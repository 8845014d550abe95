// SPDX-License-Identifier: MPL-2.0
#include "napi/errors.h"

#include <cerrno>
#include <string>
#include <system_error>

namespace keibi::napi {
namespace {

using core::Code;
using core::Status;

struct Row {
  Code code;
  const char* name;
  const char* sentence;
};

constexpr Row kRows[] = {
    {Code::kFrameTooLarge, "FRAME_TOO_LARGE", "a frame's length is outside what the protocol allows"},
    {Code::kFrameAuthFailed, "FRAME_AUTH_FAILED", "a frame was altered on the way or sealed with another key"},
    {Code::kFrameReplayed, "FRAME_REPLAYED", "a frame came twice, out of order, or one before it is missing"},
    {Code::kFrameTruncated, "FRAME_TRUNCATED", "a frame was cut short"},
    {Code::kSessionLost, "SESSION_LOST", "the connection to the peer was lost"},
    {Code::kSessionClosed, "SESSION_CLOSED", "the peer closed the session"},
    {Code::kPeerUnreachable, "PEER_UNREACHABLE", "the peer cannot be reached"},
    {Code::kRendezvousBusy, "RENDEZVOUS_BUSY", "the relay has no room left"},
    {Code::kHandshakeMalformed, "HANDSHAKE_MALFORMED", "the peer sent something that is not the protocol"},
    {Code::kHandshakeTimeout, "HANDSHAKE_TIMEOUT", "the peer did not answer in time"},
    {Code::kPathRefused, "TRANSFER_PATH_REFUSED", "a name is not acceptable"},
    {Code::kLimitExceeded, "TRANSFER_LIMIT_EXCEEDED", "a limit of the protocol was exceeded"},
    {Code::kSourceChanged, "TRANSFER_SOURCE_CHANGED", "the file changed while it was sent"},
    {Code::kSourceMissing, "TRANSFER_SOURCE_MISSING", "the file is no longer there"},
    {Code::kSourceUnreadable, "TRANSFER_SOURCE_UNREADABLE", "the file cannot be read"},
    {Code::kSourceUnsupported, "TRANSFER_SOURCE_UNSUPPORTED", "it is no file, directory or symlink"},
    {Code::kNameUnsendable, "TRANSFER_NAME_UNSENDABLE", "a name cannot be sent"},
    {Code::kSizeMismatch, "TRANSFER_SIZE_MISMATCH", "a file has another size than announced"},
    {Code::kDiskFull, "TRANSFER_DISK_FULL", "the destination is full"},
    {Code::kDestinationUnusable, "TRANSFER_DESTINATION_UNUSABLE", "the destination cannot be written"},
    {Code::kDestinationExists, "TRANSFER_DESTINATION_EXISTS", "the destination exists already"},
    {Code::kFolderNotAllowed, "FOLDER_NOT_ALLOWED", "the path leads out of the folder that may be used"},
    {Code::kDigestMismatch, "TRANSFER_DIGEST_MISMATCH", "what is on disk differs from what was sent"},
    {Code::kFileNewer, "FILE_NEWER", "a newer KeibiDrop wrote it, and it was left as it is"},
    {Code::kCallFailed, "SHARE_CALL_FAILED", "the system has refused it"},
    {Code::kCancelled, "CANCELLED", "cancelled"},
    {Code::kInternal, "INTERNAL", "a bug in KeibiDrop: native code failed"},
};

struct Name {
  int system_error;
  const char* name;
};

// strerrorname_np exists only in glibc; these are the errors of files and sockets.
constexpr Name kNames[] = {
    {E2BIG, "E2BIG"},
    {EACCES, "EACCES"},
    {EADDRINUSE, "EADDRINUSE"},
    {EADDRNOTAVAIL, "EADDRNOTAVAIL"},
    {EAFNOSUPPORT, "EAFNOSUPPORT"},
    {EAGAIN, "EAGAIN"},
    {EBADF, "EBADF"},
    {EBUSY, "EBUSY"},
    {ECONNABORTED, "ECONNABORTED"},
    {ECONNREFUSED, "ECONNREFUSED"},
    {ECONNRESET, "ECONNRESET"},
    {EDQUOT, "EDQUOT"},
    {EEXIST, "EEXIST"},
    {EFBIG, "EFBIG"},
    {EHOSTUNREACH, "EHOSTUNREACH"},
    {EINVAL, "EINVAL"},
    {EIO, "EIO"},
    {EISDIR, "EISDIR"},
    {ELOOP, "ELOOP"},
    {EMFILE, "EMFILE"},
    {EMLINK, "EMLINK"},
    {ENAMETOOLONG, "ENAMETOOLONG"},
    {ENETDOWN, "ENETDOWN"},
    {ENETUNREACH, "ENETUNREACH"},
    {ENFILE, "ENFILE"},
    {ENODATA, "ENODATA"},
    {ENODEV, "ENODEV"},
    {ENOENT, "ENOENT"},
    {ENOLCK, "ENOLCK"},
    {ENOMEM, "ENOMEM"},
    {ENOSPC, "ENOSPC"},
    {ENOTDIR, "ENOTDIR"},
    {ENOTEMPTY, "ENOTEMPTY"},
    {ENXIO, "ENXIO"},
    {EOPNOTSUPP, "EOPNOTSUPP"},
    {EPERM, "EPERM"},
    {EPIPE, "EPIPE"},
    {ERANGE, "ERANGE"},
    {EROFS, "EROFS"},
    {ESTALE, "ESTALE"},
    {ETIMEDOUT, "ETIMEDOUT"},
    {ETXTBSY, "ETXTBSY"},
    {EXDEV, "EXDEV"},
};

const Row& RowOf(Code code) {
  for (const Row& row : kRows) {
    if (row.code == code) return row;
  }
  return kRows[std::size(kRows) - 1];
}

std::string ErrnoName(int system_error) {
  for (const Name& row : kNames) {
    if (row.system_error == system_error) return row.name;
  }
  return "E" + std::to_string(system_error);
}

std::string Reason(int system_error) { return std::generic_category().message(system_error); }

}  // namespace

const char* CodeName(Code code) { return RowOf(code).name; }

Napi::Error MakeError(Napi::Env env, Status status) {
  const Row& row = RowOf(status.code);
  std::string message = row.sentence;
  if (status.system_error != 0) message += ": " + Reason(status.system_error);
  Napi::Error error = Napi::Error::New(env, message);
  error.Set("code", Napi::String::New(env, row.name));
  if (status.system_error != 0) {
    error.Set("errno", Napi::Number::New(env, -status.system_error));
    error.Set("errnoName", Napi::String::New(env, ErrnoName(status.system_error)));
  }
  return error;
}

Napi::Error MakeSystemError(Napi::Env env, const char* syscall, int system_error) {
  const std::string name = ErrnoName(system_error);
  Napi::Error error = Napi::Error::New(env, std::string(syscall) + " " + name + ": " + Reason(system_error));
  error.Set("code", Napi::String::New(env, name));
  error.Set("errno", Napi::Number::New(env, -system_error));
  error.Set("syscall", Napi::String::New(env, syscall));
  return error;
}

void Throw(Napi::Env env, Status status) { MakeError(env, status).ThrowAsJavaScriptException(); }

}  // namespace keibi::napi
