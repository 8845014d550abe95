// SPDX-License-Identifier: MPL-2.0
#include "remote/write_lane.h"

#include <sys/socket.h>

#include <vector>

#include "manifest/segment.h"
#include "net/socket.h"

namespace keibi::remote {

using core::Code;
using core::Status;

void WriteLane::Send() {
  net::LaneBuffer buffer;
  uint8_t* const plaintext = buffer.plaintext();
  for (Piece piece; pieces_->Next(number_, &piece);) {
    const Status read = piece.overlay->Read(piece.offset, plaintext + 1 + share::Write::kHeaderBytes, piece.length);
    if (!read.ok()) {
      pieces_->OnUnreadable(number_, piece, read);
      continue;
    }
    plaintext[0] = static_cast<uint8_t>(manifest::LaneFrame::kWrite);
    share::Write{piece.handle, piece.offset}.WriteHeader(plaintext + 1);
    const size_t bytes = dialled_.sealer->Seal(buffer.frame(), 1 + share::Write::kHeaderBytes + piece.length);
    if (bytes == 0 || !net::SendAll(dialled_.socket.get(), buffer.frame(), bytes, limiter_).ok()) break;
    bytes_ += bytes;
  }
  // The receiving thread notices, and returns the pending pieces.
  Shutdown();
}

Status WriteLane::Receive() {
  const int socket = dialled_.socket.get();
  net::RateLimiter unlimited(nullptr);
  std::vector<uint8_t> frame(frame::kOverheadBytes + kOutcomesBytes);
  while (true) {
    size_t got = 0, body_bytes = 0, plaintext_bytes = 0;
    Status status = net::ReceiveAll(socket, frame.data(), frame::kHeaderBytes, &unlimited, &got);
    if (status.ok()) status = frame::Opener::BodyBytes(frame.data(), &body_bytes);
    if (!status.ok()) return status;
    const size_t bytes = frame::kLengthBytes + body_bytes;
    if (bytes > frame.size()) return Status::Of(Code::kFrameTooLarge);
    status =
        net::ReceiveAll(socket, frame.data() + frame::kHeaderBytes, body_bytes - aead::kNonceBytes, &unlimited, &got);
    if (status.ok()) status = dialled_.opener->Open(frame.data(), bytes, &plaintext_bytes);
    if (!status.ok()) return status;
    const uint8_t* at = frame.data() + frame::kHeaderBytes;
    const uint8_t* const end = at + plaintext_bytes;
    if (plaintext_bytes < 2 || *at++ != static_cast<uint8_t>(manifest::LaneFrame::kWritten)) {
      return Status::Of(Code::kHandshakeMalformed);
    }
    for (share::Written written; at != end;) {
      if (!share::Written::Take(&at, end, &written)) return Status::Of(Code::kHandshakeMalformed);
      if (status = pieces_->OnWritten(number_, written); !status.ok()) return status;
    }
    frames_++;
  }
}

void WriteLane::Shutdown() { shutdown(dialled_.socket.get(), SHUT_RDWR); }

}  // namespace keibi::remote
