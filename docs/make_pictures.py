"""Makes the README's pictures from what groundplan really prints and draws: `python docs/make_pictures.py`.

Needs a font with box and block characters, such as DejaVu Sans Mono. Look at the pictures before you commit them.
"""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import vl_convert
from rich.console import Console
from rich.text import Text

DOCS = Path(__file__).parent
PICTURES = DOCS / "pictures"
WIDTH, HEIGHT = 100, 80  # of the terminal, in characters
FONT = "DejaVu Sans Mono"
GROUNDPLAN = Path(sys.executable).with_name("groundplan")

SHOWN = ("ask", "examples/sales.csv", "revenue by region in 2025")
DRAWN = ("ask", "examples/sales.csv", "get revenue totals by region and product type over time")
SVG = """\
<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: FONT; font-size: 21px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-family: FONT; font-size: 18px; font-weight: bold; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g>
</g>
</svg>
""".replace("FONT", FONT)  # rich's own names a font on another host


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        places = {"GROUNDPLAN_CACHE": f"{folder}/cache", "GROUNDPLAN_STATE": f"{folder}/state"}
        shown = typed(SHOWN) + settled(captured([GROUNDPLAN, *SHOWN], places))
        (PICTURES / "ask.png").write_bytes(packed(drawn(shown)))
        captured([GROUNDPLAN, *DRAWN, "--output", folder], places)
        (PICTURES / "chart.png").write_bytes(packed((Path(folder) / "chart.png").read_bytes()))
    for picture in sorted(PICTURES.glob("*.png")):
        print(f"{picture.relative_to(DOCS.parent)}: {picture.stat().st_size:,} bytes")


def typed(command: Sequence[str]) -> str:
    words = (f'"{word}"' if " " in word else word for word in command)
    return f"\x1b[2m$\x1b[0m \x1b[1mgroundplan {' '.join(words)}\x1b[0m\n"


def captured(command: Sequence[str | Path], places: dict[str, str]) -> str:
    """Everything that the command writes into a terminal of a fixed size."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, WIDTH, 0, 0))
    environment = {**os.environ, **places, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    process = subprocess.Popen(command, cwd=DOCS.parent, env=environment, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    text = b"".join(chunks(ours)).decode()
    if process.wait() != 0:
        raise SystemExit(f"{command[1]} failed, so there is nothing to draw:\n{text}")
    return text


def chunks(terminal: int) -> Iterator[bytes]:
    """Until the other side closes, which Linux reports as an error."""
    try:
        while chunk := os.read(terminal, 65536):
            yield chunk
    except OSError:
        return
    finally:
        os.close(terminal)


def settled(text: str) -> str:
    """What is left on the screen when the spinner has gone."""
    text = re.sub(r"\x1b\[\?25[lh]|\r", "", text)
    text = re.sub(r"[^\n]*\n\x1b\[1A\x1b\[2K", "", text)
    return re.sub(r"[^\n]*\x1b\[2K", "", text)


def drawn(text: str) -> bytes:
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    for line in Text.from_ansi(text).split("\n"):
        for part in line.divide(range(WIDTH, len(line), WIDTH)):  # a terminal breaks lines anywhere
            console.print(part, no_wrap=True)
    console.print()  # room below the last line, where its descenders would be cut
    picture = console.export_svg(title="groundplan", code_format=SVG)
    return vl_convert.svg_to_png(picture, scale=1.0)


def packed(png: bytes) -> bytes:
    """The same picture in a third of the bytes: the converter packs for speed."""
    parts = list(png_chunks(png))
    pixels = zlib.decompress(b"".join(body for kind, body in parts if kind == b"IDAT"))
    head, *_, end = parts
    return png[:8] + b"".join(png_chunk(*part) for part in (head, (b"IDAT", zlib.compress(pixels, 9)), end))


def png_chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    place = 8
    while place < len(png):
        (size,) = struct.unpack_from(">I", png, place)
        yield png[place + 4 : place + 8], png[place + 8 : place + 8 + size]
        place += size + 12


def png_chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


if __name__ == "__main__":
    main()
