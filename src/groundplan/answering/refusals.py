"""Refusals in the language of the question."""

from __future__ import annotations

import re
from collections.abc import Mapping

from groundplan.contracts.answer import Refusal

QUOTED = re.compile(r"'([^']*)'")
TABLE = re.compile(r"(\S+) has (.+)")
REASONS: Mapping[str, str] = {
    "reading/unknown": "В данных нет ничего с названием «{}».",
    "reading/unread-word": "В данных нет ничего с названием «{}».",
    "reading/no-question": "Слова знакомы, но неясно, о чём вместе они спрашивают.",
    "reading/nothing": "Вопрос не называет ничего из того, что есть в данных.",
    "reading/empty": "В вопросе нет слов.",
    "reading/too-long": "Вопрос слишком длинный.",
    "reading/no-time": "В данных нет дат, поэтому «{}» показать нельзя.",
    "reading/no-data": "Нет данных, о которых можно спросить.",
    "reading/chart": "Такой график здесь не рисуется.",
    "reading/file": "Файл так не сохранить: назовите папку в --output.",
    "reading/rank-size": "Столько мест показать нельзя: от 1 до 10000.",
    "reading/two-times": "Две оси времени в одном вопросе показать нельзя.",
}
"""What a refusal says, by the code of its issue; `{}` is the word that the issue quotes."""
OTHERWISE = "На этот вопрос ответить не удалось."


def in_russian(refusal: Refusal) -> Refusal:
    """The refusal with a Russian text. The issues stay as they are: they are for tools."""
    return refusal.model_copy(update={"text": " ".join(_told(refusal))})


def _told(refusal: Refusal) -> list[str]:
    issue = refusal.issues[0] if refusal.issues else None
    reason = REASONS.get(issue.code) if issue else None
    if issue is None or reason is None:
        return [OTHERWISE, refusal.text]
    word = QUOTED.search(issue.problem)
    if "{}" in reason and word is None:
        return [OTHERWISE, refusal.text]
    table = TABLE.fullmatch(issue.hint or "")
    known = [f"В таблице {table[1]} есть: {table[2]}."] if table else []
    return [reason.format(word[1] if word else ""), *known]
