"""A model chooses the tool for one part of a task and fills its params, within a schema of existing names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from pydantic import JsonValue

from groundplan.asking.tasks.choose import Chosen, PartRequest, by_words
from groundplan.asking.tasks.fill import (
    Filling,
    Made,
    choices_of,
    compatible,
    fill,
    is_hinted,
    linked,
    properties_of,
    required_of,
    taken,
    types_of,
)
from groundplan.asking.tasks.task_words import stems
from groundplan.asking.tasks.values import values_in
from groundplan.contracts.contract import Contract, JsonObject, thaw
from groundplan.contracts.plan import Plan, Step
from groundplan.contracts.references import read_reference
from groundplan.contracts.said import is_said
from groundplan.contracts.tool import Tool
from groundplan.llm.prompt import load_prompt
from groundplan.llm.reply import Reply
from groundplan.llm.schema import Schema, closed, or_null

if TYPE_CHECKING:
    from groundplan.llm.calls import Calls

OFFERED = 4
MAX_TOKENS = 320
LONGEST = 256
MOST_ITEMS = 8
MOST_FIELDS = 12  # of earlier steps to choose from, per param
DESCRIBED = 90  # characters of a description
NONE = "none"


class Call(Contract):
    """The model's choice for one part."""

    tool: str
    params: JsonObject = {}


@dataclass
class ByModel:
    """Chooses with a model, and by rules if it gives no reply. Replies are cached by prompt."""

    calls: Calls
    example: Plan | None = None  # a plan that a user marked as good
    calls_made: dict[str, Call | None] = field(default_factory=dict)  # by prompt

    async def __call__(self, request: PartRequest) -> Chosen | None:
        words = await by_words(request)
        tools = request.fitting[:OFFERED]
        if not tools or (request.attempt == 1 and words and words.tool == tools[0] and _settled(words, request)):
            return words
        prompt = load_prompt("compose").fill(
            example="".join(_shown(step) for step in self._alike(tools)),
            earlier="; ".join(_given(made) for made in request.earlier if made.fields) or "nothing",
            part=_line(request.part),
            tools="\n".join(_told(tool) for tool in tools),
            attempt=str(request.attempt),
            errors=request.problem,
        )
        if prompt not in self.calls_made:
            told = await self.calls.ask(prompt, Call, schema=_schema(tools, request), max_tokens=MAX_TOKENS)
            self.calls_made[prompt] = told.value if isinstance(told, Reply) else None
        call = self.calls_made[prompt]
        if call is None:
            return words
        tool = next((one for one in tools if one.name == call.tool), None)
        return _chosen(tool, call.params, request) if tool else None

    def _alike(self, tools: Sequence[Tool]) -> list[Step]:
        """The first step of the example that calls one of these tools."""
        steps = self.example.steps if self.example else ()
        return [step for step in steps if step.tool in {tool.name for tool in tools}][:1]


def _settled(words: Chosen, request: PartRequest) -> bool:
    """Whether the rules decide everything: all values are assigned, and other tools supply the missing params."""
    filling = words.filling
    return filling.sure or (bool(filling.missing) and not filling.guessed and request.suppliable(words))


def _shown(step: Step) -> str:
    call = json.dumps({"tool": step.tool, "params": thaw(step.params)}, ensure_ascii=False)
    return f"\n\nPart: {_line(step.rationale)}\n{call}"


def _chosen(tool: Tool, params: Mapping[str, Any], request: PartRequest) -> Chosen:
    """The model's params; rules fill params for which the words give a list of values."""
    told: dict[str, Any] = dict(thaw(params))  # type: ignore[call-overload]
    said = {name: value for name, value in told.items() if value not in (None, "", []) and is_said(value, request.part)}
    said = {name: as_reference(value, properties_of(tool)[name], request) for name, value in said.items()}
    words = fill(tool, request.part, request.earlier)
    for name, value in words.params.items():
        if name not in said and (name in required_of(tool) or isinstance(value, dict)):
            said[name] = value
    missing = tuple(name for name in required_of(tool) if name not in said)
    fanned = words.fanned if words.fanned and said.get(words.fanned[0]) in words.fanned[1] else None
    return Chosen(tool, Filling(said, missing, fanned=fanned))


def as_reference(value: Any, wanted: Mapping[str, Any], request: PartRequest) -> Any:
    """Turn a text that names a field of an earlier step into a reference."""
    named = set(stems(value)) if isinstance(value, str) else set()
    for made in reversed(request.earlier):
        for given, told in made.fields.items():
            if named and named == set(stems(given)) and compatible(told, wanted):
                return taken(made, given, wanted)
    return _as_wanted(value, wanted, request)


def _as_wanted(value: Any, wanted: Mapping[str, Any], request: PartRequest) -> Any:
    """The model's reference, converted to text if the param requires text."""
    reference = read_reference(value)
    made = next((one for one in request.earlier if reference and one.step.id == reference.step), None)
    return taken(made, reference.field, wanted) if made and reference and reference.field in made.fields else value


def _schema(tools: tuple[Tool, ...], request: PartRequest) -> Schema:
    calls: list[Any] = [
        closed({"tool": {"enum": [tool.name]}, "params": closed(dict(param_schemas(tool, request)))}) for tool in tools
    ]
    return {"anyOf": [*calls, closed({"tool": {"enum": [NONE]}})] if may_be_nothing(request) else calls}


def may_be_nothing(request: PartRequest) -> bool:
    """Whether the model may choose no tool: only for a part without values and without a matching action tool."""
    return not values_in(request.part) and all(tool.effect == "read" for tool in request.fitting)


def param_schemas(tool: Tool, request: PartRequest) -> Iterator[tuple[str, Schema]]:
    """The schema of each param: its own type, a fitting reference, or null."""
    said = set(stems(request.part))
    for name, schema in properties_of(tool).items():
        plain = _plain(schema)
        if plain is None or (name not in required_of(tool) and not is_hinted(name, schema, request.part)):
            continue
        fields = [
            f"{made.step.id}.{given}"
            for made in request.earlier
            for given, told in made.fields.items()
            if compatible(told, schema) and (linked(name, True, given, made, said) > 0 or _pointed(given, said))
        ]
        if fields and not choices_of(schema):
            listed = cast(list[JsonValue], [*dict.fromkeys(fields)][-MOST_FIELDS:])
            reference: Schema = closed({"$from": {"enum": listed}})
            yield name, {"anyOf": [plain, reference, {"type": "null"}]}
        else:
            yield name, or_null(plain)


def _pointed(given: str, said: set[str]) -> bool:
    return bool(set(stems(given)) & said)


def _plain(schema: Mapping[str, Any]) -> Schema | None:
    choices = choices_of(schema)
    if choices:
        return {"enum": cast(list[JsonValue], [*choices])}
    types = types_of(schema)
    if "array" in types:
        inner = schema.get("items")
        return {
            "type": "array",
            "items": (_plain(inner) if isinstance(inner, Mapping) else None) or {"type": "string"},
            "maxItems": MOST_ITEMS,
        }
    for plain in ("number", "integer", "boolean"):
        if plain in types:
            return {"type": plain}
    return None if types == {"object"} else {"type": "string", "maxLength": LONGEST}


def _told(tool: Tool) -> str:
    """`book_slot(day, slot, title?) books a slot`"""
    required = required_of(tool)
    params = ", ".join(name if name in required else f"{name}?" for name in properties_of(tool))
    return f"{tool.name}({params}) {_line(tool.description)[:DESCRIBED]}"


def _given(made: Made) -> str:
    return f"{made.step.id} gives {', '.join([*made.fields][:8])}"


def _line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()
