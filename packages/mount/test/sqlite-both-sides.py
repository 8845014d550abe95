# SPDX-License-Identifier: MPL-2.0
"""Two programs with SQLite on the two sides of one mounted folder, each with transactions of its own on one database.

sqlite-both-sides.py MOUNTED SHARED SECONDS prints as JSON what was acknowledged and what of it is there. A row counts as
there if it is in the database or in a conflict copy of it; `counted` says whether no transaction was lost over another.
On a busy machine it goes on until each side has made a few.
"""
import glob
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

NAME = "rows.db"
BUSY_SECONDS = 30
# Each side makes at least so many, unless that takes too long.
LEAST = 5
MOST_MORE_SECONDS = 100


def write(path, writer, stop):
    """Inserts rows, one a transaction, until there is a file `stop`. Prints each that was acknowledged, then the rest."""
    refused, longest = {}, 0.0
    base = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    number = 0
    while not os.path.exists(stop):
        number += 1
        key = f"{writer} {number}"
        began = time.monotonic()
        try:
            base.execute("BEGIN IMMEDIATE")
            base.execute("INSERT INTO rows VALUES (?, ?)", (key, key * 20))
            base.execute("UPDATE counts SET number = number + 1")
            base.execute("COMMIT")
            print(number, flush=True)
        except sqlite3.Error as failure:
            # Its name says more, since Python 3.11.
            said = getattr(failure, "sqlite_errorname", str(failure))
            refused[said] = refused.get(said, 0) + 1
            if base.in_transaction:
                base.rollback()
        longest = max(longest, time.monotonic() - began)
        # SQLite is not fair: who begins again at once keeps out who has to ask over a network.
        time.sleep(0.01 * (number % 7))
    base.close()
    print(json.dumps({"refused": refused, "longest": round(longest, 2)}))


class Writer(threading.Thread):
    """A program that writes, and what it says."""

    def __init__(self, name, folder, stop):
        super().__init__()
        words = [sys.executable, __file__, "write", os.path.join(folder, NAME), name, stop]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        self.acknowledged, self.counts = [], {}
        self.start()

    def run(self):
        for line in self.process.stdout:
            if line.startswith("{"):
                self.counts = json.loads(line)
            else:
                self.acknowledged.append(int(line))


def keys_in(path):
    try:
        base = sqlite3.connect(path)
        return {key for (key,) in base.execute("SELECT key FROM rows")}
    except sqlite3.Error:
        return set()


def both(mounted, shared, seconds):
    path = os.path.join(shared, NAME)
    base = sqlite3.connect(path, isolation_level=None)
    base.execute("PRAGMA journal_mode=DELETE")
    base.execute("CREATE TABLE rows (key TEXT PRIMARY KEY, what TEXT)")
    base.execute("CREATE TABLE counts (number INTEGER)")
    base.execute("INSERT INTO counts VALUES (0)")
    base.close()
    # The sharer announces a new name within a second.
    while not os.path.exists(os.path.join(mounted, NAME)):
        time.sleep(0.01)
    with tempfile.TemporaryDirectory() as own:
        stop = os.path.join(own, "stop")
        writers = {"guest": Writer("guest", mounted, stop), "sharer": Writer("sharer", shared, stop)}
        began = time.monotonic()
        for most, least in ((seconds, sys.maxsize), (seconds + MOST_MORE_SECONDS, LEAST)):
            while time.monotonic() - began < most and min(len(of.acknowledged) for of in writers.values()) < least:
                time.sleep(0.05)
        open(stop, "w").close()
        for writer in writers.values():
            writer.join()
            writer.process.wait()
    base = sqlite3.connect(path)
    (integrity,) = base.execute("PRAGMA integrity_check").fetchone()
    (number,) = base.execute("SELECT number FROM counts").fetchone()
    copies = [name for name in glob.glob(os.path.join(shared, "rows (conflict*.db"))]
    inside = keys_in(path)
    anywhere = inside.union(*map(keys_in, copies))
    wanted = {f"{name} {i}" for name, of in writers.items() for i in of.acknowledged}
    print(
        json.dumps(
            {
                "integrity": integrity,
                "lost": len(wanted - anywhere),
                "aside": len(wanted - inside),
                "copies": len(copies),
                "counted": number == len(inside),
                **{name: len(of.acknowledged) for name, of in writers.items()},
                "refused": {name: of.counts.get("refused") for name, of in writers.items()},
                "longest": {name: of.counts.get("longest") for name, of in writers.items()},
            }
        )
    )


if sys.argv[1] == "write":
    write(sys.argv[2], sys.argv[3], sys.argv[4])
else:
    both(sys.argv[1], sys.argv[2], float(sys.argv[3]))
