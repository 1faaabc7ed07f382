"""Text to a Proposal: size, depth, duplicate keys and odd numbers are refused before a model sees them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from typing import NoReturn

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from groundplan.contracts.issue import Issue
from groundplan.contracts.plan import Proposal
from groundplan.contracts.task import PlanResponse
from groundplan.contracts.verdict import Refused

STORY = PlanResponse.model_fields.keys() - Proposal.model_fields.keys()
MAX_BYTES = 256 * 1024
MAX_DEPTH = 32

PARSING_CODES = {
    "limits/size": "A plan is at most 256 KiB of JSON.",
    "limits/depth": "A plan nests at most 32 levels deep.",
    "shape/json": "A plan is one JSON document in UTF-8.",
    "shape/duplicate-key": "A key appears once in its object.",
    "shape/number": "Numbers are finite.",
    "shape/unknown-key": "A plan holds only the keys that its contract has.",
    "shape/missing-field": "A plan has every field that its contract demands.",
    "shape/wrong-type": "Every field has the type and the form that its contract demands.",
}
"""What can be wrong with a text before the rules see a plan."""

_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*"?', re.DOTALL)
_NOT_BRACKETS = re.compile(rb"[^\[\]{}]+")


class _Rejected(ValueError):
    def __init__(self, issue: Issue) -> None:
        super().__init__(issue.problem)
        self.issue = issue


def parse(text: str | bytes) -> Proposal | Refused:
    """A proposal, or every reason why this text is none."""
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    too_large = next(_oversized(raw), None)
    if too_large:
        return Refused(issues=(too_large,))
    try:
        data = json.loads(
            raw.decode("utf-8"),
            object_pairs_hook=_unique_keys,
            parse_constant=_not_a_number,
            parse_float=_finite,
            parse_int=_modest,
        )
    except _Rejected as rejected:
        return Refused(issues=(rejected.issue,))
    except (ValueError, RecursionError) as error:
        return Refused(issues=(Issue(code="shape/json", problem=f"this is not JSON: {error}"),))
    try:
        return Proposal.model_validate_json(json.dumps(_without_story(data)))
    except ValidationError as error:
        return Refused(issues=tuple(_issues(error.errors(include_url=False, include_input=False))))


def _without_story(data: object) -> object:
    """What `plan --json` tells of a plan beside it is for people: only the plan and its reading are checked."""
    if not isinstance(data, dict):
        return data
    return {key: value for key, value in data.items() if key not in STORY}


def _oversized(raw: bytes) -> Iterator[Issue]:
    if len(raw) > MAX_BYTES:
        yield Issue(
            code="limits/size",
            problem=f"the plan has {len(raw):,} bytes; at most {MAX_BYTES:,} are read",
            hint="split the work into several plans",
        )
        return
    depth = deepest = 0
    for bracket in _NOT_BRACKETS.sub(b"", _STRINGS.sub(b"", raw)):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    if deepest > MAX_DEPTH:
        yield Issue(code="limits/depth", problem=f"the plan nests {deepest:,} levels; at most {MAX_DEPTH} are read")


def _unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise _Rejected(
                Issue(code="shape/duplicate-key", problem=f"the key {key[:80]!r} appears twice in one object")
            )
        found[key] = value
    return found


def _not_a_number(word: str) -> NoReturn:
    raise _Rejected(Issue(code="shape/number", problem=f"{word} is not a number that JSON knows"))


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        _not_a_number(digits[:40])
    return value


def _modest(digits: str) -> int:
    if len(digits) > 30:
        _not_a_number(digits[:40] + "…")
    return int(digits)


def _issues(errors: Iterable[ErrorDetails]) -> Iterable[Issue]:
    codes = {
        "extra_forbidden": "shape/unknown-key",
        "missing": "shape/missing-field",
        "json_invalid": "shape/json",
    }
    for error in list(errors)[:50]:
        path = ".".join(str(part) for part in error["loc"])
        yield Issue(
            code=codes.get(error["type"], "shape/wrong-type"),
            problem=f"{path}: {error['msg']}" if path else error["msg"],
            path=path or None,
            hint="see docs/reference/contracts.md for the fields and their types",
        )
