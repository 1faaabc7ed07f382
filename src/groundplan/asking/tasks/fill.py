"""Fills the params of a step by rules, from values in the task and from earlier steps."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, cast

from pydantic import JsonValue

from groundplan.asking.tasks.task_words import glossed, load_compose_words, spoken, stems, tool_words, unquoted
from groundplan.asking.tasks.values import TextValue, phrases_in, values_in
from groundplan.contracts.contract import thaw
from groundplan.contracts.plan import INPUT, Step
from groundplan.contracts.references import read_reference
from groundplan.contracts.tool import Tool
from groundplan.text.names import name_words, singular
from groundplan.text.stems import stem

STRONG, LIKELY, WEAK = 3.0, 1.5, 0.4
HINTED = 0.8  # the score from which a model is asked about an optional param
TELLING = 6  # letters that make a single word specific
NAMED_FOR = 2.0  # a param and a field have the same name, or the field belongs to what the param names
SAME_PARAM = 1.8  # an earlier step has a param of the same name
NEAR = 4  # words before a value in which its label may stand
PLURAL_ENDINGS = ("ы", "и", "ов", "ей", "ев", "ам", "ям", "ах", "ях", "ами", "ями")  # of Russian nouns
_EXAMPLES = re.compile(r"(?:e\.g\.|such as|for example|one of|either|:)\s*([^.()]*)", re.IGNORECASE)
_PLACE = re.compile(r"\{(\w+)\}")
DIGITS = re.compile(r"\+?\d+")
Json = dict[str, Any]


@dataclass(frozen=True)
class Made:
    """A step of the workflow, and its subject if one part became several steps."""

    step: Step
    tool: Tool
    subject: str | None = None

    @property
    def fields(self) -> Mapping[str, Json]:
        """The fields that later steps may refer to, with their schemas."""
        properties = self.tool.returns.get("properties")
        given = cast(Mapping[str, Json], properties) if isinstance(properties, Mapping) else {}
        return {name: schema for name, schema in given.items() if read_reference({"$from": f"step.{name}"})}


@dataclass(frozen=True)
class Filling:
    """Params filled by rules. `fanned` is a param that takes one value and for which the words give several.

    `sure`: every value in the words is assigned for a reason other than its position, and nothing is guessed.
    """

    params: Json
    missing: tuple[str, ...]
    fanned: tuple[str, tuple[JsonValue, ...]] | None = None
    sure: bool = False
    guessed: bool = False  # a value is assigned only by its position


def properties_of(tool: Tool) -> dict[str, Json]:
    return cast(dict[str, Json], thaw(tool.params.get("properties", {})))


def required_of(tool: Tool) -> tuple[str, ...]:
    return tuple(cast(Sequence[str], tool.params.get("required", ())))


def types_of(schema: Mapping[str, Any]) -> frozenset[str]:
    named = schema.get("type")
    if isinstance(named, str):
        return frozenset({named})
    inner = [one for key in ("anyOf", "oneOf") for one in schema.get(key, ()) if isinstance(one, Mapping)]
    listed = frozenset(map(str, named)) if isinstance(named, list | tuple) else frozenset[str]()
    return listed.union(*(types_of(one) for one in inner)) - {"null"}


def choices_of(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """The allowed words of an enum or const schema."""
    own = schema.get("enum", [schema["const"]] if "const" in schema else ())
    inner = [one for key in ("anyOf", "oneOf") for one in schema.get(key, ()) if isinstance(one, Mapping)]
    return tuple(one for one in (*own, *(c for i in inner for c in choices_of(i))) if isinstance(one, str))


def fill(tool: Tool, text: str, earlier: Sequence[Made] = ()) -> Filling:
    """Assign to each param the value that fits best. Stated values are preferred to guesses by position."""
    schemas, required = properties_of(tool), required_of(tool)
    stated = _stated(tool, text)
    params = {name: value for name, value in stated.params.items() if not is_no_address(tool, name, value)}
    params = _with_choices(params, schemas, text)
    found = _references(schemas, required, params, _without_name(text, tool), earlier)
    params.update((name, value) for name, value in found if not is_unsaid_amount(tool, name, text))
    sure, guessed = stated.sure, stated.guessed
    lacking = [name for name in required if name not in params]
    for name, guess in _guesses(schemas, lacking, text) if tool.effect == "read" else ():  # effects take no guesses
        params[name], sure, guessed = guess, False, True
    params = {name: personal(value, earlier) for name, value in params.items()}
    missing = tuple(name for name in required if name not in params) or _unidentified(tool, params, text)
    sure = sure and not missing and bool(stated.used) and {one.group for one in values_in(text)} <= stated.used
    return Filling(params, missing, stated.fanned, sure, guessed)


@dataclass
class _Stated:
    """The params whose values the text states."""

    params: Json = field(default_factory=dict)
    fanned: tuple[str, tuple[JsonValue, ...]] | None = None
    used: set[int] = field(default_factory=set)  # groups of values
    sure: bool = True
    guessed: bool = False


def _stated(tool: Tool, text: str) -> _Stated:
    schemas, required, made = properties_of(tool), required_of(tool), _Stated()
    for score, name, said in sorted(_offers(schemas, required, text), key=lambda one: -one[0]):
        is_taken = name in made.params or said.group in made.used
        if is_taken or (tool.effect == "write" and _is_another_kind(name, said, text)):
            continue
        members = [one for one in values_in(text) if one.group == said.group] or [said]
        if "array" in types_of(schemas[name]):
            made.params[name] = [_typed(one, schemas[name].get("items") or {}) for one in members]
        else:
            made.params[name] = _typed(said, schemas[name])
            if len(members) > 1 and said.kind in ("email", "code", "quoted", "name"):
                made.fanned = name, tuple(_typed(one, schemas[name]) for one in members)
        made.used.add(said.group)
        made.sure, made.guessed = made.sure and score >= LIKELY, made.guessed or score < HINTED
    return made


def _is_another_kind(name: str, said: TextValue, text: str) -> bool:
    """True if a name or a quoted text would become a number of something, an address, a day or a time."""
    kinds, words = load_compose_words().kinds, set(name_words(name))
    wanted = {kind for kind in ("code", "email", "date", "time") if words & set(kinds[kind])}
    other = wanted and not words & set(kinds["name"]) and said.kind in ("name", "quoted")
    return bool(other) and _labelled(name, said, text) == 0.0


def is_unsaid_amount(tool: Tool, name: str, text: str) -> bool:
    """True if a change would take an amount that the words do not name from another step: `copies` of a book."""
    schema, words = properties_of(tool)[name], name_words(name)
    amount = types_of(schema) & {"number", "integer"} and not set(words) & set(load_compose_words().kinds["code"])
    return tool.effect == "write" and bool(amount) and not set(map(stem, words)) & set(stems(text))


def _unidentified(tool: Tool, params: Json, text: str) -> tuple[str, ...]:
    """The param that would tell one thing from the others, if a tool that is given nothing is to return one."""
    if params or (tool.returns.get("x-many") and not _says_one(tool, text)):
        return ()
    kinds = load_compose_words().kinds
    telling = {*kinds["email"], *kinds["code"]} if not tool.returns.get("x-many") else set[str]()
    return tuple(name for name in properties_of(tool) if not telling or telling & set(name_words(name)))[:1]


def _says_one(tool: Tool, text: str) -> bool:
    """True if the words name one of what the tool lists: `look up the customer` of `list_customers`."""
    known = load_compose_words()
    said = name_words(unquoted(text))
    if {*known.several, *known.placed} & set(said):
        return False
    things = {stem(word) for word in tool_words(tool.name)[1:]}
    named = [word for word in said if {stem(one) for one in glossed(word).split()} & things]
    return bool(named) and not any(_is_plural(word) for word in named)


def _is_plural(word: str) -> bool:
    return singular(word) != word if word.isascii() else word.endswith(PLURAL_ENDINGS)


def _with_choices(params: Json, schemas: Mapping[str, Json], text: str) -> Json:
    """With the allowed word that the text says; without a value that is not allowed."""
    made = dict(params)
    for name, schema in schemas.items():
        chosen, allowed = params.get(name), choices_of(schema)
        choice = _chosen(schema, text)
        if choice is not None and (allowed or chosen is None):
            made[name] = choice
        elif allowed and isinstance(chosen, str) and chosen not in allowed:
            del made[name]
    return made


def _offers(schemas: Mapping[str, Json], required: Sequence[str], text: str) -> Iterator[tuple[float, str, TextValue]]:
    said = values_in(text)
    for name, schema in schemas.items():
        for one in said:
            score = _fit(name, schema, one, text)
            if score >= (WEAK if name in required else LIKELY):
                yield score + (0.1 if name in required else 0.0), name, one


def _guesses(schemas: Mapping[str, Json], missing: Sequence[str], text: str) -> Iterator[tuple[str, JsonValue]]:
    """Phrases after a preposition, for text params without another value; the best labelled first."""
    said, known = values_in(text), load_compose_words()
    away = {*known.pointing, *known.people}
    free = [
        one
        for one in phrases_in(text)
        if all(one.end <= other.start or one.start >= other.end for other in said)
        and not away & set(name_words(one.text))
    ]
    for name in missing:
        spoken_of = not {"email", "mail"} & set(name_words(name))  # an email address is never guessed
        if spoken_of and types_of(schemas[name]) <= {"string"} and not choices_of(schemas[name]) and free:
            best = max(free, key=lambda one: (_labelled(name, one, text), -one.start))
            free.remove(best)
            yield name, best.value


def _fit(name: str, schema: Mapping[str, Any], said: TextValue, text: str) -> float:
    """How well a value fits a param; negative if it cannot."""
    types = types_of(schema)
    if types and not types & _json_types(said, types):
        return -1.0
    choices = choices_of(schema)
    if choices and str(said.value).lower() not in {choice.lower() for choice in choices}:
        return -1.0
    words, known = set(name_words(name)), load_compose_words().kinds
    own = bool(words & set(known.get(said.kind, ())))
    if said.kind in ("email", "url", "time") and not own:
        return WEAK if said.kind == "url" else -1.0
    if said.kind in ("number", "date") and types == {"string"} and words & set(known["email"]):
        return -1.0
    score = _labelled(name, said, text)
    score += LIKELY if own and said.kind in ("email", "url", "date", "time", "code") else 0.5 if own else 0.0
    counted = types & {"number", "integer"} and name_words(name)[-1:] != ("id",)
    score += 0.5 if said.kind == "number" and counted else 0.0
    score += (
        0.05 if said.kind == "quoted" and not words & set(known["email"]) else 0.0
    )  # quotes are content rather than recipients
    score += _described(schema, said, text)
    return score + (WEAK if said.kind in ("quoted", "name", "code", "number", "date") else 0.0)


def _labelled(name: str, said: TextValue, text: str) -> float:
    """A score if the param's name, or a synonym, comes just before the value."""
    before = [stem(word) for word in re.findall(r"[^\W\d_]+", text[: said.start])[-NEAR:]]
    called = load_compose_words().called
    words = name_words(name)
    near = {stem(word) for one in words for word in called.get(one, (one,))}
    hit = [place for place, word in enumerate(reversed(before)) if word in near]
    if hit:
        return STRONG - 0.4 * hit[0]
    behind = [stem(word) for word in re.findall(r"[^\W\d_]+", text[said.end :])[:2]]
    return 1.0 if near & set(behind) else 0.0


