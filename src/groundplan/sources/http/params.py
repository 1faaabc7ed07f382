"""Typed params of tracker tools, with a period that is exact in its time zone."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from typing import Annotated, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, Field, JsonValue, ValidationError, model_validator

from groundplan.contracts.contract import Contract, Name
from groundplan.errors import ToolError


def _printable(text: str) -> str:
    if not text.isprintable() or not text.strip():
        raise ValueError("write plain text on one line")
    return text.strip()


Value = Annotated[str, Field(min_length=1, max_length=128), AfterValidator(_printable)]


class Period(Contract):
    """Half-open: the day `since` is included, the day `until` is not."""

    since: date | None = None
    until: date | None = None
    timezone: str = "UTC"

    @model_validator(mode="after")
    def _is_a_period(self) -> Period:
        try:
            ZoneInfo(self.timezone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ValueError("there is no such time zone; write one such as Europe/Berlin or UTC") from None
        if self.since and self.until and self.since >= self.until:
            raise ValueError("the period is empty: `until` is the day after the last day")
        return self

    @property
    def start(self) -> datetime | None:
        return self._midnight(self.since)

    @property
    def end(self) -> datetime | None:
        return self._midnight(self.until)

    def holds(self, moment: datetime | None) -> bool:
        """Whether the moment is in the period. None, for an event that did not happen, is only in an unlimited one."""
        if moment is None:
            return self.start is None and self.end is None
        return (self.start is None or self.start <= moment) and (self.end is None or moment < self.end)

    def local(self, moment: datetime | None) -> datetime | None:
        """The local time in the period's zone, without offset, so that days and weeks begin at local midnight."""
        return None if moment is None else moment.astimezone(ZoneInfo(self.timezone)).replace(tzinfo=None)

    def _midnight(self, day: date | None) -> datetime | None:
        return None if day is None else datetime.combine(day, time(), ZoneInfo(self.timezone)).astimezone(UTC)


class ListParams(Period):
    """The params that all lists share. At most `limit` rows are returned, newest first."""

    projects: tuple[Name, ...] = ()
    limit: Annotated[int, Field(ge=1, le=100_000)] = 10_000
    author_name: Value | None = None
    assignee_name: Value | None = None
    reporter_name: Value | None = None

    def names(self, cells: Mapping[str, object]) -> bool:
        """True if the row shows the people asked for: each text is part of a name, in any case."""
        asked = {"author": self.author_name, "assignee": self.assignee_name, "reporter": self.reporter_name}
        return all(text.casefold() in str(cells[column] or "").casefold() for column, text in asked.items() if text)


Params = TypeVar("Params", bound=ListParams)


def read_params(model: type[Params], tool: str, params: Mapping[str, JsonValue]) -> Params:
    """The params of a checked step; also checks what a JSON schema cannot express."""
    try:
        return model.model_validate(dict(params))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    raise ToolError(f"{tool}: {place}: {first['msg'].removeprefix('Value error, ')}".replace(": : ", ": "))
