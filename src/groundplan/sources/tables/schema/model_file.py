"""The semantic model file (Apache Ossie, draft 0.2.0): synonyms, keys, relationships and metrics, beside the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from groundplan.contracts.contract import Contract
from groundplan.contracts.expression import Column, Expression, level, misplaced, walk
from groundplan.contracts.join_paths import NoPath, rooted
from groundplan.contracts.normal_form import mapped
from groundplan.contracts.schema import NamedMetric, Relationship, SourceSchema, Table
from groundplan.errors import SourceError
from groundplan.sources.tables.schema.sql_expression import Unsupported, read_sql
from groundplan.text.located_yaml import File, Located, Place, whole

NAME = "semantic_model.yaml"
HEADER = """# What groundplan found in this data. Remove relationships that are wrong, add synonyms and metrics:
#   ai_context: {synonyms: [client]}
#   metrics: [{name: revenue, expression: SUM(orders.amount)}]
"""


def find_model_file(where: object) -> Path | None:
    """`semantic_model.yaml` in a folder; `shop.semantic_model.yaml` beside `shop.duckdb`."""
    beside = model_path(str(where)) if isinstance(where, str | Path) else None
    return beside if beside is not None and beside.is_file() else None


def model_path(where: str) -> Path | None:
    """Where the model file of this data is looked for; None for a server."""
    path = Path(where)
    if "://" in where or not path.exists():
        return None
    return path / NAME if path.is_dir() else path.with_name(f"{path.stem}.{NAME}")


def written_model(schema: SourceSchema) -> str:
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
    content = {"version": "0.2.0.dev0", "semantic_model": [model]}
    return HEADER + yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120)


def load_model(path: Path) -> Model:
    problems: list[str] = []
    found = whole(File(path, path.read_bytes()), problems)
    if found is None or problems:
        raise SourceError("\n".join(problems) or f"{path}:1: cannot be read")
    return Model(found)


@dataclass
class Model:
    located: Located

    def applied(self, schema: SourceSchema, only: frozenset[str] | None = None) -> SourceSchema:
        """The schema with what the file says; raises SourceError with file and line of everything that does not fit.

        `only`: the schema has only these of the source's tables.
        """
        problems: list[str] = []
        self._names: dict[str, str] = {}
        tables = {table.name: table for table in schema.tables}
        for at, dataset in self._items("datasets"):
            self._dataset(at, dataset, tables, only, problems)
        links = tuple(self._links(tables, only, problems))
        told = {(link.table, link.columns) for link in links}
        others = tuple(link for link in schema.relationships if (link.table, link.columns) not in told)
        metrics = self._metrics(tables, (*links, *others), only, problems)
        if problems:
            raise SourceError("\n".join(problems))
        return schema.model_copy(
            update={"tables": tuple(tables.values()), "relationships": (*links, *others), "metrics": metrics}
        )

    def _items(self, key: str) -> Iterator[tuple[Place, Mapping[str, Any]]]:
        value: Any = self.located.value
        models = value.get("semantic_model", []) if isinstance(value, Mapping) else []
        for number, model in enumerate(models if isinstance(models, list) else []):
            for place, item in enumerate(model.get(key) or []):
                yield ("semantic_model", number, key, place), item

    def _dataset(
        self,
        at: Place,
        dataset: Mapping[str, Any],
        tables: dict[str, Table],
        only: frozenset[str] | None,
        problems: list[str],
    ) -> None:
        source = str(dataset.get("source") or dataset.get("name")).rpartition(".")[2]
        self._names[str(dataset.get("name"))] = source
        table = tables.get(source)
        if table is None:
            if only is None:
                problems.append(self.located.fault(f"there is no table {source!r}; correct `source`", at))
            return
        columns = {column.name: column for column in table.columns}
        for place, field in enumerate(dataset.get("fields") or []):
            name = _sql(field.get("expression")) or str(field.get("name"))
            if name not in columns:
                what = f"the table {source!r} has no column {name!r}; fields are columns of their table"
                problems.append(self.located.fault(what, (*at, "fields", place)))
                continue
            said = tuple(dict.fromkeys((*_synonyms(field), str(field.get("name")))))
            told = str(field.get("description") or columns[name].description)
            columns[name] = columns[name].model_copy(update={"synonyms": said, "description": told[:2_000]})
        keys = [dataset.get("primary_key") or [], *(dataset.get("unique_keys") or [])]
        known = tuple(dict.fromkeys((*table.keys, *(tuple(map(str, key)) for key in keys if key))))
        tables[source] = table.model_copy(
            update={"columns": tuple(columns.values()), "keys": known, "synonyms": _synonyms(dataset)}
        )

    def _links(
        self, tables: Mapping[str, Table], only: frozenset[str] | None, problems: list[str]
    ) -> Iterator[Relationship]:
        for at, given in self._items("relationships"):
            ends = [self._names.get(str(given.get(side)), str(given.get(side))) for side in ("from", "to")]
            if only is not None and not {*ends} <= only:
                continue
            columns = [tuple(map(str, given.get(f"{side}_columns") or ())) for side in ("from", "to")]
            strange = [
                f"{table}.{name}"
                for table, names in zip(ends, columns, strict=True)
                for name in names or ("(no columns)",)
                if table not in tables or tables[table].find(name) is None
            ]
            if strange or len(columns[0]) != len(columns[1]):
                what = f"there is no {strange[0]}" if strange else "both sides need as many columns"
                problems.append(self.located.fault(f"relationship {given.get('name')!r}: {what}", at))
                continue
            if not any({*key} <= {*columns[1]} for key in tables[ends[1]].keys):
                what = f"{', '.join(columns[1])} is no key of {ends[1]!r}: several rows have the same value"
                problems.append(self.located.fault(f"relationship {given.get('name')!r}: {what}", at))
                continue
            called = str(given["name"]) if given.get("name") else None
            link = {"table": ends[0], "columns": columns[0], "to_table": ends[1], "to_columns": columns[1]}
            yield Relationship.model_validate({**link, "known": "declared", "called": called})

    def _metrics(
        self,
        tables: Mapping[str, Table],
        links: tuple[Relationship, ...],
        only: frozenset[str] | None,
        problems: list[str],
    ) -> tuple[NamedMetric, ...]:
        known: dict[str, Expression] = {}
        found: list[NamedMetric] = []
        for at, given in self._items("metrics"):
            name = str(given.get("name"))
            try:
                known[name] = expression = self._renamed(read_sql(_sql(given.get("expression")), known))
                table = _base(expression, links)
                if only is not None and not _tables(expression) <= only:
                    continue
                _refuse_unfit(expression, tables)
                own = rooted(expression, table, ()) if _tables(expression) == {table} else expression
                found.append(NamedMetric(name=name, table=table, expression=own, synonyms=_synonyms(given)))
            except Unsupported as error:
                problems.append(self.located.fault(f"metric {name!r}: {error}", (*at, "expression")))
        return tuple(found)

    def _renamed(self, node: Expression) -> Expression:
        """With tables in place of data sets."""
        if isinstance(node, Column):
            return node.model_copy(update={"table": self._names.get(node.table or "", node.table)})
        return mapped(node, self._renamed)  # type: ignore[arg-type]


def _sql(given: Any) -> str:
    """An expression as text, or in the dialect ANSI_SQL."""
    if isinstance(given, Mapping):
        dialects = {str(one.get("dialect")): one.get("expression") for one in given.get("dialects") or []}
        return str(dialects.get("ANSI_SQL") or next(iter(dialects.values()), ""))
    return str(given or "")


def _synonyms(given: Mapping[str, Any]) -> tuple[str, ...]:
    context = given.get("ai_context")
    listed = context.get("synonyms") if isinstance(context, Mapping) else None
    return tuple(map(str, listed or ()))


def _tables(node: Contract) -> frozenset[str]:
    return frozenset(part.table or "" for part in walk(node) if isinstance(part, Column))  # type: ignore[arg-type]


def _base(expression: Expression, links: tuple[Relationship, ...]) -> str:
    """The table from whose rows all others are reached: the one that is measured."""
    tables = _tables(expression)
    for table in sorted(tables):
        try:
            rooted(expression, table, links)
        except NoPath:
            continue
        return table
    raise Unsupported("its columns need their tables, with a path between them" if tables else "it names no table")


def _refuse_unfit(expression: Expression, tables: Mapping[str, Table]) -> None:
    for part in walk(expression):
        table = tables.get(part.table or "") if isinstance(part, Column) else None
        if isinstance(part, Column) and (table is None or table.find(part.name) is None):
            raise Unsupported(f"there is no column {part.table}.{part.name}")
    if level(expression) != "group" or misplaced(expression):
        raise Unsupported(misplaced(expression) or "it is no measure: use SUM, AVG, COUNT, …")
