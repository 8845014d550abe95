// SPDX-License-Identifier: MPL-2.0

// Usage: without_bbr COMMAND [ARGUMENT...]
//
// Runs a command as on a kernel without BBR: setting a congestion control by name fails with ENOENT.
// Needs no privileges.
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

constexpr unsigned Argument(unsigned number) { return offsetof(seccomp_data, args) + 8 * number; }

bool Filter() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_setsockopt, 0, 5),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, Argument(1)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_TCP, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, Argument(2)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TCP_CONGESTION, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOENT),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter = {sizeof program / sizeof *program, program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/** Whether the filter works. */
bool Refused() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  const bool refused = setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "bbr", 3) != 0 && errno == ENOENT;
  close(fd);
  return refused;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2 || !Filter() || !Refused()) {
    fprintf(stderr, "without_bbr: cannot take BBR away\n");
    return 125;
  }
  execvp(arguments[1], arguments + 1);
  perror(arguments[1]);
  return 127;
}
