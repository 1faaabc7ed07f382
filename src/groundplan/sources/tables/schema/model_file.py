"""The semantic model file (Apache Ossie, draft 0.2.0): synonyms, keys, relationships and metrics, beside the data."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import yaml
from rapidfuzz import process

from groundplan.contracts.columns import DUPLICATE_PROOF
from groundplan.contracts.defaults import DEFAULTS, Default
from groundplan.contracts.expression import Aggregate, Column, Elapsed, Expression, Level, level, misplaced, walk
from groundplan.contracts.join_paths import NoPath, rooted
from groundplan.contracts.normal_form import mapped
from groundplan.contracts.relationship import Relationship
from groundplan.contracts.schema import Column as Described
from groundplan.contracts.schema import NamedMetric, SourceSchema, Table
from groundplan.errors import SourceError, TooMuch
from groundplan.regular_files import read_regular
from groundplan.sources.tables.schema.sql_expression import Unsupported, bounded, read_sql
from groundplan.sources.tables.schema.statistics import EXACT_ROWS
from groundplan.text.located_yaml import File, Place, whole
from groundplan.text.names import split_name

NAME, SETTINGS = "semantic_model.yaml", "groundplan.toml"
MOST_BYTES = 5_000_000
NAMES = re.compile(r"[\w\s.-]{1,255}")
HEADER = """# What groundplan found in this data. Remove relationships that are wrong, add synonyms and metrics:
#   ai_context: {synonyms: [client]}
#   metrics: [{name: revenue, expression: SUM(orders.amount)}]
"""


def find_model_file(where: object) -> Path | None:
    """`semantic_model.yaml` in a folder, `shop.semantic_model.yaml` beside `shop.duckdb`; else, for the data that
    groundplan.toml names, the one beside that."""
    if not isinstance(where, str | Path):
        return None
    own = model_path(str(where))
    places = (own, Path(NAME) if _is_named_in_settings(str(where)) else None)
    return next((place for place in places if place is not None and place.is_file()), None)


def model_path(where: str) -> Path | None:
    """Where the model file of this data belongs; None for a server that groundplan.toml does not name."""
    path = Path(where)
    if "://" in where:
        return Path(NAME) if _is_named_in_settings(where) else None
    if not path.exists():
        return None
    return path / NAME if path.is_dir() else path.with_name(f"{path.stem}.{NAME}")


def _is_named_in_settings(where: str) -> bool:
    """Whether the data is the `source` of the groundplan.toml of this folder."""
    try:
        source = tomllib.loads(read_regular(Path(SETTINGS), MOST_BYTES).decode("utf-8")).get("source")
    except (OSError, TooMuch, ValueError, RecursionError):
        return False
    if not isinstance(source, str) or "://" in where:
        return source == where
    return "://" not in source and Path(source).resolve() == Path(where).resolve()


class Content(Protocol):
    """An Ossie model, and the file and line of each of its parts."""

    @property
    def value(self) -> Any: ...

    def fault(self, what: str, at: Place = ()) -> str: ...


def found_model(schema: SourceSchema) -> str:
    """A model file with what was found, for a person to correct."""
    datasets = [
        {
            "name": table.name,
            "source": table.name,
            **({"primary_key": list(table.keys[0])} if table.keys else {}),
            "fields": [{"name": column.name, "expression": column.name} for column in table.columns],
        }
        for table in schema.tables
    ]
    relationships = [
        {
            "name": link.name,
            "from": link.table,
            "to": link.to_table,
            "from_columns": list(link.columns),
            "to_columns": list(link.to_columns),
        }
        for link in schema.relationships
    ]
    model = {"name": schema.source, "datasets": datasets, "relationships": relationships, "metrics": []}
    return HEADER + written({"version": "0.2.0.dev0", "semantic_model": [model]})


def written(content: Mapping[str, Any]) -> str:
    return yaml.dump(content, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=120)


class _Plain(yaml.SafeDumper):
    """Writes out what appears twice: aliases are hard to read."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def load_model(path: Path) -> Model:
    problems: list[str] = []
    try:
        found = whole(File(path, read_regular(path, MOST_BYTES)), problems)
    except OSError as error:
        raise SourceError(f"{path}:1: cannot be read: {error.strerror}") from error
    if found is None or problems:
        raise SourceError("\n".join(problems) or f"{path}:1: cannot be read")
    return Model(found)


@dataclass
class Model:
    content: Content

    def applied(self, schema: SourceSchema, only: frozenset[str] | None = None) -> SourceSchema:
        """The schema with what the model says; raises SourceError with file and line of everything that does not fit.

        `only`: the schema has only these of the source's tables.
        """
        fitting = Fitting(self.content, schema, only)
        if fitting.faults:
            raise SourceError("\n".join(fitting.faults))
        return fitting.schema

    def fitted(self, schema: SourceSchema) -> tuple[Mapping[str, Any], list[str]]:
        """The content without what does not fit the schema, and the faults of what was left out."""
        fitting = Fitting(self.content, schema, None)
        return _without(self.content.value, fitting.unfit), [*fitting.faults, *fitting.notes]


