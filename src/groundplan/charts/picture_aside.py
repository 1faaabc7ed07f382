"""Draws a chart as PNG and SVG, as the child process of `groundplan.charts.picture`.

The drawing library ends its process if it runs out of memory. So it is not the process of the caller.
"""

from __future__ import annotations

import json
import sys
from base64 import b64encode
from typing import Any

from groundplan.child_process import REFUSED, limit_this_process

MOST_MEMORY = 2_000_000_000  # 600 MB of it are set aside before anything is drawn
MOST_PROCESSOR_SECONDS = 120


def drawn(spec: dict[str, Any], format_: str, scale: float) -> bytes:
    """Raises ValueError if the spec cannot be drawn; the error may quote data."""
    import vl_convert

    if format_ == "svg":
        return str(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])).encode()
    return bytes(vl_convert.vegalite_to_png(spec, scale=scale, allowed_base_urls=[]))


def main() -> int:
    """Reads {spec, formats, scale} and writes the pictures by format, in base64."""
    limit_this_process(MOST_MEMORY, MOST_PROCESSOR_SECONDS, "RLIMIT_DATA")
    wanted = json.load(sys.stdin.buffer)
    try:
        pictures = {name: drawn(wanted["spec"], name, wanted["scale"]) for name in wanted["formats"]}
    except ValueError:
        return REFUSED
    json.dump({name: b64encode(picture).decode() for name, picture in pictures.items()}, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
