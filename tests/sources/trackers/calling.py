"""Sources on their doubles, called as the runner would call them."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from tests.sources.trackers import data
from tests.sources.trackers.gitlab_double import GitLabDouble
from tests.sources.trackers.serving import Served
from tests.sources.trackers.youtrack_double import YouTrackDouble

from groundplan.catalog.catalog import Catalog
from groundplan.contracts.plan import Limits
from groundplan.contracts.tool import Tool
from groundplan.sources.gitlab.source import GitLab
from groundplan.sources.interface import Call, Result
from groundplan.sources.youtrack.source import YouTrack

Tracking = GitLab | YouTrack
T = TypeVar("T")


def gitlab_double(**settings: Any) -> GitLabDouble:
    return GitLabDouble(
        commits={"shop/web": data.commits("shop/web", 250, 1), "shop/api": data.commits("shop/api", 30, 2)},
        merge_requests={"shop/web": data.merge_requests("shop/web", 230, 3), "shop/api": []},
        token=data.TOKEN,
        **settings,
    )


def youtrack_double(**settings: Any) -> YouTrackDouble:
    held = [*data.issues("WEB", 243, 1), *data.issues("API", 43, 2), *data.issues("SECRET", 20, 3)]
    return YouTrackDouble(held, token=data.TOKEN, **settings)


def gitlab(served: Served, folder: Path, **settings: Any) -> GitLab:
    return GitLab.open(configured(served.url, folder, projects=["shop/web", "shop/api"], **settings))


def youtrack(served: Served, folder: Path, **settings: Any) -> YouTrack:
    return YouTrack.open(configured(served.url, folder, projects=["WEB", "API"], **settings))


def configured(url: str, folder: Path, **settings: Any) -> dict[str, Any]:
    token = folder / "token"
    token.write_text(f"{data.TOKEN}\n")
    return {"url": url, "token_file": str(token), **settings}


@cache
def tools() -> dict[str, Tool]:
    catalog = Catalog.load([*GitLab.tools(), *YouTrack.tools()])
    return {name: catalog.tools[name] for name in catalog.tools}


def ready(tool: str, params: dict[str, Any], seconds: float = 20, limits: Limits | None = None) -> Call:
    return Call("a_run", "a_step", tools()[tool], params, {}, limits or Limits(), seconds)


def call(source: Tracking, tool: str, seconds: float = 20, limits: Limits | None = None, **params: Any) -> Result:
    """One call, and then the source is closed."""
    return closing(source, source.call(ready(tool, params, seconds, limits)))


def closing(source: Tracking, work: Coroutine[Any, Any, T]) -> T:
    async def through() -> T:
        try:
            return await work
        finally:
            await source.close()

    return asyncio.run(through())


def column(result: Result, name: str) -> list[Any]:
    handle: Any = result.handle
    return list(handle.column(name).to_pylist())