def _described(schema: Mapping[str, Any], said: TextValue, text: str) -> float:
    """A score if the param's description mentions the value, or the unit after it."""
    told = set(stems(str(schema.get("description", ""))))
    behind = [stem(word) for word in re.findall(r"[^\W\d_]+", text[said.end :])[:1]]
    return 0.6 if told & set(behind) or stem(said.text) in told else 0.0


def _json_types(said: TextValue, wanted: frozenset[str]) -> frozenset[str]:
    if said.kind == "number":
        whole = isinstance(said.value, int) or float(cast(float, said.value)).is_integer()
        return frozenset({"number", "string", "array", *(("integer",) if whole else ())})
    if said.kind in ("code", "quoted") and wanted <= {"number", "integer"}:
        return frozenset({"number", "integer"}) if re.fullmatch(r"-?\d+(\.\d+)?", said.text) else frozenset()
    return frozenset({"string", "array"})


def _typed(said: TextValue, schema: Mapping[str, Any]) -> JsonValue:
    """The value as the param takes it. Digits that become text stay as they were written: `+445678`, `0070`."""
    value, types = said.value, types_of(schema)
    if isinstance(value, int | float) and not isinstance(value, bool):
        if types and types <= {"string"}:
            return said.text if DIGITS.fullmatch(said.text) else str(value)
        return int(value) if "integer" in types else float(value) if types == {"number"} else value
    if isinstance(value, str) and types and types <= {"number", "integer"}:
        return float(value) if "." in value or "integer" not in types else int(value)
    return value


