"""Parses a text into a `Proposal`. Size, depth, duplicate keys and non-finite numbers are checked before validation."""

from __future__ import annotations

import json
from collections.abc import Iterable

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from groundplan.contracts.issue import Issue
from groundplan.contracts.plan import Proposal
from groundplan.contracts.task import PlanResponse
from groundplan.contracts.verdict import Refused
from groundplan.text.strict_json import Fault, JsonRefused, parse_strictly

STORY = PlanResponse.model_fields.keys() - Proposal.model_fields.keys()
MAX_BYTES = 256 * 1024

PARSING_CODES = {
    "limits/size": "A plan is at most 256 KiB of JSON.",
    "limits/depth": "A plan nests at most 32 levels deep.",
    "shape/json": "A plan is one JSON document in UTF-8.",
    "shape/duplicate-key": "A key appears once in its object.",
    "shape/number": "Numbers are finite.",
    "shape/unknown-key": "A plan has only the keys of its contract.",
    "shape/missing-field": "A plan has every required field of its contract.",
    "shape/wrong-type": "Every field has the type and format that its contract requires.",
}
"""The faults of a text that is not a valid plan; the rules run only after these checks."""

_CODES: dict[Fault, str] = {
    "size": "limits/size",
    "depth": "limits/depth",
    "syntax": "shape/json",
    "duplicate_key": "shape/duplicate-key",
    "number": "shape/number",
}


def parse(text: str | bytes) -> Proposal | Refused:
    """Parse a proposal, or return every reason why the text is not one."""
    try:
        data = parse_strictly(text, MAX_BYTES)
    except JsonRefused as error:
        return Refused(issues=(_issue(error),))
    try:
        return Proposal.model_validate_json(json.dumps(_without_story(data)))
    except ValidationError as error:
        return Refused(issues=tuple(_issues(error.errors(include_url=False, include_input=False))))


def _issue(error: JsonRefused) -> Issue:
    said = f"this is not JSON: {error}" if error.fault == "syntax" else str(error)
    hint = "split the work into several plans" if error.fault == "size" else ""
    return Issue(code=_CODES[error.fault], problem=said, hint=hint)


def _without_story(data: object) -> object:
    """Drop the explanations that `plan --json` adds; only the plan and its reading are checked."""
    if not isinstance(data, dict):
        return data
    return {key: value for key, value in data.items() if key not in STORY}


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
            hint="see docs/reference/contracts.md for the fields and their types; if another version wrote the plan, "
            "make it again with `groundplan plan`",
        )
