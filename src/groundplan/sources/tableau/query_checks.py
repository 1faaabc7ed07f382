"""Final checks of a plan's query before it is sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from pydantic import JsonValue, ValidationError

from groundplan.contracts.contract import thaw
from groundplan.contracts.query import Query, output_name
from groundplan.contracts.schema import Table
from groundplan.errors import ToolError


def read_query(given: JsonValue) -> Query:
    """The validated query; its wire form must equal what the plan says."""
    plain = thaw(given)
    try:
        query = Query.model_validate(plain)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, ("query", *first["loc"])))
        raise ToolError(f"{place}: {first['msg'].removeprefix('Value error, ')}") from None
    if any(key == "calculation" for key, _ in _strings(plain)):
        raise ToolError("query: it contains a formula; name a calculated field of the data source instead")
    if query.wire() != plain:
        raise ToolError("query: it would be sent differently than planned; write every value in its own type")
    return query


def refuse_unknown(query: Query, table: Table) -> None:
    """Every caption must name a visible field, and column names must be unique."""
    names = [output_name(item) for item in query.fields]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ToolError(f"two columns of the query are called {twice[0]!r}; give one of them a fieldAlias")
    for key, value in _strings(query.wire()):
        if key == "fieldCaption" and table.find(value) is None:
            near = get_close_matches(value, [column.name for column in table.columns], n=1)
            hint = f"did you mean {near[0]!r}?" if near else "see what the data source publishes"
            raise ToolError(f"the data source {table.name!r} has no field {value!r}; {hint}")


def _strings(value: object) -> Iterator[tuple[str, str]]:
    """Every text under its key, at any depth."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if isinstance(inner, str):
                yield key, inner
            else:
                yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
