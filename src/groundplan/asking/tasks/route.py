"""The route for tasks: things to do with the tools of MCP servers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from groundplan.asking.route import Route, load_planners
from groundplan.asking.tasks.read import MOST_PARTS, parts_of, read_task
from groundplan.asking.tasks.task_words import first_of, glossed, stems, tool_words, unquoted
from groundplan.budget import aside
from groundplan.context import Context
from groundplan.contracts.answer import Clarification, Refusal, refused
from groundplan.contracts.question import Question
from groundplan.contracts.reading import Goal, Reading
from groundplan.text.names import name_words
from groundplan.text.similar import content_stems
from groundplan.text.stems import stem

MESSAGE = re.compile(
    r"(?:^|[.;,:]|\b(?:and|then|also|please|и|а|затем|потом|также)\b)\s*"
    r"(let (?!me\b|us\b)[^;,\n]{1,60}? know\b|дай (?!мне\b|нам\b)[^;,\n]{1,60}? знать\b"
    r"|tell (?!me\b|us\b)[^;,\n]{1,60}? (?:by|via) \w+"
    r"|сообщи(?:те)? (?!мне\b|нам\b)[^;,\n]{1,60})",
    re.IGNORECASE,
)  # a message whose text and way nobody has said
ACTS = 0.95  # the score if the text begins with the verb of a tool with an effect
LOOKS_UP = 0.9  # the score if the text names a tool that reads by its whole name


class Tasks(Route):
    name, is_remembered, reports_steps = "tasks", False, True

    def accepts(self, question: Question, context: Context, values: Mapping[str, Any]) -> float:
        data = any(schema.tables or schema.knowledge for schema in context.schemas.values())
        if not context.has_actions:
            return 0.0
        chosen = question.strategy in {planner.name for planner in load_planners(self.name)}
        return 1.0 if chosen or not data else _named(question.text, context)

    async def read(self, question: Question, context: Context) -> Reading | Clarification | Refusal:
        parts = await aside(partial(parts_of, question.text))
        if len(parts) > MOST_PARTS:
            problem = f"the task asks for {len(parts)} things"
            return refused("reading/too-many-parts", problem, f"ask for at most {MOST_PARTS} at a time")
        task = await aside(partial(read_task, question.text))
        if message := message_in(question.text):
            problem = f"no step does {message[1].strip()!r}: the task does not say what is sent, or how"
            return refused("reading/message", problem, "say it as a step of its own, with what a tool needs for it")
        wanted = any(isinstance(requirement.value, Goal) for requirement in task.requirements)
        return task if wanted else Clarification(text="What should be done?", missing="a task", open=True)

    def nothing_found(self, context: Context) -> Refusal | None:
        return None


def message_in(text: str) -> re.Match[str] | None:
    """The words outside quotes that ask for a message and say nothing of it."""
    return MESSAGE.search(unquoted(text))


def _named(text: str, context: Context) -> float:
    """How well the words name a tool: by its verb if it has an effect, by its whole name if it reads."""
    goals = [part.text for part in parts_of(text)[:MOST_PARTS] if part.kind == "do"]
    verbs = {stem(word) for goal in goals for word in glossed(first_of(name_words(goal))).split()}
    said = content_stems(text) | set(stems(text))
    best = 0.0
    for tool in (tool for tool in context.catalog.tools.values() if tool.is_action):
        words = [stem(word) for word in tool_words(tool.name)]
        if tool.effect == "write" and words[:1] and words[0] in verbs and said & set(words[1:] or words):
            return ACTS
        share = len(said & set(words)) / len(said) if said else 0.0
        best = max(best, LOOKS_UP * share)
    return best