def _without(value: Any, unfit: Iterable[Place]) -> Any:
    """The value without the parts at these places."""
    inner: dict[str | int, list[Place]] = {}
    for place in unfit:
        inner.setdefault(place[0], []).append(place[1:])
    gone = {key for key, places in inner.items() if () in places}
    if isinstance(value, Mapping):
        return {k: _without(v, inner.get(k, ())) for k, v in value.items() if k not in gone}
    if isinstance(value, list):
        return [_without(v, inner.get(place, ())) for place, v in enumerate(value) if place not in gone]
    return value


@dataclass
class Fitting:
    """Applies a model to the schema of the data part by part, and keeps what does not fit."""

    content: Content
    given: SourceSchema
    only: frozenset[str] | None
    faults: list[str] = field(default_factory=list)
    unfit: list[Place] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # faults of parts that can stay

    def __post_init__(self) -> None:
        self._names: dict[str, str] = {}  # of data sets: their tables
        self._fields: dict[tuple[str, str], str] = {}  # of a table: the SQL of its fields
        self._tables = {table.name: table for table in self.given.tables}
        for at, dataset in self._items("datasets"):
            self._dataset(at, dataset)
        links = tuple(self._links())
        told = {(link.table, link.columns) for link in links}
        self._known = (*links, *(one for one in self.given.relationships if (one.table, one.columns) not in told))
        metrics = tuple(self._metrics())
        self.schema = self.given.model_copy(
            update={"tables": tuple(self._tables.values()), "relationships": self._known, "metrics": metrics}
        )

    def _fault(self, what: str, at: Place, part: Place | None = None) -> None:
        """`part`: what has to go, if it is more than the place of the fault."""
        self.faults.append(self.content.fault(what, at))
        self.unfit.append(at if part is None else part)

    def _items(self, key: str) -> Iterator[tuple[Place, Mapping[str, Any]]]:
        value: Any = self.content.value
        models = value.get("semantic_model") if isinstance(value, Mapping) else []
        for number, model in enumerate(models if isinstance(models, list) else []):
            if isinstance(model, Mapping):
                yield from self._listed(model.get(key), ("semantic_model", number, key))

    def _listed(self, value: Any, at: Place) -> Iterator[tuple[Place, Mapping[str, Any]]]:
        if value is not None and not isinstance(value, list):
            self._fault(f"{at[-1]!r} is no list", at)
            return
        for place, item in enumerate(value or ()):
            if isinstance(item, Mapping):
                yield (*at, place), item
            else:
                self._fault(f"an entry of {at[-1]!r} is no mapping", (*at, place))

    def _dataset(self, at: Place, dataset: Mapping[str, Any]) -> None:
        source = str(dataset.get("source") or dataset.get("name")).rpartition(".")[2]
        name = find_name(source, self._tables)
        self._names[str(dataset.get("name"))] = name or source
        if name is None:
            if self.only is None:
                near = process.extractOne(source, [*self._tables], score_cutoff=90)
                hint = f"did you mean {near[0]!r}?" if near else "correct `source`"
                self._fault(f"there is no table {source!r}; {hint}", at)
            return
        table = self._tables[name]
        columns = {column.name: column for column in table.columns}
        for place, one in self._listed(dataset.get("fields"), (*at, "fields")):
            self._field(place, one, table, columns)
        synonyms = [*_synonyms(dataset)]
        called = str(dataset.get("name") or name)
        if split_name(called) != split_name(name):
            synonyms.append(" ".join(split_name(called)))
        self._tables[name] = table.model_copy(
            update={
                "columns": tuple(columns.values()),
                "keys": tuple(dict.fromkeys((*table.keys, *self._keys(at, dataset, table)))),
                "synonyms": tuple(dict.fromkeys((*table.synonyms, *synonyms))),
                "description": str(dataset.get("description") or table.description)[:2_000],
                "assume": self._assume((*at, "assume"), dataset.get("assume", True)),
            }
        )

    def _assume(self, at: Place, given: Any) -> tuple[Default, ...]:
        """The defaults that questions about the table may rest on: all, none, or those that are listed."""
        if isinstance(given, bool):
            return DEFAULTS if given else ()
        listed = given if isinstance(given, list) else [given]
        unknown = [str(name) for name in listed if name not in DEFAULTS]
        if unknown:
            self._fault(f"'assume' is true, false or a list of {', '.join(DEFAULTS)}: not {unknown[0][:80]!r}", at)
        return tuple(name for name in DEFAULTS if name in listed)

    def _field(self, at: Place, given: Mapping[str, Any], table: Table, columns: dict[str, Described]) -> None:
        called = str(given.get("name"))
        text = _sql(given.get("expression")) or called
        name = find_name(text, columns)
        other = find_name(called, columns)
        if other is not None and other != name:
            self._fault(f"field {called!r} has the name of another column; rename it", at)
            return
        self._fields[table.name, called] = text
        if name is None:
            try:
                with bounded():
                    self._refuse_unfit(self._value(text, {}, table.name), "row", "it is a measure; define a metric")
                what = f"field {called!r} is a calculation: metrics can use it, but questions cannot name it"
                self.notes.append(self.content.fault(what, at))
            except Unsupported as error:
                self._fault(f"field {called!r}: {error}", at)
            return
        column = columns[name]
        said = tuple(dict.fromkeys((*column.synonyms, *_synonyms(given), " ".join(split_name(called)))))
        described = str(given.get("description") or column.description)[:2_000]
        columns[name] = column.model_copy(update={"synonyms": said, "description": described})

    def _keys(self, at: Place, dataset: Mapping[str, Any], table: Table) -> Iterator[tuple[str, ...]]:
        """The declared keys; one column that has the same value in several rows is none."""
        unique = dataset.get("unique_keys") or []
        listed = [((*at, "primary_key"), dataset.get("primary_key") or [])]
        listed += [((*at, "unique_keys", n), key) for n, key in enumerate(unique if isinstance(unique, list) else [])]
        for place, key in listed:
            given = [str(name) for name in key] if isinstance(key, list) else []
            columns = [column for name in given if (column := find_column(name, table))]
            if len(columns) < len(given):
                self._fault(f"the key {', '.join(given)} of {table.name!r} has a column that the table lacks", place)
            elif len(columns) == 1 and _repeats(columns[0], table):
                what = f"{columns[0].name} is no key of {table.name!r}: several rows have the same value"
                self._fault(what, place)
            elif columns:
                yield tuple(column.name for column in columns)

    def _links(self) -> Iterator[Relationship]:
        for at, given in self._items("relationships"):
            ends = [self._table_of(str(given.get(side))) for side in ("from", "to")]
            if self.only is not None and not {*ends} <= self.only:
                continue
            if any(end in self._names.values() and end not in self._tables for end in ends):
                self.unfit.append(at)  # that there is no such table is a fault of the data set
                continue
            try:
                columns = self._link_columns(given, ends)
            except Unsupported as error:
                self._fault(f"relationship {given.get('name')!r}: {error}", at)
                continue
            called = str(given["name"]) if given.get("name") else None
            link = {"table": ends[0], "columns": columns[0], "to_table": ends[1], "to_columns": columns[1]}
            yield Relationship.model_validate({**link, "known": "declared", "called": called})

    def _link_columns(self, given: Mapping[str, Any], ends: list[str]) -> list[tuple[str, ...]]:
        """Of both sides; the columns that are pointed at are a key."""
        sides = ("from_columns", "to_columns")
        columns = [self._columns(given.get(side), end) for side, end in zip(sides, ends, strict=True)]
        if len(columns[0]) != len(columns[1]):
            raise Unsupported("both sides need as many columns")
        if not any({*key} <= {*columns[1]} for key in self._tables[ends[1]].keys):
            raise Unsupported(f"{', '.join(columns[1])} is no key of {ends[1]!r}: several rows have the same value")
        return columns

    def _columns(self, names: Any, table: str) -> tuple[str, ...]:
        found = []
        for name in names if isinstance(names, list) and names else ["(no columns)"]:
            text = self._fields.get((table, str(name)), str(name))
            column = find_column(text, self._tables[table]) if table in self._tables else None
            if column is None:
                raise Unsupported(f"there is no {table}.{name}")
            found.append(column.name)
        return tuple(found)

    def _metrics(self) -> Iterator[NamedMetric]:
        known: dict[str, Expression] = {}
        for at, given in self._items("metrics"):
            name = str(given.get("name"))
            try:
                with bounded():
                    known[name] = expression = self._value(_sql(given.get("expression")), known, None)
                    found = self._metric(name, expression, given)
            except Unsupported as error:
                self._fault(f"metric {name!r}: {error}", (*at, "expression"), at)
                continue
            if found is not None:
                yield found

    def _metric(self, name: str, expression: Expression, given: Mapping[str, Any]) -> NamedMetric | None:
        """None if it measures tables that are not looked at."""
        table = _base(expression, self._known)
        if self.only is not None and not _tables(expression) <= self.only:
            return None
        _refuse_repeated(expression, table)
        self._refuse_unfit(expression, "group", "it is no measure: use SUM, AVG, COUNT, …")
        return NamedMetric(name=name, table=table, expression=_own(expression, table), synonyms=_synonyms(given))

    def _value(self, text: str, known: Mapping[str, Expression], own: str | None) -> Expression:
        """The expression over columns of tables, in place of fields of data sets."""
        expression = read_sql(text, known)

        def put(node: Expression) -> Expression:
            if not isinstance(node, Column):
                return mapped(node, put)  # type: ignore[arg-type]
            table = self._table_of(node.table or own or "")
            field = self._fields.get((table, node.name))
            if (
                own is None
                and field is not None
                and (table not in self._tables or not find_column(field, self._tables[table]))
            ):
                return self._value(field, {}, table)
            column = find_column(field or node.name, self._tables[table]) if table in self._tables else None
            return Column(table=table or None, name=column.name if column else node.name)

        return put(expression)

    def _table_of(self, dataset: str) -> str:
        """A metric that is written out has tables already."""
        return self._names.get(dataset, dataset)

    def _refuse_unfit(self, expression: Expression, wanted: Level, otherwise: str) -> None:
        if level(expression) == "group" and misplaced(expression):
            raise Unsupported(misplaced(expression) or "")
        for part in walk(expression):
            if isinstance(part, Column):
                table = self._tables.get(part.table or "")
                column = table.find(part.name) if table else None
                if column is None:
                    raise Unsupported(f"there is no column {part.table}.{part.name}")
            if isinstance(part, Elapsed):
                self._refuse_times(part)
        if level(expression) != wanted:
            raise Unsupported(otherwise)

    def _refuse_times(self, elapsed: Elapsed) -> None:
        """DATEDIFF counts midnights; only between dates is that the time that passed."""
        for side in (elapsed.start, elapsed.end):
            table = self._tables.get(side.table or "") if isinstance(side, Column) else None
            column = table.find(side.name) if table and isinstance(side, Column) else None
            if column is None or column.type.lower() != "date":
                raise Unsupported("DATEDIFF is supported between two columns of dates without a time of day")


