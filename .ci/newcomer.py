"""A newcomer's path: the commands of README.md as they stand, in order, at a terminal, with the groundplan on the PATH.

    newcomer.py CLONE FOLDER    runs in FOLDER, with the examples of CLONE beside

Each must exit with 0 and print what README shows below it. Each block begins in FOLDER. A person's part is typed: what
stands behind `> ` and `[y/N]: `, and yes to `groundplan trust`.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ASKED = re.compile(r"(.*\[y/N\]:) *(.+)")
INSTALL = re.compile(r"pip install [^&#]*(?:&& )?")
ELSEWHERE = "groundplan[llm]"  # needs a model
PORT = 8000  # that README names; a free one stands for it
COLUMNS, SECONDS, STARTING = 250, 240.0, 120.0
END_OF_INPUT = b"\x04"


@dataclass
class Command:
    """What is typed at the prompt, what is typed afterwards, and what README shows."""

    line: str
    typed: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)


def main(clone: Path, folder: Path) -> None:
    folder.mkdir(parents=True)
    shutil.copytree(clone / "examples", folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(clone / "examples" / "sales.csv", folder)
    os.environ.update(COLUMNS=str(COLUMNS), BROWSER="true", GROUNDPLAN_STATE=str(folder / "state"))
    ran, begun = 0, time.monotonic()
    for kind, block in BLOCK.findall((clone / "README.md").read_text(encoding="utf-8")):
        if kind == "python":
            done = subprocess.run([sys.executable, "-c", block], cwd=folder, capture_output=True, text=True)
            require(done.returncode == 0, "the lines of Python", done.stdout + done.stderr)
            require((folder / "revenue.png").is_file(), "the lines of Python", "revenue.png was not saved")
        elif ELSEWHERE not in block:
            ran += run_block(block, folder)
    require(ran > 10, "README.md", f"only {ran} commands were found")
    print(f"README.md: {ran} commands and the lines of Python, {time.monotonic() - begun:.0f} s")


def run_block(block: str, folder: Path) -> int:
    """The number of commands that were run."""
    here, ran = folder, 0
    with serving() as port:
        for command in commands_of(block):
            line = INSTALL.sub("", command.line).partition("  #")[0].strip().replace(f":{PORT}", f":{port.number}")
            if line.startswith("cd "):
                here = folder / line.removeprefix("cd ")
            elif line.startswith("groundplan serve"):
                port.serve(line, here)
                ran += 1
            elif line and not (line.startswith("curl ") and shutil.which("curl") is None):
                check(command, *at_terminal(line, command.typed, here))
                ran += 1
    return ran


def commands_of(block: str) -> Iterator[Command]:
    command = None
    for line in block.splitlines():
        if line.startswith("$ "):
            if command:
                yield command
            command = Command(line[2:], ["y"] if line.startswith("$ groundplan trust") else [])
        elif command and line.startswith("> "):
            command.typed.append(line[2:])
        elif command and (asked := ASKED.fullmatch(line)):
            command.shown.append(asked[1])
            command.typed.append(asked[2])
        elif command and line:
            command.shown.append(line)
    if command:
        yield command


def check(command: Command, code: int, printed: str) -> None:
    require(code == 0, command.line, f"exit code {code}\n{printed}")
    for line in command.shown:
        require(plain(line) in plain(printed), command.line, f"README shows: {line}\nit printed:\n{printed}")


def require(holds: bool, what: str, fault: str) -> None:
    if not holds:
        sys.exit(f"README.md: {what}\n{fault}")


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)).strip()


def at_terminal(line: str, typed: list[str], folder: Path) -> tuple[int, str]:
    """The exit code and what the terminal showed. What is typed waits until it is asked for; then comes Ctrl-D."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    done = subprocess.Popen(["bash", "-c", line], cwd=folder, start_new_session=True, **streams)
    os.close(theirs)
    os.write(ours, "".join(f"{words}\n" for words in typed).encode())
    shown, until = b"", time.monotonic() + SECONDS
    with suppress(OSError):  # that of Linux at the end
        while time.monotonic() < until:
            if select.select([ours], [], [], 1.0)[0]:
                shown += os.read(ours, 65_536)
            else:
                os.write(ours, END_OF_INPUT)
    if done.poll() is None and time.monotonic() >= until:
        os.killpg(done.pid, signal.SIGKILL)
    code = done.wait()
    os.close(ours)
    return code, shown.decode("utf-8", "replace")


class Serving:
    """A service of README on a free port."""

    def __init__(self) -> None:
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.number = found.getsockname()[1]
        self.process: subprocess.Popen[bytes] | None = None

    def serve(self, line: str, folder: Path) -> None:
        self.process = subprocess.Popen(["bash", "-c", f"exec {line} --port {self.number}"], cwd=folder)
        until = time.monotonic() + STARTING
        while not self._shows_a_page():
            require(self.process.poll() is None and time.monotonic() < until, line, "no page was served")
            time.sleep(0.2)

    def _shows_a_page(self) -> bool:
        with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{self.number}/") as page:
            return b"<html" in page.read()
        return False


@contextmanager
def serving() -> Iterator[Serving]:
    service = Serving()
    try:
        yield service
    finally:
        if service.process:
            service.process.terminate()
            service.process.wait(STARTING)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