def _chosen(schema: Mapping[str, Any], text: str) -> JsonValue:
    """A word of the task that is among the param's allowed values or examples."""
    listed = choices_of(schema)
    said = spoken(text)
    known = listed or (_examples(str(schema.get("description", ""))) if types_of(schema) <= {"string"} else ())
    found = [one for one in known if spoken(one).strip() and spoken(one) in said]
    return max(found, key=len) if found else None


@lru_cache(maxsize=10_000)
def _examples(description: str) -> tuple[str, ...]:
    found = _EXAMPLES.search(description)
    parts = re.split(r",|\bor\b|\band\b|/", found[1]) if found else []
    return tuple(part.strip(" '\"") for part in parts if 2 < len(part.strip(" '\"")) < 40)


def _references(
    schemas: Mapping[str, Json], required: Sequence[str], params: Json, text: str, earlier: Sequence[Made]
) -> Iterator[tuple[str, Json]]:
    """References for missing params: a field that the words name, or a field with the param's name."""
    said, used = set(stems(text)), set[str]()
    for name, schema in schemas.items():
        if name in params or choices_of(schema):
            continue
        pointed = name in required and not used and points_back(text)
        ranked = [
            (
                max(linked(name, name in required, field, made, said), pointed and near(field, made, earlier)),
                place,
                field,
            )
            for place, made in enumerate(earlier)
            if "array" in types_of(schema) or gives_one(made.tool, text)
            for field, given in made.fields.items()
            if compatible(given, schema) and f"{made.step.id}.{field}" not in used
        ]
        score, place, field = max(ranked, default=(0.0, 0, ""))
        same = [made.step.params[name] for made in reversed(earlier) if isinstance(made.step.params.get(name), str)]
        if name in required and same and score < SAME_PARAM:
            yield name, cast(Json, same[0])  # the subject of the previous step
        elif score > 0:
            used.add(f"{earlier[place].step.id}.{field}")
            yield name, taken(earlier[place], field, schema)


