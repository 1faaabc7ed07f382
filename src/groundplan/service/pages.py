"""Serves the browser interface: the files that `web/` is built into, and a page for each of its addresses.

The pages hold no data, so they need no key, and a link to one may be followed from anywhere. Their scripts ask the
service, with the key that the user typed.
"""

from __future__ import annotations

import gzip
import secrets
from functools import lru_cache
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response
from starlette.exceptions import HTTPException

BUILT = Path(__file__).parent / "web"
PAGES = ("/", "/runs", "/sources", "/rollout")
NONCE = "__STYLE_NONCE__"
FOREVER = "public, max-age=31536000, immutable"
UNHASHED = ("icon.svg", "scheme.js")
TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".woff2": "font/woff2"}

NOT_BUILT = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>groundplan</title>
<h1>The browser interface is not built</h1>
<p>The service runs, and answers over HTTP. This copy of groundplan was installed from source without Node.js.
To build its pages, run this in the source folder and reload:</p>
<pre>npm --prefix web ci
npm --prefix web run build</pre>
</html>
"""


def is_page(path: str) -> bool:
    """Whether a path is of the interface: one of its addresses, or one of its files."""
    run, _, rest = path.removeprefix("/runs/").partition("/")
    return path in PAGES or path.startswith("/assets/") or (path.startswith("/runs/") and bool(run) and not rest)


def add_pages(app: FastAPI, built: Path = BUILT) -> None:
    async def page() -> Response:
        nonce = secrets.token_urlsafe(16)
        index = built / "index.html"
        text = index.read_text(encoding="utf-8").replace(NONCE, nonce) if index.is_file() else NOT_BUILT
        return HTMLResponse(text, headers={**policy(nonce), "Cache-Control": "no-store"})

    async def file(name: str, request: Request) -> Response:
        found = built / "assets" / name
        if found.parent != built / "assets" or found.suffix not in TYPES or not found.is_file():
            raise HTTPException(404, "Not Found")
        headers = {
            "Cache-Control": "no-cache" if name in UNHASHED else FOREVER,
            "Vary": "Accept-Encoding",
            "X-Content-Type-Options": "nosniff",
        }
        content = found.read_bytes()
        if found.suffix != ".woff2" and "gzip" in request.headers.get("accept-encoding", ""):
            content, headers["Content-Encoding"] = _zipped(content), "gzip"
        return Response(content, media_type=TYPES[found.suffix], headers=headers)

    for path in (*PAGES, "/runs/{id}"):
        app.add_api_route(path, page, methods=["GET", "HEAD"], include_in_schema=False)
    app.add_api_route("/assets/{name:path}", file, methods=["GET", "HEAD"], include_in_schema=False)


@lru_cache(maxsize=64)
def _zipped(content: bytes) -> bytes:
    return gzip.compress(content, 9, mtime=0)


def policy(nonce: str) -> dict[str, str]:
    """Nothing from elsewhere, no inline script, no eval. Mantine writes its theme into style elements: the nonce's."""
    rules = (
        "default-src 'self'",
        f"style-src 'self' 'nonce-{nonce}'",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
    return {
        "Content-Security-Policy": "; ".join(rules),
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
    }
