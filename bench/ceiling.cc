// SPDX-License-Identifier: MPL-2.0
// ceiling - what this machine can do: one file over loopback TCP, AES-256-GCM sealed in 1 MiB units,
// opened and written on the other side. No handshake, no bitmap, no progress: the same copies and the
// same cipher as a real transfer and nothing else. A benchmark prints its own time as a ratio to this.
//
//   build: g++ -O3 -march=native -o ceiling ceiling.cc -lcrypto -lpthread       (libssl-dev)
//   usage: ceiling SOURCE DESTINATION [streams=1] [unit=1048576] [plain]
//   prints one JSON line: seconds, MB/s, CPU seconds of each side
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {
size_t unit = 1 << 20;
int streams = 1;
bool plain = false;
const unsigned char key[32] = {1};

[[noreturn]] void die(const char* what) {
  perror(what);
  _exit(1);
}
double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
double cpu() {
  rusage r;
  getrusage(RUSAGE_SELF, &r);
  return r.ru_utime.tv_sec + r.ru_stime.tv_sec + (r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
}

void send_side(int socket, const char* path, size_t total, int first) {
  int file = open(path, O_RDONLY);
  if (file < 0) die("open source");
  std::vector<unsigned char> buffer(unit + 16);
  EVP_CIPHER_CTX* ctx = EVP_CIPHER_CTX_new();
  EVP_EncryptInit_ex(ctx, EVP_aes_256_gcm(), nullptr, key, nullptr);
  unsigned char nonce[12] = {0};
  for (size_t i = first; i * unit < total; i += streams) {
    size_t n = std::min(unit, total - i * unit);
    if (pread(file, buffer.data(), n, i * unit) != (ssize_t)n) die("pread");
    if (!plain) {
      int len;
      memcpy(nonce, &i, sizeof i);
      EVP_EncryptInit_ex(ctx, nullptr, nullptr, nullptr, nonce);
      EVP_EncryptUpdate(ctx, buffer.data(), &len, buffer.data(), n);
      EVP_EncryptFinal_ex(ctx, buffer.data() + n, &len);
      EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_GET_TAG, 16, buffer.data() + n);
    }
    for (size_t sent = 0; sent < n + 16;) {
      ssize_t k = send(socket, buffer.data() + sent, n + 16 - sent, 0);
      if (k <= 0) die("send");
      sent += k;
    }
  }
  shutdown(socket, SHUT_WR);
  char end;
  (void)!recv(socket, &end, 1, 0);
}

void receive_side(int socket, const char* path, size_t total, int first) {
  int file = open(path, O_RDWR);
  if (file < 0) die("open destination");
  std::vector<unsigned char> buffer(unit + 16);
  EVP_CIPHER_CTX* ctx = EVP_CIPHER_CTX_new();
  EVP_DecryptInit_ex(ctx, EVP_aes_256_gcm(), nullptr, key, nullptr);
  unsigned char nonce[12] = {0};
  for (size_t i = first; i * unit < total; i += streams) {
    size_t n = std::min(unit, total - i * unit);
    for (size_t got = 0; got < n + 16;) {
      ssize_t k = recv(socket, buffer.data() + got, n + 16 - got, MSG_WAITALL);
      if (k <= 0) die("recv");
      got += k;
    }
    if (!plain) {
      int len;
      memcpy(nonce, &i, sizeof i);
      EVP_DecryptInit_ex(ctx, nullptr, nullptr, nullptr, nonce);
      EVP_DecryptUpdate(ctx, buffer.data(), &len, buffer.data(), n);
      EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_SET_TAG, 16, buffer.data() + n);
      if (EVP_DecryptFinal_ex(ctx, buffer.data(), &len) != 1) die("tag");
    }
    if (pwrite(file, buffer.data(), n, i * unit) != (ssize_t)n) die("pwrite");
  }
  close(socket);
}
}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: ceiling SOURCE DESTINATION [streams] [unit] [plain]\n");
    return 2;
  }
  if (argc > 3) streams = atoi(argv[3]);
  if (argc > 4) unit = strtoul(argv[4], nullptr, 10);
  plain = argc > 5;
  struct stat st;
  if (stat(argv[1], &st)) die("source");
  size_t total = st.st_size;
  unlink(argv[2]);
  int out = open(argv[2], O_CREAT | O_RDWR, 0644);
  if (out < 0 || ftruncate(out, total)) die("destination");
  close(out);

  int listener = socket(AF_INET, SOCK_STREAM, 0), size = 4 << 20;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (bind(listener, (sockaddr*)&address, length) || listen(listener, 16)) die("listen");
  getsockname(listener, (sockaddr*)&address, &length);

  int report[2];
  if (pipe(report)) die("pipe");
  double start = now();
  pid_t child = fork();
  if (child == 0) {
    std::vector<std::thread> threads;
    for (int i = 0; i < streams; i++) {
      int s = socket(AF_INET, SOCK_STREAM, 0);
      setsockopt(s, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
      uint32_t lane = i;
      if (connect(s, (sockaddr*)&address, sizeof address)) die("connect");
      if (send(s, &lane, sizeof lane, 0) != sizeof lane) die("send");
      threads.emplace_back(send_side, s, argv[1], total, i);
    }
    for (auto& t : threads) t.join();
    double used = cpu();
    (void)!write(report[1], &used, sizeof used);
    _exit(0);
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < streams; i++) {
    int s = accept(listener, nullptr, nullptr);
    setsockopt(s, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    uint32_t lane;
    if (recv(s, &lane, sizeof lane, MSG_WAITALL) != sizeof lane) die("recv");
    threads.emplace_back(receive_side, s, argv[2], total, (int)lane);
  }
  for (auto& t : threads) t.join();
  double seconds = now() - start, sender = 0;
  int status;
  waitpid(child, &status, 0);
  (void)!read(report[0], &sender, sizeof sender);
  printf(
      "{\"seconds\":%.3f,\"mbps\":%.0f,\"cpu_send\":%.2f,\"cpu_receive\":%.2f,\"streams\":%d,\"unit\":%zu,\"sealed\":%"
      "s}\n",
      seconds, total / 1e6 / seconds, sender, cpu(), streams, unit, plain ? "false" : "true");
  return status != 0;
}