def gives_one(tool: Tool, text: str) -> bool:
    """False if the tool returns a list, and the words mean neither each of its items, nor one by its place, nor it."""
    known = load_compose_words()
    pointed = {*known.several, *known.placed, *known.pointing}
    return not tool.returns.get("x-many") or not pointed.isdisjoint(name_words(text))


def linked(name: str, required: bool, field: str, made: Made, said: set[str]) -> float:
    words, fields = tuple(map(stem, name_words(name))), tuple(map(stem, name_words(field)))
    if made.step.id == INPUT:
        return NAMED_FOR if words == fields else 0.0
    about = {stem(word) for word in tool_words(made.tool.name)}
    if len(fields) > 1 and set(fields) <= said:
        return 3.0
    if required and (words == fields or _holds(words, fields)):
        return NAMED_FOR
    if (
        required
        and len(words) > len(fields)
        and words[-len(fields) :] == fields
        and set(words[: -len(fields)]) <= about
    ):
        return 2.5
    kinds = load_compose_words().kinds
    same = any(
        field in names and set(name_words(name)) & set(names)
        for kind, names in kinds.items()
        if kind in ("email", "time")
    )
    if required and same:
        return 1.5
    return 1.0 if required and len(fields) == 1 and set(fields) <= said and fields[0] not in ("id", "name") else 0.0


