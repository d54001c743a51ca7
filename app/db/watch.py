"""The process that stops the embedded server once its last user is gone, however that user ended. Nothing else.

A program of its own, run as `python watch.py USERS_LOCK WATCH_FD UID GID COMMAND…`; it imports the standard library
only, so that it stays small and can't fail on the rest. It goes to the background, waits until no process holds the
lock of the users (the kernel takes it from a killed process), and runs the command that stops the server.
"""

import fcntl
import os
import subprocess
import sys


def main(users_lock: str, watch_fd: int, uid: int, gid: int, command: list[str]) -> None:
    """`watch_fd` comes locked from the starter: as long as we hold it, no second watcher is started."""
    if os.fork():
        os._exit(0)  # the starter waits for this one only
    os.setsid()  # Ctrl-C in the terminal ends Muster, and must not end us
    users = os.open(users_lock, os.O_RDWR)
    fcntl.flock(users, fcntl.LOCK_EX)
    # While we hold it, a process that wants to start waits, so none gets a server that is about to stop.
    root = os.geteuid() == 0
    subprocess.run(  # noqa: S603 - the starter's own command, no shell
        command,
        user=uid if root else None,
        group=gid if root else None,
        extra_groups=[] if root else None,
        cwd="/",
        check=False,
    )
    # In this order, so that the next process with the users' lock finds no watcher.
    os.close(watch_fd)
    os.close(users)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5:])