def find_name(name: str, known: Iterable[str]) -> str | None:
    """The same name; else the only one of the same words, as SQL does not tell upper and lower case apart."""
    names = [*known]
    if name in names:
        return name
    words = "".join(split_name(name))
    alike = [one for one in names if "".join(split_name(one)) == words] if NAMES.fullmatch(name) else []
    return alike[0] if len(alike) == 1 else None


def find_column(name: str, table: Table) -> Described | None:
    found = find_name(name, [column.name for column in table.columns])
    return table.find(found) if found else None


def _repeats(column: Described, table: Table) -> bool:
    """Whether the data has a value twice, as far as it was counted."""
    exact = table.row_count is not None and table.row_count <= EXACT_ROWS and column.cardinality is not None
    return exact and not column.sampled and (column.cardinality or 0) < (table.row_count or 0)


def _sql(given: Any) -> str:
    """An expression as text, or in the dialect ANSI_SQL."""
    if isinstance(given, Mapping):
        listed = given.get("dialects")
        found = [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
        dialects = {str(one.get("dialect")): one.get("expression") for one in found}
        return str(dialects.get("ANSI_SQL") or next(iter(dialects.values()), ""))
    return str(given or "")


def _synonyms(given: Mapping[str, Any]) -> tuple[str, ...]:
    context = given.get("ai_context")
    listed = context.get("synonyms") if isinstance(context, Mapping) else None
    return tuple(str(one)[:2_000] for one in (listed if isinstance(listed, list) else ()))


def _tables(node: Expression) -> frozenset[str]:
    return frozenset(part.table or "" for part in walk(node) if isinstance(part, Column))


def _refuse_repeated(expression: Expression, table: str) -> None:
    """A row of another table that several rows point at would count several times."""
    for part in walk(expression):
        if isinstance(part, Aggregate) and part.function not in DUPLICATE_PROOF:
            others = _tables(part.of)
            if others and table not in others:
                raise Unsupported(f"several rows of {table!r} share a row of {min(others)!r}, which would count twice")


def _own(node: Expression, table: str) -> Expression:
    """As seen from the rows of the table: only columns of others have a table."""
    if isinstance(node, Column):
        return Column(name=node.name) if node.table == table else node
    return mapped(node, lambda part: _own(part, table))  # type: ignore[arg-type]


def _base(expression: Expression, links: tuple[Relationship, ...]) -> str:
    """The table from whose rows all others are reached; one that is measured, if there are several."""
    measured = {table for part in walk(expression) if isinstance(part, Aggregate) for table in _tables(part.of)}
    tables = _tables(expression)
    for table in sorted(tables, key=lambda name: (name not in measured, name)):
        try:
            rooted(expression, table, links)
        except NoPath:
            continue
        return table
    raise Unsupported("its columns need their tables, with a path between them" if tables else "it names no table")
