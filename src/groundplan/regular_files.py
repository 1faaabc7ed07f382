"""Files where strangers may have put something: regular files are read, up to a size, and links are not written to."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from pathlib import Path

from groundplan.budget import Budget


def write_regular(path: Path, content: str | bytes) -> None:
    """Write the file, or put it in place of the one of this name; what a link of this name points at stays as it is."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    with part.open("xb") as file:  # nothing is there, not even a link
        file.write(content.encode() if isinstance(content, str) else content)
    part.replace(path)


def read_regular(path: Path, most: int) -> bytes:
    """The content; raises TooMuch if it is larger, and OSError for a device or a pipe, also behind a link."""
    opened = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    with os.fdopen(opened, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        content = file.read(most + 1)
    Budget(f"{path}: it", "split it, or leave out what is not needed", bytes=most).refuse_above("bytes", len(content))
    return content
