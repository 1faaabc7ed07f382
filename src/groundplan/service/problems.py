"""Errors as RFC 9457 problems, with the code of an `Issue`."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from groundplan.errors import Crashed, GroundplanError, StoreUnavailable, TransientError, UsageError
from groundplan.state.column_settings import NoSuchColumn, UnfitSetting
from groundplan.state.keys import NoSuchKey
from groundplan.state.runs import Conflict, NoSuchRun, TooMany
from groundplan.state.uploads import NoRoom, NoSuchUpload, Unreadable

TITLES = {
    400: "The request is wrong",
    401: "A key or a sign-in is needed",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    408: "The request came too slowly",
    409: "Not possible in this state",
    413: "The request is too large",
    421: "Wrong host",
    422: "The request is wrong",
    429: "Too many requests or runs",
    500: "A fault in groundplan",
    502: "Something outside failed",
    503: "Not available now",
}


class ForeignOrigin(GroundplanError):
    """A browser sent this for the page of another site."""


class MayNotChange(GroundplanError):
    """The caller may ask, and neither approve nor change what others read."""


class Problem(BaseModel):
    """RFC 9457."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    code: str  # stable, such as `service/conflict`
    field: str = ""  # the part of the body that is wrong, such as `called.0`


def problem(
    status: int, code: str, detail: str, headers: dict[str, str] | None = None, field: str = ""
) -> JSONResponse:
    title = TITLES.get(status, "Error")
    said = Problem(title=title, status=status, detail=detail, code=f"service/{code}", field=field)
    return JSONResponse(said.model_dump(), status, headers, media_type="application/problem+json")


def of_error(error: GroundplanError) -> JSONResponse:
    match error:
        case NoSuchRun() | NoSuchKey() | NoSuchUpload() | NoSuchColumn():
            return problem(404, "not-found", str(error))
        case Conflict():
            return problem(409, "conflict", str(error))
        case Unreadable():
            return problem(422, "unreadable", str(error))
        case NoRoom():
            return problem(409, "no-room", str(error))
        case TooMany():
            return problem(429, "too-many-runs", str(error), {"Retry-After": "5"})
        case MayNotChange():
            return problem(403, "role", str(error))
        case ForeignOrigin():
            return problem(403, "origin", str(error))
        case UnfitSetting():
            return problem(422, "unfit", str(error), field=error.field)
        case UsageError():
            return problem(422, "usage", str(error))
        case StoreUnavailable() | TransientError():
            return problem(503, "unavailable", str(error), {"Retry-After": "1"})
        case Crashed():
            return problem(500, "crashed", str(error))
        case _:
            return problem(502, "world", str(error))


def add_handlers(app: FastAPI) -> None:
    @app.exception_handler(GroundplanError)
    async def typed(_: Request, error: Any) -> JSONResponse:
        return of_error(error)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: Any) -> JSONResponse:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        said = f"{place}: {first['msg'].removeprefix('Value error, ')}"[:500].encode("utf-8", "replace").decode()
        return problem(422, "invalid", said, field=place.removeprefix("body."))

    @app.exception_handler(HTTPException)
    async def known(_: Request, error: Any) -> JSONResponse:
        codes = {404: "not-found", 405: "method"}
        return problem(error.status_code, codes.get(error.status_code, "http"), str(error.detail), error.headers)

    @app.exception_handler(Exception)
    async def unknown(_: Request, error: Any) -> JSONResponse:
        return of_error(Crashed.by(error))
