# SPDX-License-Identifier: MPL-2.0
"""A program that locks files as instructed, line by line on standard input, and answers each line with one.

lock N FILE KIND FROM LENGTH    KIND: sh, ex, un; of open file N, with fcntl(2)
wait N FILE KIND FROM LENGTH    the same, and waits for it
test N FILE KIND FROM LENGTH    `free`, or what is locked there
flock N FILE KIND               with flock(2)
read N FILE                     the file, from its beginning, by the same open file
write N FILE TEXT               at its beginning
close N
"""
import fcntl
import os
import struct
import sys

KINDS = {"sh": fcntl.LOCK_SH, "ex": fcntl.LOCK_EX, "un": fcntl.LOCK_UN}
TYPES = {"sh": fcntl.F_RDLCK, "ex": fcntl.F_WRLCK}
files = {}


def opened(number, path):
    if number not in files:
        files[number] = os.open(path, os.O_RDWR)
    return files[number]


def done(verb, number, path="", *rest):
    if verb == "close":
        os.close(files.pop(number))
        return "ok"
    file = opened(number, path)
    if verb in ("lock", "wait"):
        kind, start, length = rest
        now = fcntl.LOCK_NB if verb == "lock" and kind != "un" else 0
        fcntl.lockf(file, KINDS[kind] | now, int(length), int(start))
    elif verb == "flock":
        fcntl.flock(file, KINDS[rest[0]] | (fcntl.LOCK_NB if rest[0] != "un" else 0))
    elif verb == "test":
        kind, start, length = rest
        asked = struct.pack("hhqqi4x", TYPES[kind], os.SEEK_SET, int(start), int(length), 0)
        found = struct.unpack("hhqqi4x", fcntl.fcntl(file, fcntl.F_GETLK, asked))
        if found[0] == fcntl.F_UNLCK:
            return "free"
        return f"{'sh' if found[0] == fcntl.F_RDLCK else 'ex'} {found[2]} {found[3]}"
    elif verb == "read":
        return os.pread(file, 1000, 0).decode()
    elif verb == "write":
        os.pwrite(file, rest[0].encode(), 0)
    return "ok"


for line in sys.stdin:
    try:
        print(done(*line.split()), flush=True)
    except OSError as failure:
        print(os.strerror(failure.errno), flush=True)
