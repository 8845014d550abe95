// SPDX-License-Identifier: MPL-2.0
// warm BYTES - touches so much memory and gives it back. A virtual machine's host takes free memory away after a second
// or two, and the next program to need it pays for getting it again; run before each case, this lets all begin alike.
#include <sys/mman.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  const size_t bytes = argc == 2 ? std::strtoull(argv[1], nullptr, 10) : 0;
  if (bytes == 0) {
    std::fprintf(stderr, "usage: warm BYTES\n");
    return 2;
  }
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  return memory == MAP_FAILED ? 1 : 0;
}
