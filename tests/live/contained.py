#!/usr/bin/env python3
"""contained.py COMMAND...: becomes it, as root of a container is: with 65,536 users, whom the machine knows as 100,000 and those behind it, and mounts of its own. Root
calls it."""
import ctypes
import os
import sys

CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000

libc = ctypes.CDLL(None, use_errno=True)
begun, mapped = os.pipe(), os.pipe()
if os.fork() == 0:  # who stays outside gives it its users
    os.close(begun[1])
    if os.read(begun[0], 1):
        for name in ("uid_map", "gid_map"):
            with open(f"/proc/{os.getppid()}/{name}", "w") as file:
                file.write("0 100000 65536")
        os.write(mapped[1], b"x")
    os._exit(0)
os.close(mapped[1])
if libc.unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0:
    sys.exit("no user namespace")
os.write(begun[1], b"x")
if not os.read(mapped[0], 1):
    sys.exit("no users")
os.wait()
os.setgroups([])
os.setresgid(0, 0, 0)
os.setresuid(0, 0, 0)
os.execvp(sys.argv[1], sys.argv[1:])
