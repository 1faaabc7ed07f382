"""YouTrack's responses: the fields we request are validated strictly, others are ignored."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field, JsonValue

from groundplan.sources.http.listing import Columns, Row, Wording
from groundplan.sources.http.params import Period

ISSUES: Columns = {
    "project": "text",
    "id": "text",
    "title": "text",
    "status": "text",
    "state": "text",
    "assignee": "text",
    "reporter": "text",
    "priority": "text",
    "type": "text",
    "created_at": "time",
    "updated_at": "time",
    "resolved_at": "time",
    "link": "text",
}
CALLED: Wording = {
    "status": {
        "open": ("open", "outstanding", "unresolved", "unclosed", "открытый", "незакрытый", "нерешённый"),
        "resolved": ("resolved", "closed", "fixed", "completed", "решённый", "закрытый", "завершённый", "исправленный"),
    }
}
CUSTOM = {"State": "state", "Assignee": "assignee", "Priority": "priority", "Type": "type"}
FIELDS = (
    "id,idReadable,summary,created,updated,resolved,project(shortName),reporter(login,fullName),"
    "customFields(name,value(name,login,fullName))"
)
Milliseconds = Annotated[int, Field(ge=0, lt=253_402_300_800_000)]  # up to the year 9999
By = Literal["created", "updated", "resolved"]


class Place(BaseModel):
    shortName: str  # noqa: N815 - YouTrack's own name


class Person(BaseModel):
    login: str
    fullName: str | None = None  # noqa: N815

    @property
    def name(self) -> str:
        return self.fullName or self.login


class Custom(BaseModel):
    name: str
    value: JsonValue = None


class YouTrackIssue(BaseModel):
    id: str
    idReadable: Annotated[str, Field(pattern=r"^\w+-\d+$")]  # noqa: N815
    summary: str
    created: Milliseconds
    updated: Milliseconds
    resolved: Milliseconds | None = None
    project: Place
    reporter: Person | None = None
    customFields: list[Custom] = []  # noqa: N815

    @property
    def status(self) -> Literal["open", "resolved"]:
        return "open" if self.resolved is None else "resolved"

    def moment(self, by: By) -> datetime | None:
        stamp = {"created": self.created, "updated": self.updated, "resolved": self.resolved}[by]
        return None if stamp is None else _at(stamp)

    def row(self, project: str, url: str, period: Period) -> Row:
        custom = {CUSTOM[field.name]: _text(field.value) for field in self.customFields if field.name in CUSTOM}
        reporter = self.reporter.name if self.reporter else ""
        link = f"{url}/issue/{self.idReadable}"
        cells = {
            "project": project,
            "id": self.idReadable,
            "title": self.summary,
            "status": self.status,
            **custom,
            "reporter": reporter,
            **{f"{by}_at": period.local(self.moment(by)) for by in ("created", "updated", "resolved")},
            "link": link,
        }
        return Row(self.idReadable, "issue", self.summary, reporter, _at(self.created), link, cells)


def _text(value: JsonValue) -> str | None:
    """The text of a custom field: an object with a name, a list of them, a plain value, or none."""
    match value:
        case None:
            return None
        case list():
            return ", ".join(filter(None, map(_text, value))) or None
        case Mapping():
            names = (value.get(key) for key in ("fullName", "name", "login"))
            return next((name for name in names if isinstance(name, str) and name), None)
        case _:
            return str(value)


def _at(stamp: int) -> datetime:
    return datetime.fromtimestamp(stamp / 1000, UTC)
