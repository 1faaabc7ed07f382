"""What Tableau sends: strict in the fields we use, blind to all others, formulas and descriptions included."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field, JsonValue

Luid = Annotated[str, Field(pattern=r"^[0-9A-Za-z-]{1,64}$")]
"""Goes into a path, so it holds nothing that means something there."""


class SiteOf(BaseModel):
    id: Luid


class Credentials(BaseModel):
    token: Annotated[str, Field(pattern=r"^[\x21-\x7e]{1,4096}$")] = Field(repr=False)  # what a header can hold
    site: SiteOf


class SignedIn(BaseModel):
    credentials: Credentials


class Published(BaseModel):
    """A data source: its id is what queries name it by."""

    id: Luid
    name: Annotated[str, Field(min_length=1)]


class One(BaseModel):
    datasource: Published


class Several(BaseModel):
    datasource: list[Published] = []  # absent when there is none


class Pagination(BaseModel):
    total: str = Field(alias="totalAvailable", pattern=r"^\d{1,9}$")


class Page(BaseModel):
    pagination: Pagination
    datasources: Several


class Described(BaseModel):
    """A field. Words of newer servers that we do not know count as unknown, not as faults."""

    caption: str = Field(default="", alias="fieldCaption")
    type: str = Field(default="UNKNOWN", alias="dataType")
    role: str = Field(default="UNKNOWN", alias="fieldRole")
    hidden: bool = False


class Metadata(BaseModel):
    data: list[Described]


class Rows(BaseModel):
    """`error` may come with status 200."""

    data: list[dict[str, JsonValue]] | None = None
    error: dict[str, JsonValue] | None = None
