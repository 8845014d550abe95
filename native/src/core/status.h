// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cerrno>

namespace keibi::core {

// Every way native code can fail. The names are those of ErrorCode in packages/protocol/src/errors.ts;
// napi/errors.cc holds the table between the two.
enum class Code {
  kOk,
  kFrameTooLarge,
  kFrameAuthFailed,
  kFrameReplayed,
  kFrameTruncated,
  kSessionLost,
  kSessionClosed,
  kPeerUnreachable,
  kRendezvousBusy,
  kHandshakeMalformed,
  kHandshakeTimeout,
  kPathRefused,
  kLimitExceeded,
  kSourceChanged,
  kSourceMissing,
  kSourceUnreadable,
  kSourceUnsupported,
  kNameUnsendable,
  kSizeMismatch,
  kDiskFull,
  kDestinationUnusable,
  kDestinationExists,
  kFolderNotAllowed,
  kDigestMismatch,
  kFileNewer,
  kCallFailed,
  kCancelled,
  kInternal,
};

// The result of a native call: a code and, where the system gave one, its errno. Cheap to copy, never ignored.
struct [[nodiscard]] Status {
  Code code = Code::kOk;
  int system_error = 0;

  bool ok() const { return code == Code::kOk; }
  static Status Ok() { return {}; }
  static Status Of(Code code, int system_error = 0) { return {code, system_error}; }
  static Status FromErrno(Code code) { return {code, errno}; }
};

}  // namespace keibi::core
