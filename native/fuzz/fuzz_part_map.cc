// SPDX-License-Identifier: MPL-2.0
#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>

#include <cstdint>
#include <vector>

#include "receive/part_file.h"
#include "temporary_folder.h"

// The bitmap that an earlier run left for a file (PROTOCOL 7), damaged or forged, with a correct checksum. A resumed
// part has one bit for each chunk and accepts the missing chunks.
using keibi::core::Fd;
using keibi::fuzz::Check;
using keibi::receive::PartFile;
using keibi::receive::Staging;

namespace {

constexpr uint64_t kFileBytes = 3 * keibi::core::kChunkBytes + 1;
constexpr size_t kSumBytes = 32;

struct Place {
  keibi::fuzz::TemporaryFolder folder;
  Fd destination{open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  Staging staging;
  Place() { Check(staging.Open(destination.get()).ok()); }
};

void Put(int folder, const std::string& name, const std::vector<uint8_t>& bytes, off_t length) {
  const Fd fd(openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  Check(fd.valid() && write(fd.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  Check(length == 0 || ftruncate(fd.get(), length) == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Place* const place = new Place;
  if (size < 1 || size > 4096) return 0;
  PartFile part(place->staging, {"file", {kFileBytes, 1}, false});
  const std::string map_name = part.DataName().substr(0, part.DataName().rfind('.')) + ".map";
  std::vector<uint8_t> map(data + 1, data + size);
  uint8_t sum[kSumBytes];
  EVP_Digest(map.data(), map.size(), sum, nullptr, EVP_sha256(), nullptr);
  map.insert(map.end(), sum, sum + sizeof sum);
  Put(place->staging.fd(), map_name, map, 0);
  Put(place->staging.fd(), part.DataName(), {}, static_cast<off_t>(data[0]) << 14);
  const auto found = part.Load();
  if (found == PartFile::Found::kRest) {
    const auto held = part.held();
    Check(held.chunks() == keibi::manifest::ChunksOf(kFileBytes) && held.held() <= held.chunks());
    const uint8_t byte = 7;
    PartFile::Written written;
    Check(part.Write(held.chunks() - 1, &byte, 1, &written).ok());
    Check(part.held().Has(held.chunks() - 1));
  }
  part.Discard();
  return 0;
}
