"""The addresses to which a browser goes to sign in: /sign-in leads to the issuer, and the issuer back to the callback.

Both are for people, so what goes wrong is a page.
"""

from __future__ import annotations

import html
import logging
import re
import secrets
from collections.abc import Mapping

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from groundplan.errors import GroundplanError
from groundplan.service.browser_sessions import SIGN_IN, BrowserSessions
from groundplan.service.code_flow import CALLBACK, CodeFlow, Pending, SignInFailed
from groundplan.service.oidc import TokenRefused
from groundplan.service.pages import PAGES, policy

COOKIE = "groundplan-sign-in"
SECONDS = 600.0  # to sign in at the issuer
RUN_PAGE = re.compile(r"/runs/[0-9a-f]{24}")
PENDING = re.compile(r"([\w-]{43})\.([\w-]{43})\.([\w-]{43})\.([\w/]{1,64})", re.ASCII)
STATUS = {"expired": 400, "declined": 403, "refused": 403, "unavailable": 503}

PAGE = """<!doctype html>
<html lang="{language}"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · groundplan</title>
<style nonce="{nonce}">
:root {{ color-scheme: light dark; --paper: #f7f6f3; --card: #fff; --ink: #1a1d1c; --quiet: #565b58; --line: #e2dfd8;
  --accent: #0b6e66; --on: #fff }}
@media (prefers-color-scheme: dark) {{ :root {{ --paper: #131514; --card: #1b1e1c; --ink: #e9ebe8; --quiet: #a7ada9;
  --line: #2c312e; --accent: #63cdbf; --on: #04211d }} }}
body {{ margin: 12vh 1rem; background: var(--paper); color: var(--ink); font: 15px/1.55 system-ui, sans-serif }}
main {{ max-width: 24.5rem; margin: auto; padding: 1.75rem; background: var(--card); border: 1px solid var(--line);
  border-radius: 12px }}
h1 {{ margin: 0; font-size: 1.375rem }}
small {{ color: var(--quiet) }}
a {{ display: block; padding: .5rem 1rem; border-radius: 8px; background: var(--accent); color: var(--on);
  font-weight: 600; text-align: center; text-decoration: none }}
</style>
<main><h1>{title}</h1><p>{advice}</p><p><small>{details}: {why}</small></p><a href="{again}">{link}</a></main>
</html>
"""
TITLE = {"en": "You are not signed in", "ru": "Войти не удалось"}
DETAILS = {"en": "For whoever runs the service", "ru": "Для того, кто ведёт сервис"}
AGAIN = {"en": "Back to groundplan", "ru": "Вернуться в groundplan"}
ADVICE: Mapping[str, Mapping[str, str]] = {
    "en": {
        "expired": "This sign-in took too long, or another one was begun in this browser. Go back and sign in again.",
        "declined": "The sign-in was not completed. Go back and sign in again.",
        "refused": "Your account may not use this service, or the service is not set up for it. Ask whoever runs it.",
        "unavailable": "The sign-in cannot be completed now. Wait a little and try again.",
    },
    "ru": {
        "expired": "Вход длился слишком долго, или в этом браузере начат другой. Вернитесь и войдите снова.",
        "declined": "Вход не завершён. Вернитесь и войдите снова.",
        "refused": "Вашей учётной записи этот сервис недоступен, или он не настроен. Спросите того, кто ведёт сервис.",
        "unavailable": "Сейчас войти нельзя. Подождите немного и попробуйте снова.",
    },
}

log = logging.getLogger("groundplan.oidc")


def local_page(path: str) -> str:
    """The page itself if it is one of ours, else the first: nobody is led elsewhere."""
    return path if path in PAGES or RUN_PAGE.fullmatch(path) else "/"


def add_sign_in(app: FastAPI, flow: CodeFlow, sessions: BrowserSessions) -> None:
    @app.get(SIGN_IN, include_in_schema=False)
    async def sign_in(request: Request) -> Response:
        page = local_page(request.query_params.get("next", "/"))
        try:
            pending, address = await flow.begin(page)
        except GroundplanError as error:
            return _failed(request, error, page)
        reply = _redirect(address)
        sessions.put(reply, COOKIE, ".".join(pending), SECONDS)
        return reply

    @app.get(CALLBACK, include_in_schema=False)
    async def callback(request: Request) -> Response:
        pending = _pending(request.cookies.get(sessions.cookie(COOKIE), ""))
        page = pending.page if pending else "/"
        try:
            session = await flow.finish(pending, request.query_params)
            reply: Response = _redirect(page)
            await sessions.start(request, reply, session)
        except GroundplanError as error:
            reply = _failed(request, error, page)
            if isinstance(error, SignInFailed) and error.kind == "expired":
                return reply  # the cookie may be of a sign-in in another tab
        sessions.put(reply, COOKIE, "", 0)
        return reply


def _pending(kept: str) -> Pending | None:
    """What the cookie holds. It is the browser's own, so its page is looked at again."""
    found = PENDING.fullmatch(kept)
    return Pending(found[1], found[2], found[3], local_page(found[4])) if found else None


def _redirect(address: str) -> Response:
    return RedirectResponse(address, 302, {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"})


def _kind(error: GroundplanError) -> str:
    if isinstance(error, SignInFailed):
        return error.kind
    return "refused" if isinstance(error, TokenRefused) else "unavailable"


def _failed(request: Request, error: GroundplanError, page: str) -> Response:
    kind = _kind(error)
    log.warning("a sign-in failed: %s", error)
    language = "ru" if request.headers.get("accept-language", "").lower().startswith("ru") else "en"
    nonce = secrets.token_urlsafe(16)
    text = PAGE.format(
        language=language,
        nonce=nonce,
        title=TITLE[language],
        advice=ADVICE[language][kind],
        details=DETAILS[language],
        why=html.escape(str(error)),
        again=html.escape(page),
        link=AGAIN[language],
    )
    return HTMLResponse(text, STATUS[kind], {**policy(nonce), "Cache-Control": "no-store"})
