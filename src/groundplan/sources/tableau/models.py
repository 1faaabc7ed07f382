"""Tableau's responses: the fields we use are validated strictly; all others are ignored."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field, JsonValue

Luid = Annotated[str, Field(pattern=r"^[0-9A-Za-z-]{1,64}$")]
"""Part of a URL path, so it has no characters with a meaning there."""


class SiteOf(BaseModel):
    id: Luid


class Credentials(BaseModel):
    token: Annotated[str, Field(pattern=r"^[\x21-\x7e]{1,4096}$")] = Field(repr=False)  # characters valid in a header
    site: SiteOf


class SignedIn(BaseModel):
    credentials: Credentials


class Published(BaseModel):
    """A published data source; queries refer to it by id."""

    id: Luid
    name: Annotated[str, Field(min_length=1)]
    description: str = ""


class One(BaseModel):
    datasource: Published


class Several(BaseModel):
    datasource: list[Published] = []  # absent when there is none


class Pagination(BaseModel):
    total: str = Field(alias="totalAvailable", pattern=r"^\d{1,9}$")


class Page(BaseModel):
    pagination: Pagination
    datasources: Several


class FieldMetadata(BaseModel):
    """The metadata of a field. Unknown words of newer servers are not an error."""

    caption: str = Field(default="", alias="fieldCaption")
    type: str = Field(default="UNKNOWN", alias="dataType")
    role: str = Field(default="UNKNOWN", alias="fieldRole")
    hidden: bool = False
    aggregation: str = Field(default="", alias="defaultAggregation")
    class_: str = Field(default="COLUMN", alias="columnClass")
    formula: str = ""
    description: str = ""


class Fields(BaseModel):
    data: list[FieldMetadata]


class Rows(BaseModel):
    """`error` is possible even with status 200."""

    data: list[dict[str, JsonValue]] | None = None
    error: dict[str, JsonValue] | None = None
