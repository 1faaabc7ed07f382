"""A shop with a GitLab and a YouTrack on loopback, asked from the command line and from Python."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from groundplan.contracts.answer import Answer, Outcome
from groundplan.interfaces.cli.main import app
from groundplan.project import AsyncProject, Project
from groundplan.settings import trust_folder
from tests.sources.trackers import data
from tests.sources.trackers.calling import gitlab_double, youtrack_double
from tests.sources.trackers.serving import Served, serving

TODAY = date(2026, 3, 10)  # a Tuesday: last week is 2 to 8 March
PROJECTS = {"gitlab": {"web": "shop/web", "api": "shop/api"}, "youtrack": {"web": "WEB", "api": "API"}}


@dataclass
class Shop:
    folder: Path  # with a groundplan.toml
    gitlab: Served
    youtrack: Served
    limits: dict[str, float] = field(default_factory=dict)

    @property
    def settings(self) -> dict[str, dict[str, Any]]:
        token = {"token_file": str(self.folder / "token")}
        servers = {"gitlab": self.gitlab.url, "youtrack": self.youtrack.url}
        return {name: {"url": url, "projects": PROJECTS[name], **token, **self.limits} for name, url in servers.items()}

    @property
    def servers(self) -> tuple[Served, Served]:
        return self.gitlab, self.youtrack

    def calm(self) -> None:
        """As if nobody had asked yet, and nothing went wrong."""
        for served in self.servers:
            served.fault, served.fails, served.slow, served.last = None, lambda _: True, 0.0, None
            served.before = lambda _: None
            served.requests.clear()

    def asked(self, question: str, *options: str) -> dict[str, Any]:
        """The JSON document that the command line prints."""
        document: dict[str, Any] = json.loads(self.said(question, "--json", *options))
        return document

    def said(self, question: str, *options: str) -> str:
        """What the command line prints, from inside the folder."""
        done = CliRunner().invoke(app, ["ask", question, "--today", TODAY.isoformat(), *options])
        assert done.exception is None, done.output
        return done.stdout

    def write(self) -> None:
        self.folder.joinpath("token").write_text(f"{data.TOKEN}\n")
        text = "".join(
            f"[sources.{name}]\n" + _toml({**settings, "token_file": "token"})
            for name, settings in self.settings.items()
        )
        self.folder.joinpath("groundplan.toml").write_text(text, encoding="utf-8")
        trust_folder(self.folder)


@contextmanager
def shop(folder: Path, gitlab: Any = None, youtrack: Any = None, **limits: float) -> Iterator[Shop]:
    """Both servers with what `tests.sources.trackers` holds, unless others are given; settings are written down."""
    with serving(gitlab or gitlab_double()) as one, serving(youtrack or youtrack_double()) as other:
        opened = Shop(folder, one, other, limits)
        opened.write()
        yield opened


def ask(project: Project, question: str, **options: Any) -> Outcome:
    return project.ask(question, today=TODAY, **options).outcome


def answered(outcome: Outcome) -> Answer:
    assert isinstance(outcome, Answer), outcome.text
    return outcome


def listed(document: dict[str, Any]) -> dict[str, tuple[int, list[str]]]:
    """By the title of a group: how many there are, and the titles that are shown."""
    return {g["title"]: (g["count"], [item["title"] for item in g["items"]]) for g in document["facts"]["groups"]}


def described() -> AsyncProject:
    """The same projects with nobody at the other end: enough to read, plan and check."""
    settings = {
        name: {"url": "https://tracker.example.org", "projects": projects} for name, projects in PROJECTS.items()
    }

    async def opened() -> AsyncProject:
        project = await AsyncProject.open(settings)
        await project.close()
        return project

    return asyncio.run(opened())


def _toml(settings: dict[str, Any]) -> str:
    return "".join(f"{name} = {_value(value)}\n" for name, value in settings.items())


def _value(value: Any) -> str:
    if not isinstance(value, dict):
        return json.dumps(value)
    return "{" + ", ".join(f"{name} = {json.dumps(own)}" for name, own in value.items()) + "}"
