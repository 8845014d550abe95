// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <memory>
#include <utility>

#include "disk_tree.h"
#include "manifest/segment.h"
#include "served.h"
#include "share/serve_job.h"

namespace keibi::test {

inline Bytes Frame(manifest::LaneFrame kind, const Bytes& rest) {
  Bytes plaintext{static_cast<uint8_t>(kind)};
  plaintext.insert(plaintext.end(), rest.begin(), rest.end());
  return plaintext;
}

// A peer that shares a folder, and lanes to it that the test drives.
class GuestLaneTest : public ServedTest {
 protected:
  struct Guest {
    Dialler dialler;
    frame::Sealer sealer;
    frame::Opener opener;

    bool Send(const Bytes& plaintext) { return dialler.Send(Seal(&sealer, plaintext)); }
    // The next frame; empty when the lane has ended.
    Bytes Receive() {
      Bytes frame = dialler.Receive(frame::kLengthBytes);
      size_t body_bytes = 0;
      if (frame.size() < frame::kLengthBytes || !frame::Opener::BodyBytes(frame.data(), &body_bytes).ok()) return {};
      const Bytes body = dialler.Receive(body_bytes);
      frame.insert(frame.end(), body.begin(), body.end());
      return Open(&opener, frame).plaintext;
    }
  };

  GuestLaneTest() { Serve(); }
  ~GuestLaneTest() override {
    listener_->Stop();
    if (server_) server_->Stop();
  }

  // Without a ledger the folder is read-only.
  void Share(std::shared_ptr<share::WriteLedger> ledger = nullptr) {
    const share::ServeOptions options{.folder = {share_.path().string(), ""}, .ledger = std::move(ledger)};
    server_ = std::make_shared<share::ServeJob>(options);
    listener_->Expect({kSession, KeyOf(4), kSuite, frame::Role::kResponder}, server_);
  }

  Guest Begin(uint32_t lane) {
    Guest guest{Dial(), frame::Sealer(kSuite, LaneKey(lane, frame::Role::kInitiator)),
                frame::Opener(kSuite, LaneKey(lane, frame::Role::kResponder))};
    guest.dialler.Send(Hello(lane, &guest.sealer));
    return guest;
  }

  Folder share_;
  std::shared_ptr<share::ServeJob> server_;
};

}  // namespace keibi::test
