// SPDX-License-Identifier: MPL-2.0
// warm FILE BYTES - writes BYTES into a new file and deletes it. The host of a virtual machine takes free memory away
// after a second or two, and the next program that needs it pays. Run before each case, this gives all the same start.
// It must be file pages: after touching as much anonymous memory, the next writer of a file still had cold pages.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
  size_t left = argc == 3 ? std::strtoull(argv[2], nullptr, 10) : 0;
  if (left == 0) {
    std::fprintf(stderr, "usage: warm FILE BYTES\n");
    return 2;
  }
  const int file = open(argv[1], O_CREAT | O_EXCL | O_WRONLY, 0600);
  if (file < 0 || unlink(argv[1]) != 0) {
    std::perror(argv[1]);
    return 1;
  }
  const std::vector<char> zeros(1 << 20);
  while (left > 0) {
    const ssize_t written = write(file, zeros.data(), std::min(left, zeros.size()));
    if (written <= 0) {
      std::perror("write");
      return 1;
    }
    left -= static_cast<size_t>(written);
  }
  return 0;
}
