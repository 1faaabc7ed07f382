"""dbt: semantic models and metrics, as YAML or `semantic_manifest.json`, and the tests and descriptions of models."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rapidfuzz import process
from sqlglot import exp

from groundplan.sources.tables.importing.collected import Collected, Part, dict_of, told, whole_file
from groundplan.sources.tables.importing.sql import (
    aggregate,
    column,
    column_name,
    is_constant,
    parsed,
    text_of,
    under,
    written_out,
)
from groundplan.sources.tables.schema.sql_expression import Unsupported, bounded
from groundplan.text.located_yaml import Located

REF = re.compile(r"""(?:ref|source)\s*\((?:[^()]*,)?\s*['"]([\w.-]+)['"]\s*\)""")
NAMED = re.compile(r"""\{\{\s*(\w+)\s*\(\s*['"](\w+)['"]\s*([^(){}]*)\)\s*\}\}""")
IDENTIFYING = ("primary", "unique", "natural")
UNREAD_MEASURES = ("non_additive_dimension", "agg_params")
UNREAD_INPUTS = ("offset_window", "offset_to_grain", "fill_nulls_with")


def collect(files: Sequence[Located], into: Collected) -> None:
    parts = [whole_file(file) for file in files]
    for part in parts:
        for model in part.items("models"):
            _model(model, into)
    semantic = [SemanticModel(model, into) for part in parts for model in part.items("semantic_models")]
    for one in semantic:
        one.collect()
    for one in semantic:
        _links(one, semantic, into)
    Metrics([metric for part in parts for metric in part.items("metrics")], semantic, into).collect()


def table_of(text: str) -> str:
    """`ref('orders')` and `source('shop', 'orders')` are the table `orders`."""
    found = REF.search(text)
    return found.group(1) if found else text


def _model(model: Part, into: Collected) -> None:
    """The entry of a model in schema.yml: descriptions, and the keys that its tests and constraints tell."""
    columns = [*model.items("columns")]
    if not model.text("name") or not (columns or model.text("description")):
        return
    dataset = into.dataset(model.text("name"), model.where)
    dataset.update(told(model.value, model.text("name")))
    for one in columns:
        name = one.text("name")
        into.field(dataset, {"name": name, "expression": name, **told(one.value, name)}, one.where)
        for kind, given in _tests(one):
            if kind == "unique":
                into.key(dataset, [name], one.where)
            elif kind in ("relationships", "foreign_key"):
                to, key = table_of(given.text("to")), given.text("field") or next(_names(given, "to_columns"), "")
                other = into.dataset(to, given.where)
                into.link((dataset["name"], other["name"]), ((name,), (key,)), given.where)
            elif kind == "primary_key":
                into.key(dataset, [name], one.where)
    for kind, given in _tests(model):
        if kind == "dbt_utils.unique_combination_of_columns":
            into.key(dataset, [*_names(given, "combination_of_columns")], given.where)
        elif kind == "primary_key":
            into.key(dataset, [*_names(given, "columns")], given.where)
        elif kind == "foreign_key":
            other = into.dataset(table_of(given.text("to")), given.where)
            pair = [*_names(given, "columns")], [*_names(given, "to_columns")]
            into.link((dataset["name"], other["name"]), pair, given.where)


def _tests(part: Part) -> Iterator[tuple[str, Part]]:
    """Each test and constraint, with what it is given."""
    for key in ("tests", "data_tests"):
        listed = part.value.get(key)
        for name in listed if isinstance(listed, list) else ():
            if isinstance(name, str):
                yield name, part
        for test in part.items(key):
            for name in test.value:
                given = test.inner(name)
                yield name, given.inner("arguments") if "arguments" in given.value else given
    for constraint in part.items("constraints"):
        yield constraint.text("type"), constraint


def _names(part: Part, key: str) -> Iterator[str]:
    listed = part.value.get(key)
    yield from map(str, listed if isinstance(listed, list) else ())


@dataclass
class SemanticModel:
    part: Part
    into: Collected
    keys: dict[str, str] = field(default_factory=dict)  # the columns of its primary and unique entities
    pointers: dict[str, tuple[str, str]] = field(default_factory=dict)  # foreign entities: column, file and line
    fields: dict[str, Any] = field(default_factory=dict)  # parsed expressions of entities and dimensions
    measures: dict[str, Part] = field(default_factory=dict)

    def collect(self) -> None:
        relation = self.part.inner("node_relation")
        table = relation.text("alias") or table_of(self.part.text("model")) or self.part.text("name")
        self.dataset = self.into.dataset(table, self.part.where, self.part.text("name"))
        self.name = dict_of(self.dataset)["name"]
        self.dataset.update(told(self.part.value, self.name))
        self.primary = self.part.text("primary_entity")
        for entity in self.part.items("entities"):
            self._entity(entity)
        for dimension in self.part.items("dimensions"):
            time = {"dimension": {"is_time": True}} if dimension.text("type") == "time" else {}
            self._field(dimension, time)
        self.measures = {one.text("name"): one for one in self.part.items("measures")}

    def _entity(self, entity: Part) -> None:
        """An entity is a column that joins; its name says where to, and is no name of the column."""
        text = entity.text("expr") or entity.text("name")
        try:
            node = self.fields[entity.text("name")] = parsed(text, self.name)
        except Unsupported as error:
            self.into.note(f"entity {entity.text('name')!r}: {error}", entity.where)
            return
        name = column_name(node)
        if name is None:
            self.into.note(f"entity {entity.text('name')!r}: {text!r} is no column", entity.where)
            return
        told_of = told({"description": entity.value.get("description")}, name)
        self.into.field(self.dataset, {"name": name, "expression": name, **told_of}, entity.where)
        if entity.text("type") in IDENTIFYING:
            self.keys[entity.text("name")] = name
            if entity.text("type") == "primary":
                self.primary = entity.text("name")
            self.into.key(self.dataset, [name], entity.where)
        else:
            self.pointers[entity.text("name")] = name, entity.where

    def _field(self, given: Part, more: Mapping[str, Any]) -> str | None:
        """Adds the field; the column that it is, if it is one."""
        name = given.text("name")
        expression = given.text("expr") or name
        try:
            self.fields[name] = node = parsed(expression, self.name)
        except Unsupported as error:
            self.into.note(f"{name!r}: {error}", given.where)
            return None
        if is_constant(node):
            return None  # says only that there is a row; see Metrics.named
        self.into.field(
            self.dataset, {"name": name, "expression": expression, **more, **told(given.value, name)}, given.where
        )
        return column_name(node)

    def measure(self, name: str) -> Any:
        given = self.measures[name]
        odd = next((key for key in UNREAD_MEASURES if given.value.get(key)), None)
        if odd:
            raise Unsupported(f"{odd!r} of the measure {name!r} is not supported")
        of = parsed(given.text("expr") or name, self.name)
        kind = given.text("agg")
        if kind == "sum_boolean":
            kind, of = "count", exp.Case(ifs=[exp.If(this=of, true=exp.Literal.number(1))])
        if is_constant(of) and (kind, of.name) in (("sum", "1"), ("count", of.name)):
            kind, of = "count", self.row()
        return aggregate(kind, of)

    def row(self) -> Any:
        """A column that every row has."""
        if self.primary not in self.keys:
            raise Unsupported(f"the rows of {self.name!r} are counted, and it has no primary entity that is a column")
        return column(self.name, self.keys[self.primary])


def _links(one: SemanticModel, others: Sequence[SemanticModel], into: Collected) -> None:
    """Foreign entities point at the model whose primary entity they are; models may share a primary entity."""
    for entity, (name, where) in one.pointers.items():
        hub = _hub(entity, [other for other in others if other is not one])
        if hub is None:
            keys = [key for other in others for key in other.keys]
            near = process.extractOne(entity, keys, score_cutoff=90)
            hint = f"did you mean {near[0]!r}?" if near else "no semantic model has it as its primary or unique entity"
            into.note(f"entity {entity!r} points at nothing; {hint}", where)
            continue
        into.link((one.name, hub.name), ((name,), (hub.keys[entity],)), where)
    hub = _hub(one.primary, others)
    if hub is None or hub is one or one.primary not in one.keys:
        return
    pair = (one.keys[one.primary],), (hub.keys[one.primary],)
    into.link((one.name, hub.name), pair, one.part.where)
    into.link((hub.name, one.name), pair[::-1], one.part.where)


def _hub(entity: str, models: Sequence[SemanticModel]) -> SemanticModel | None:
    """The model of the entity: the only one that has it as a key, or the one that is called like it."""
    having = [one for one in models if entity in one.keys]
    called = [one for one in having if one.name == entity] or [one for one in having if one.primary == entity]
    found = having if len(having) == 1 else called
    return found[0] if found else None


@dataclass
class Metrics:
    given: Sequence[Part]
    models: Sequence[SemanticModel]
    into: Collected

    def collect(self) -> None:
        self.known = {metric.text("name"): metric for metric in self.given}
        self.used: set[str] = set()
        for metric in self.given:
            try:
                with bounded():
                    node = self.metric(metric, ())
            except Unsupported as error:
                self.into.note(f"metric {metric.text('name')!r}: {error}", metric.where)
                continue
            self.into.metric(metric.text("name"), text_of(node), metric.where, metric.value)
        for model in self.models:
            for name, measure in model.measures.items():
                self._measure(model, name, measure)

    def _measure(self, model: SemanticModel, name: str, measure: Part) -> None:
        if measure.value.get("create_metric") is not True:
            if name not in self.used:
                self.into.note(
                    f"measure {name!r} is left out: no metric uses it, and `create_metric` is not set", measure.where
                )
            return
        try:
            self.into.metric(name, text_of(model.measure(name)), measure.where, measure.value)
        except Unsupported as error:
            self.into.note(f"measure {name!r}: {error}", measure.where)

    def metric(self, metric: Part, above: tuple[str, ...]) -> Any:
        name, kind, params = metric.text("name"), metric.text("type"), metric.inner("type_params")
        if name in above:
            raise Unsupported("it is defined by itself")
        above = (*above, name)
        match kind:
            case "simple":
                node = self._input(params, "measure", above)
            case "ratio":
                low = self._input(params, "denominator", above)
                node = exp.Div(
                    this=exp.paren(self._input(params, "numerator", above)),
                    expression=exp.Nullif(this=low, expression=exp.Literal.number(0)),
                )
            case "derived":
                node = self._derived(params, above)
            case _:
                raise Unsupported(f"metrics of the type {kind!r} are not supported")
        return self._filtered(node, metric)

    def _derived(self, params: Part, above: tuple[str, ...]) -> Any:
        inputs = {
            one.text("alias") or one.text("name"): self._one(one.value, params, above)
            for one in params.items("metrics")
        }
        inputs |= {one: self._one(one, params, above) for one in _names(params, "metrics") if not one.startswith("{")}
        node = exp.paren(parsed(params.text("expr"), ""))
        for found in [*node.find_all(exp.Column)]:
            if found.name not in inputs:
                raise Unsupported(f"{found.name!r} is none of its metrics")
            found.replace(exp.paren(written_out(inputs[found.name])))
        return node.this

    def _input(self, params: Part, key: str, above: tuple[str, ...]) -> Any:
        return self._one(params.value.get(key), params, above)

    def _one(self, given: Any, params: Part, above: tuple[str, ...]) -> Any:
        """A measure or a metric that another metric names, with its own filter."""
        part = Part(params.file, params.at, given if isinstance(given, Mapping) else {"name": given})
        odd = next((key for key in UNREAD_INPUTS if part.value.get(key) is not None), None)
        if odd:
            raise Unsupported(f"{odd!r} is not supported")
        name = part.text("name")
        models = [model for model in self.models if name in model.measures]
        if models:
            self.used.add(name)
            return self._filtered(models[0].measure(name), part, models[0])
        if name not in self.known:
            raise Unsupported(f"there is no measure or metric {name!r}")
        return self._filtered(self.metric(self.known[name], above), part)

    def _filtered(self, node: Any, part: Part, own: SemanticModel | None = None) -> Any:
        for text in _filters(part.value.get("filter")):
            named: dict[str, Any] = {}

            def put(found: re.Match[str], named: dict[str, Any] = named) -> str:
                named[f"named_{len(named)}"] = self._named(found, own)
                return f"named_{len(named) - 1}"

            condition = exp.paren(parsed(NAMED.sub(put, text), ""))
            for one in [*condition.find_all(exp.Column)]:
                if one.name not in named:
                    raise Unsupported(f"its filter names the column {one.name!r} without a dimension")
                one.replace(written_out(named[one.name]))
            node = under(node, _present(condition.this))
        return node

    def _named(self, found: re.Match[str], own: SemanticModel | None) -> Any:
        """`{{ Dimension('order__status') }}`: the dimension `status` of the model with the entity `order`."""
        kind, name, more = found.groups()
        entity, _, last = name.rpartition("__")
        entity = entity.rpartition("__")[2]
        if kind not in ("Dimension", "TimeDimension", "Entity") or more.strip(" ,"):
            raise Unsupported(f"{kind}({name!r}{more}) in a filter is not supported")
        if kind == "Entity":
            entity = entity or last
        models = [m for m in self.models if last in m.fields and entity in (*m.keys, m.primary)]
        models = [m for m in models if m is own] or models
        if len(models) != 1:
            raise Unsupported(f"{name!r} in its filter is {'ambiguous' if models else 'not a dimension'}")
        node = models[0].fields[last]
        if not is_constant(node):
            return exp.paren(node) if column_name(node) is None else node
        there = exp.Not(this=exp.Is(this=models[0].row(), expression=exp.Null()))
        return exp.Case(ifs=[exp.If(this=there, true=node)])


def _present(condition: Any) -> Any:
    """`CASE WHEN there THEN 1 END = 1` is `there`."""
    found = condition
    if isinstance(found, exp.EQ) and isinstance(found.left, exp.Case) and is_constant(found.right):
        only = found.left.args["ifs"][0]
        if only.args["true"] == found.right:
            return only.this
    return condition


def _filters(given: Any) -> Iterator[str]:
    """A filter is a text, a list of texts, or in a manifest a list of `where_sql_template`."""
    if isinstance(given, str):
        yield given
    elif isinstance(given, list):
        for one in given:
            yield from _filters(one)
    elif isinstance(given, Mapping):
        yield from _filters(given.get("where_filters") or given.get("where_sql_template"))
