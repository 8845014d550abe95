// SPDX-License-Identifier: MPL-2.0
// ceiling - the limit of this machine: bytes over loopback TCP between two processes, sealed in place in units of 1 MiB
// and opened in place on the other side. No handshake, no bitmap, no progress: only the copies and the cipher of a real
// transfer. A benchmark prints its own time as a ratio to this.
//
//   usage: ceiling SOURCE DESTINATION [SUITE [LANES [UNIT]]]     a file: read, seal, send, open, write
//          ceiling --memory BYTES [SUITE [LANES [UNIT]]]         memory to memory: no file on either side
//   SUITE: aes-256-gcm (default), chacha20-poly1305 or none; LANES: 1 by default; UNIT: 1048576 bytes by default
//   prints one JSON line; `seconds` runs from all lanes connected to the last byte in place
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr size_t kTagBytes = 16;
constexpr int kSocketBytes = 4 << 20;
constexpr size_t kSmallestUnit = sizeof(uint64_t);

struct Job {
  const char* source = nullptr;  // null: memory to memory
  const char* destination = nullptr;
  size_t total = 0;
  const char* suite_name = "aes-256-gcm";
  const EVP_CIPHER* suite = nullptr;  // null: nothing is sealed
  size_t lanes = 1;
  size_t unit = 1 << 20;

  size_t tag() const { return suite == nullptr ? 0 : kTagBytes; }
  size_t BytesOf(size_t index) const { return std::min(unit, total - index * unit); }
};

[[noreturn]] void Die(const char* what) {
  std::perror(what);
  _exit(1);
}

double Now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double CpuSeconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) { return static_cast<double>(time.tv_sec) + time.tv_usec / 1e6; };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// One lane's cipher in one direction. The key is not secret; the nonce is the unit's index.
class Aead {
 public:
  Aead(const EVP_CIPHER* suite, bool sealing) : context_(suite == nullptr ? nullptr : EVP_CIPHER_CTX_new()) {
    const unsigned char key[32] = {1};
    if (context_ != nullptr) EVP_CipherInit_ex(context_, suite, nullptr, key, nullptr, sealing);
  }
  ~Aead() { EVP_CIPHER_CTX_free(context_); }
  Aead(const Aead&) = delete;
  Aead& operator=(const Aead&) = delete;

  void Seal(unsigned char* unit, size_t bytes, uint64_t index) {
    if (context_ == nullptr) return;
    Crypt(unit, bytes, index);
    int length = 0;
    EVP_CipherFinal_ex(context_, unit + bytes, &length);
    EVP_CIPHER_CTX_ctrl(context_, EVP_CTRL_AEAD_GET_TAG, kTagBytes, unit + bytes);
  }

  void Open(unsigned char* unit, size_t bytes, uint64_t index) {
    if (context_ == nullptr) return;
    Crypt(unit, bytes, index);
    int length = 0;
    EVP_CIPHER_CTX_ctrl(context_, EVP_CTRL_AEAD_SET_TAG, kTagBytes, unit + bytes);
    if (EVP_CipherFinal_ex(context_, unit, &length) != 1) Die("tag");
  }

 private:
  void Crypt(unsigned char* unit, size_t bytes, uint64_t index) {
    unsigned char nonce[12] = {0};
    std::memcpy(nonce, &index, sizeof index);
    int length = 0;
    EVP_CipherInit_ex(context_, nullptr, nullptr, nullptr, nonce, -1);
    EVP_CipherUpdate(context_, unit, &length, unit, static_cast<int>(bytes));
  }

  EVP_CIPHER_CTX* const context_;
};

void SendLane(int socket, const Job& job, size_t first) {
  const int file = job.source == nullptr ? -1 : open(job.source, O_RDONLY);
  if (job.source != nullptr && file < 0) Die("open source");
  std::vector<unsigned char> buffer(job.unit + kTagBytes);
  Aead aead(job.suite, true);
  char go = 0;
  if (recv(socket, &go, 1, 0) != 1) Die("go");
  for (size_t i = first; i * job.unit < job.total; i += job.lanes) {
    const size_t bytes = job.BytesOf(i);
    if (job.source == nullptr) {
      std::memcpy(buffer.data(), &i, std::min(sizeof i, bytes));
    } else if (pread(file, buffer.data(), bytes, i * job.unit) != static_cast<ssize_t>(bytes)) {
      Die("pread");
    }
    aead.Seal(buffer.data(), bytes, i);
    for (size_t sent = 0; sent < bytes + job.tag();) {
      const ssize_t count = send(socket, buffer.data() + sent, bytes + job.tag() - sent, 0);
      if (count <= 0) Die("send");
      sent += count;
    }
  }
  shutdown(socket, SHUT_WR);
  (void)!recv(socket, &go, 1, 0);  // the receiver closes when it has everything
}

