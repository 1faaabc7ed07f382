"""Joins sentences into one text, with the citations in order."""

from __future__ import annotations

from collections.abc import Sequence

from groundplan.answering.writing.forms import Sentence
from groundplan.contracts.answer import Citation
from groundplan.contracts.contract import Language

STEPS = frozenset({"done", "met", "unmet", "passed_by", "broken", "gave", "gave_list", "gave_text", "gave_nothing"})
RANKS = frozenset({"place", "entry", "ranked_group", "one_of_each", "tied_entry"})
TABLES = frozenset({"rows", "row", "row_of_text", "name_rows", "name_row"})
LISTS = (
    RANKS
    | TABLES
    | {
        "share",
        "anomaly",
        "forecast_entry",
        "summary",
        "summary_of_text",
        "item",
        "item_of_text",
        "group",
        "more",
        "more_on_request",
    }
)
LINES = LISTS | STEPS
HEADS = frozenset(
    {
        "top",
        "bottom",
        "top_tied",
        "bottom_tied",
        "top_of_each",
        "bottom_of_each",
        "shares",
        "anomalies",
        "anomalies_one",
        "forecast",
    }
)


def text_of(sentences: Sequence[Sentence], language: Language) -> tuple[str, tuple[Citation, ...]]:
    text, citations = "", []
    before: Sentence | None = None
    for sentence in sentences:
        if before:
            alone = sentence.form in LINES | HEADS or before.form in LINES
            text += "\n" if alone else " "
        for part in sentence.parts(language):
            if isinstance(part, Citation):
                citations.append(part.model_copy(update={"start": len(text)}))
            text += part if isinstance(part, str) else part.text
        before = sentence
    return text, tuple(citations)
