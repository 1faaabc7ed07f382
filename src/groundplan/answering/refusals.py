"""Refusals in the language of the question."""

from __future__ import annotations

import re
from collections.abc import Mapping

from groundplan.contracts.answer import Refusal
from groundplan.text.words import language_of

QUOTED = re.compile(r"'([^']*)'")
HINTS = (  # the parts of a hint, and how they are said
    (re.compile(r"the nearest (?:is|are) (.+)"), "Похоже называется: {}."),
    (re.compile(r"ask for what is there: total (.+) by (.+)"), "Спросите, например: сумма «{}» по «{}»."),
    (re.compile(r"ask for what is there: average (.+) by (.+)"), "Спросите, например: среднее «{}» по «{}»."),
    (re.compile(r"ask for what is there: number of (.+) by (.+)"), "Спросите, например: количество {} по «{}»."),
    (
        re.compile(r"(called = .+) under (\[.+\]) in groundplan\.toml teaches the word"),
        "Слову учит {0} под {1} в groundplan.toml.",
    ),
)
REASONS: Mapping[str, str] = {
    "limits/engine-lacks": "База, в которой лежат данные, этого не умеет («{}»). Спросите о другом.",
    "reading/unread-word": "В данных нет ничего с названием «{}».",
    "reading/message": "Неясно, что и каким инструментом сообщить. Напишите это отдельным шагом.",
    "reading/aggregated-again": "Источник сам считает это для каждой группы: среднего, суммы и доли у этого нет.",
    "reading/no-question": "Слова знакомы, но неясно, о чём вместе они спрашивают.",
    "reading/empty": "В вопросе нет слов.",
    "reading/too-long": "Вопрос слишком длинный.",
    "reading/no-time": "В данных нет дат, поэтому «{}» показать нельзя.",
    "reading/no-data": "Нет данных, о которых можно спросить.",
    "reading/declined": "Ничего не выполнено. Спросите другими словами.",
    "reading/cannot": "По мнению модели, таблицы не могут на это ответить.",
    "reading/unfounded": "Слова «{}» не называют того, что из них прочитано. Назовите столбец или значение.",
    "reading/unsound": "Такое число ничего бы не значило, поэтому оно не посчитано.",
    "reading/judgement": "«{}» — это оценка, её число не скажет. Спросите, с чем это сравнить.",
    "reading/unproven": "Модель написала запрос, который нельзя проверить, поэтому ничего не выполнено. "
    "Спросите о части вопроса или другими словами.",
    "reading/chart": "Такой график здесь не рисуется.",
    "reading/file": "Файл так не сохранить: назовите папку в --output.",
    "reading/unreadable-table": "Таблицу «{}» не удалось прочитать. Исправьте её или спросите о другой таблице.",
    "reading/change": "«{}» просит изменить данные, а здесь они только читаются. Спросите, что в них есть.",
    "reading/periods": "Несколько отдельных периодов вместе показать нельзя. Спросите о каждом по очереди.",
    "reading/rank-nth": "Одно место в рейтинге («{}») показать пока нельзя. Спросите, например, о топ-5.",
    "reading/negation": "Непонятно, что исключает «{}». Назовите значение из данных или спросите без исключения.",
    "reading/period": "Связи в базе знаний не имеют дат, поэтому «{}» учесть нельзя. Спросите без периода.",
    "running/too-many-items": "Шаг «{}» нашёл больше, чем разрешено изменить за один раз, поэтому ничего не сделано. "
    "Сузьте список или разрешите больше: --most-items.",
    "reading/too-many-parts": "Задача просит слишком многого сразу. Спросите по частям.",
    "budget/steps": "Разбор вопроса занял бы слишком много времени. Спросите короче, по частям.",
    "budget/seconds": "Разбор вопроса занял бы слишком много времени. Спросите короче, по частям.",
    "reading/no-list": "Продолжать нечего: в этом разговоре ещё не было списка. Сначала спросите о нём.",
    "lookup/nothing": "Ни в графе, ни в документах об этом ничего не сказано.",
    "reading/in-common": "Найти общее у нескольких («{}») нельзя. Спросите о каждом отдельно.",
}
"""What a refusal says, by the code of its issue; `{}` is the word that the issue quotes."""
KNOWN_WORD = "Слово «{}» есть в данных, но здесь оно непонятно."  # of `reading/unread-word`, which has two problems
OTHERWISE = "На этот вопрос ответить не удалось."


def in_russian(refusal: Refusal) -> Refusal:
    """The refusal with a Russian text. The issues stay as they are: they are for tools."""
    if language_of(refusal.text) == "ru":
        return refusal
    told = _told(refusal)
    changes: dict[str, object] = {"text": " ".join(told)}
    if refusal.unknown and told[0] != OTHERWISE:
        changes["unknown"] = refusal.unknown.model_copy(update={"setting": f" {told[-1]}"})
    return refusal.model_copy(update=changes)


def _told(refusal: Refusal) -> list[str]:
    issue = refusal.issues[0] if refusal.issues else None
    reason = REASONS.get(issue.code) if issue else None
    if issue and issue.problem.startswith("I do not understand"):
        reason = KNOWN_WORD
    if issue is None or reason is None:
        return [OTHERWISE, refusal.text]
    word = QUOTED.search(issue.problem)
    if "{}" in reason and word is None:
        return [OTHERWISE, refusal.text]
    parts = (issue.hint or "").split("; ")
    told = [(said, found) for part in parts for form, said in HINTS if (found := form.fullmatch(part))]
    return [reason.format(word[1] if word else ""), *(said.format(*found.groups()) for said, found in told)]