def _holds(words: Sequence[str], fields: Sequence[str]) -> bool:
    """Whether names match: `originSkyId` and `skyId`, `username_or_url` and `username`, but not any `…_id` and `id`."""
    telling = len(fields) > 1 or (len(fields) == 1 and len(fields[0]) >= TELLING)
    places = range(len(words) - len(fields) + 1)
    return telling and any(tuple(words[place : place + len(fields)]) == tuple(fields) for place in places)


def _without_name(text: str, tool: Tool) -> str:
    """The text without the tool's name: `send an email` does not mean the field `email` of an earlier step."""
    own = {stem(word) for word in tool_words(tool.name)}
    return " ".join(word for word in text.split() if not own & set(stems(word)))


def points_back(text: str) -> bool:
    """Whether a pronoun refers to the result of the previous step: `convert it`."""
    return bool(set(name_words(unquoted(text))) & set(load_compose_words().pointing))


def near(field: str, made: Made, earlier: Sequence[Made]) -> float:
    """A score if the field is the main result of the previous step."""
    about = {stem(word) for word in tool_words(made.tool.name)}
    named = bool(about & {stem(word) for word in name_words(field)}) or len(made.fields) == 1
    return 1.3 if made is earlier[-1] and named else 0.0


def compatible(given: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether the type of a field fits a param; a list can be written as text."""
    have, want = types_of(given), types_of(wanted)
    if not have or not want or have & want:
        return True
    return (have <= {"integer"} and "number" in want) or (want == {"string"} and "object" not in have)


def taken(made: Made, field: str, wanted: Mapping[str, Any]) -> Json:
    """A reference to a field, converted to text if the param requires text."""
    reference = {"$from": f"{made.step.id}.{field}"}
    have, want = types_of(made.fields[field]), types_of(wanted)
    return {"$join": [reference]} if have and want == {"string"} and "string" not in have else reference


def reaches_nobody(tool: Tool, name: str, field: str) -> bool:
    """Whether a param that says who gets something would take a field that is no address: a country, a name."""
    reached = load_compose_words().reached
    addressed = tool.effect == "write" and not {*reached.params}.isdisjoint(name_words(name))
    return addressed and {*reached.fields}.isdisjoint(name_words(field))


def is_no_address(tool: Tool, name: str, value: object) -> bool:
    """Whether a param that takes the address of a mail would take another text: `Norway`."""
    words, reached = {*name_words(name)}, {*load_compose_words().reached.params}
    mails = not {"email", "mail", "e"}.isdisjoint(name_words(f"{tool.name} {tool.description}"))
    addressed = bool(words & {"email", "mail"}) or (tool.effect == "write" and mails and bool(words & reached))
    return addressed and isinstance(value, str) and "@" not in value


def personal(value: JsonValue, earlier: Sequence[Made]) -> JsonValue:
    """Fill `Dear {name}` with a reference to the field of that name, if an earlier step has one."""
    if not isinstance(value, str) or not _PLACE.search(value):
        return value
    parts: list[JsonValue] = []
    at = 0
    for found in _PLACE.finditer(value):
        made = next((one for one in reversed(earlier) if found[1] in one.fields), None)
        if made is None:
            return value
        parts += [value[at : found.start()], {"$from": f"{made.step.id}.{found[1]}"}]
        at = found.end()
    return {"$join": [part for part in (*parts, value[at:]) if part != ""]}
