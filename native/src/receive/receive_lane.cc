// SPDX-License-Identifier: MPL-2.0
#include "receive/receive_lane.h"

#include <sys/socket.h>

namespace keibi::receive {

using core::Code;
using core::Status;

Status ReceiveLane::Run() {
  while (true) {
    size_t bytes = 0;
    if (const Status status = ReceiveFrame(&bytes); !status.ok()) return status;
    if (bytes == 0) return Status::Of(Code::kHandshakeMalformed);
    switch (static_cast<manifest::LaneFrame>(buffer_->plaintext()[0])) {
      case manifest::LaneFrame::kSegments:
        if (const Status status = sink_->OnSegments(&buffer_, bytes); !status.ok()) return status;
        frames_++;
        break;
      case manifest::LaneFrame::kEnd:
        return Status::Ok();
      default:
        return Status::Of(Code::kHandshakeMalformed);
    }
  }
}

Status ReceiveLane::ReceiveFrame(size_t* plaintext_bytes) {
  uint8_t* const frame = buffer_->frame();
  size_t got = 0;
  Status status = net::ReceiveAll(socket_.get(), frame, frame::kHeaderBytes, limiter_, &got);
  if (!status.ok()) return got > 0 && status.system_error == 0 ? Status::Of(Code::kFrameTruncated) : status;
  size_t body_bytes = 0;
  if (status = frame::Opener::BodyBytes(frame, &body_bytes); !status.ok()) return status;
  const size_t rest = body_bytes - aead::kNonceBytes;
  status = net::ReceiveAll(socket_.get(), frame + frame::kHeaderBytes, rest, limiter_, &got);
  if (!status.ok()) return status.system_error == 0 ? Status::Of(Code::kFrameTruncated) : status;
  bytes_ += frame::kLengthBytes + body_bytes;
  return opener_.Open(frame, frame::kLengthBytes + body_bytes, plaintext_bytes);
}

void ReceiveLane::Shutdown() { shutdown(socket_.get(), SHUT_RDWR); }

}  // namespace keibi::receive
