"""Reads files that strangers may have put there: regular files only, and no more bytes than allowed."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from groundplan.budget import Budget


def read_regular(path: Path, most: int) -> bytes:
    """The content; raises TooMuch if it is larger, and OSError for a device or a pipe, also behind a link."""
    opened = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    with os.fdopen(opened, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        content = file.read(most + 1)
    Budget(f"{path}: it", "split it, or leave out what is not needed", bytes=most).refuse_above("bytes", len(content))
    return content
