// SPDX-License-Identifier: MPL-2.0
// measure REPORT COMMAND [ARG...] - runs a command and writes one JSON line about it to the file REPORT: wall seconds
// of the command, then CPU seconds (user + system) and the largest peak resident bytes. The last two cover the command
// and all its descendants, from the kernel's accounts of finished processes. measure adopts orphans of the command and
// waits for them, so that a daemon's workers count. It forwards SIGTERM, and the death of its parent, to the command.
// Exits with the command's own status.
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>

namespace {

volatile pid_t command = 0;

void Forward(int number) {
  if (command > 0) kill(command, number);
}

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: measure REPORT COMMAND [ARG...]\n");
    return 2;
  }
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  struct sigaction forward {};
  forward.sa_handler = Forward;
  forward.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &forward, nullptr);

  const auto start = std::chrono::steady_clock::now();
  command = fork();
  if (command == 0) {
    execvp(argv[2], argv + 2);
    std::perror(argv[2]);
    _exit(127);
  }
  int status = 0;
  if (command < 0 || waitpid(command, &status, 0) != command) {
    std::perror("measure");
    return 1;
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  signal(SIGTERM, SIG_DFL);  // giving up on an orphan that does not end is the caller's task
  while (wait(nullptr) > 0) {
  }
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
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
