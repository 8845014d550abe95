// SPDX-License-Identifier: MPL-2.0
// measure REPORT COMMAND [ARG...] - runs a command and writes one JSON line about it to the file REPORT:
// wall seconds, CPU seconds (user + system) and peak resident bytes, as the kernel accounts for the finished process.
// Signals meant for the command should go to its process group. Exits with the command's own status.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace {

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: measure REPORT COMMAND [ARG...]\n");
    return 2;
  }
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    execvp(argv[2], argv + 2);
    std::perror(argv[2]);
    _exit(127);
  }
  int status = 0;
  rusage used{};
  if (child < 0 || wait4(child, &status, 0, &used) != child) {
    std::perror("measure");
    return 1;
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  std::FILE* const report = std::fopen(argv[1], "w");
  if (report == nullptr) {
    std::perror(argv[1]);
    return 1;
  }
  std::fprintf(report, "{\"wall\":%.4f,\"cpu\":%.4f,\"rss\":%lld}\n", wall.count(),
               Seconds(used.ru_utime) + Seconds(used.ru_stime), static_cast<long long>(used.ru_maxrss) * 1024);
  std::fclose(report);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