void ReceiveLane(int socket, const Job& job, size_t first) {
  const int file = job.destination == nullptr ? -1 : open(job.destination, O_RDWR);
  if (job.destination != nullptr && file < 0) Die("open destination");
  std::vector<unsigned char> buffer(job.unit + kTagBytes);
  Aead aead(job.suite, false);
  for (size_t i = first; i * job.unit < job.total; i += job.lanes) {
    const size_t bytes = job.BytesOf(i);
    for (size_t got = 0; got < bytes + job.tag();) {
      const ssize_t count = recv(socket, buffer.data() + got, bytes + job.tag() - got, MSG_WAITALL);
      if (count <= 0) Die("recv");
      got += count;
    }
    aead.Open(buffer.data(), bytes, i);
    if (job.destination == nullptr) {
      if (std::memcmp(buffer.data(), &i, std::min(sizeof i, bytes)) != 0) Die("a unit out of its place");
    } else if (pwrite(file, buffer.data(), bytes, i * job.unit) != static_cast<ssize_t>(bytes)) {
      Die("pwrite");
    }
  }
  close(socket);
}

// The child: dials every lane, sends, and leaves its CPU seconds in `report`.
[[noreturn]] void Send(const Job& job, const sockaddr_in& address, int report) {
  std::vector<std::thread> threads;
  for (uint32_t lane = 0; lane < job.lanes; lane++) {
    const int dialled = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(dialled, SOL_SOCKET, SO_SNDBUF, &kSocketBytes, sizeof kSocketBytes);
    if (connect(dialled, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) Die("connect");
    if (send(dialled, &lane, sizeof lane, 0) != sizeof lane) Die("send");
    threads.emplace_back(SendLane, dialled, std::cref(job), lane);
  }
  for (std::thread& thread : threads) thread.join();
  const double used = CpuSeconds();
  (void)!write(report, &used, sizeof used);
  _exit(0);
}

// Accepts every lane, starts all at once, and returns the seconds until every byte has arrived.
double Receive(const Job& job, int listener) {
  std::vector<std::pair<int, uint32_t>> accepted;
  for (size_t i = 0; i < job.lanes; i++) {
    const int socket = accept(listener, nullptr, nullptr);
    setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &kSocketBytes, sizeof kSocketBytes);
    uint32_t lane = 0;
    if (recv(socket, &lane, sizeof lane, MSG_WAITALL) != sizeof lane || lane >= job.lanes) Die("lane");
    accepted.emplace_back(socket, lane);
  }
  const double start = Now();
  std::vector<std::thread> threads;
  for (const auto& [socket, lane] : accepted) {
    if (send(socket, "", 1, 0) != 1) Die("go");
    threads.emplace_back(ReceiveLane, socket, std::cref(job), lane);
  }
  for (std::thread& thread : threads) thread.join();
  return Now() - start;
}

bool ParseJob(int argc, char** argv, Job& job) {
  if (argc < 3 || argc > 6) return false;
  if (std::strcmp(argv[1], "--memory") == 0) {
    job.total = std::strtoull(argv[2], nullptr, 10);
  } else {
    job.source = argv[1];
    job.destination = argv[2];
    struct stat st {};
    if (stat(job.source, &st) != 0) Die("source");
    job.total = st.st_size;
  }
  if (argc > 3) job.suite_name = argv[3];
  if (argc > 4) job.lanes = std::strtoull(argv[4], nullptr, 10);
  if (argc > 5) job.unit = std::strtoull(argv[5], nullptr, 10);
  const std::string suite = job.suite_name;
  if (suite == "aes-256-gcm") job.suite = EVP_aes_256_gcm();
  if (suite == "chacha20-poly1305") job.suite = EVP_chacha20_poly1305();
  const bool sized = job.total > 0 && job.lanes > 0 && job.lanes <= 64;
  return sized && job.unit >= kSmallestUnit && job.unit <= 1 << 30 && (job.suite != nullptr || suite == "none");
}

}  // namespace

int main(int argc, char** argv) {
  Job job;
  if (!ParseJob(argc, argv, job)) {
    std::fprintf(stderr, "usage: ceiling (SOURCE DESTINATION | --memory BYTES) [SUITE [LANES [UNIT]]]\n");
    return 2;
  }
  if (job.destination != nullptr) {
    unlink(job.destination);
    const int created = open(job.destination, O_CREAT | O_RDWR, 0644);
    if (created < 0 || ftruncate(created, job.total) != 0) Die("destination");
    close(created);
  }

  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), length) != 0 || listen(listener, 64) != 0) Die("listen");
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length);

  // Loads libcrypto's provider before the fork and the clock, since a session does that during its handshake.
  const Aead warm_up(job.suite, true);
  int report[2];
  if (pipe(report) != 0) Die("pipe");
  const pid_t child = fork();
  if (child < 0) Die("fork");
  if (child == 0) Send(job, address, report[1]);
  const double seconds = Receive(job, listener);
  int status = 0;
  double sender = 0;
  if (waitpid(child, &status, 0) != child || status != 0) Die("sender");
  if (read(report[0], &sender, sizeof sender) != sizeof sender) Die("report");
  std::printf(
      "{\"seconds\":%.6f,\"mbps\":%.0f,\"cpu_send\":%.3f,\"cpu_receive\":%.3f,\"suite\":\"%s\",\"lanes\":%zu}\n",
      seconds, job.total / 1e6 / seconds, sender, CpuSeconds(), job.suite_name, job.lanes);
  return 0;
}
