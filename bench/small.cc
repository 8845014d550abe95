// SPDX-License-Identifier: MPL-2.0
// small WHAT PATH COUNT [SEED] - makes small calls in sequence and prints how long they took, as JSON.
//
//   read | write | write-sync FILE COUNT SEED - 4 KiB each, at places that SEED chooses; write-sync ends with fsync
//
//   create | stat | unlink FOLDER COUNT - empty files
//
//   drop FILE - asks the kernel to drop its cached pages
//
// Reads print a sum, which is the same for the same bytes.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr size_t kBlockBytes = 4096;

[[noreturn]] void Fail(const std::string& what) {
  std::perror(what.c_str());
  std::exit(1);
}

int OpenExisting(const char* path, int flags) {
  const int file = open(path, flags);
  if (file < 0) Fail(path);
  // As fio does: random reads need no read-ahead.
  posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM);
  return file;
}

std::vector<off_t> OffsetsIn(int file, size_t count, std::mt19937_64* random) {
  struct stat status {};
  if (fstat(file, &status) != 0) Fail("fstat");
  const auto blocks = std::max<uint64_t>(1, static_cast<uint64_t>(status.st_size) / kBlockBytes);
  std::vector<off_t> offsets(count);
  for (off_t& offset : offsets) offset = static_cast<off_t>((*random)() % blocks * kBlockBytes);
  return offsets;
}

uint64_t SumOf(const std::vector<uint64_t>& words) {
  uint64_t sum = 14695981039346656037U;  // FNV-1a, by words
  for (const uint64_t word : words) sum = (sum ^ word) * 1099511628211U;
  return sum;
}

template <typename Work>
double Timed(const Work& work) {
  const auto started = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
}

// The clock stops while the file is opened and while the sum is computed.
double ReadAtRandom(const char* path, size_t count, uint64_t seed, uint64_t* sum) {
  const int file = OpenExisting(path, O_RDONLY);
  std::mt19937_64 random(seed);
  const std::vector<off_t> offsets = OffsetsIn(file, count, &random);
  std::vector<uint64_t> words(count * kBlockBytes / sizeof(uint64_t));
  const double seconds = Timed([&] {
    char* to = reinterpret_cast<char*>(words.data());
    for (const off_t offset : offsets) {
      if (pread(file, to, kBlockBytes, offset) < 0) Fail("pread");
      to += kBlockBytes;
    }
  });
  *sum = SumOf(words);
  return seconds;
}

// Timed up to fsync if `sync`, and without close.
double WriteAtRandom(const char* path, size_t count, uint64_t seed, bool sync) {
  const int file = OpenExisting(path, O_RDWR);
  std::mt19937_64 random(seed);
  const std::vector<off_t> offsets = OffsetsIn(file, count, &random);
  std::vector<uint64_t> block(kBlockBytes / sizeof(uint64_t));
  const double seconds = Timed([&] {
    for (const off_t offset : offsets) {
      for (uint64_t& word : block) word = random();
      if (pwrite(file, block.data(), kBlockBytes, offset) != kBlockBytes) Fail("pwrite");
    }
    if (sync && fsync(file) != 0) Fail("fsync");
  });
  if (close(file) != 0) Fail("close");
  return seconds;
}

double Name(const std::string& what, const std::string& folder, size_t count) {
  return Timed([&] {
    for (size_t i = 0; i < count; i++) {
      const std::string path = folder + "/file-" + std::to_string(i);
      struct stat status {};
      if (what == "create") {
        const int file = open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0644);
        if (file < 0 || close(file) != 0) Fail(path);
      } else if ((what == "stat" ? stat(path.c_str(), &status) : unlink(path.c_str())) != 0) {
        Fail(path);
      }
    }
  });
}

void Drop(const char* path) {
  const int file = OpenExisting(path, O_RDONLY);
  if (fsync(file) != 0 || posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) != 0) Fail(path);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 2 ? argv[1] : "";
  const size_t count = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 0;
  const uint64_t seed = argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 0;
  double seconds = 0;
  uint64_t sum = 0;
  if (what == "drop") {
    Drop(argv[2]);
  } else if (what == "read") {
    seconds = ReadAtRandom(argv[2], count, seed, &sum);
  } else if (what == "write" || what == "write-sync") {
    seconds = WriteAtRandom(argv[2], count, seed, what == "write-sync");
  } else if (what == "create" || what == "stat" || what == "unlink") {
    seconds = Name(what, argv[2], count);
  } else {
    std::fprintf(stderr, "usage: small read|write|write-sync|create|stat|unlink|drop PATH [COUNT [SEED]]\n");
    return 2;
  }
  std::printf("{\"seconds\":%.6f,\"sum\":\"%llx\"}\n", seconds, static_cast<unsigned long long>(sum));
  return 0;
}
