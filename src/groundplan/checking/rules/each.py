"""Steps that run for each item of a list: the list is one, it is read, and each item was asked for."""

from __future__ import annotations

from collections.abc import Iterator

from groundplan.checking.draft import Draft
from groundplan.checking.rules.references import TEXT
from groundplan.contracts.contract import thaw
from groundplan.contracts.issue import Issue
from groundplan.contracts.plan import Step
from groundplan.contracts.reading import Goal
from groundplan.contracts.references import Reference, references
from groundplan.contracts.tool import Tool


def not_a_list(draft: Draft) -> Iterator[Issue]:
    """A step runs for each item of a list that one earlier step reads, and that step is among its needs.

    Only a step that calls a tool of a source runs so, and the tool takes no table. The step with the list does not
    itself run for each item of another.

    Fails: `send_email` runs for each item of `customer`, whose tool finds one customer.
    """
    for index, step in enumerate(draft.plan.steps):
        problem = _no_list(draft, step) if step.for_each else ""
        if problem:
            yield Issue(
                code="each/not-a-list",
                step=step.id,
                path=f"steps.{index}.for_each",
                problem=f"step {step.id!r} runs for each item of {step.for_each!r}, {problem}",
                hint="name an earlier step whose tool lists items, and put it into needs",
            )


def _no_list(draft: Draft, step: Step) -> str:
    tool, listing = draft.tools.get(step.id), draft.wiring.by_id.get(step.for_each or "")
    given = draft.tools.get(step.for_each or "")
    if step.kind != "tool" or tool is None or tool.inputs or tool.output.kind != "facts":
        return "but only a step that calls a tool with plain params can"
    if listing is None or step.for_each not in draft.wiring.data_needs(step):
        return "which it does not need as an earlier step"
    if listing.for_each:
        return "which runs for each item of another list"
    if given is None or given.effect != "read":
        return "which changes something"
    return "" if is_list(given) else "whose tool does not list anything"


def is_list(tool: Tool) -> bool:
    """Whether a tool returns a list of items, of which `returns` describes one."""
    return bool(tool.returns.get("x-many"))


def list_after_effect(draft: Draft) -> Iterator[Issue]:
    """A list whose items are changed depends on no step with an effect, so that it can be read before approval.

    Fails: `create_ticket`, then `list_tickets`, which needs it, then `close_ticket` for each item of `list_tickets`.
    """
    for index, step, tool in draft.tool_steps():
        before = [*_effects_before(draft, step.for_each)] if step.for_each and tool.effect == "write" else []
        if before:
            yield Issue(
                code="each/list-after-effect",
                step=step.id,
                path=f"steps.{index}.for_each",
                problem=f"the list of {step.for_each!r} depends on {before[0]!r}, which changes something",
                hint="do that in a task of its own first, so that the items can be shown before they are approved",
            )


def _effects_before(draft: Draft, name: str) -> Iterator[str]:
    seen: set[str] = set()
    waiting = [name]
    while waiting:
        step = draft.wiring.by_id.get(waiting.pop())
        if step is None or step.id in seen:
            continue
        seen.add(step.id)
        tool = draft.tools.get(step.id)
        if tool and tool.effect == "write":
            yield step.id
        waiting += step.needs


def item_unused(draft: Draft) -> Iterator[Issue]:
    """A step that runs for each item takes a field of the item; otherwise it would do the same again and again.

    The item has the fields that the list's tool returns; `text` is that of the whole list, which is no item's.

    Fails: `send_email` runs for each item of `customers` and has the same address for all of them.
    """
    for index, step, _ in draft.tool_steps():
        taken = [one for _, one in references(step.params) if one.step == step.for_each]
        whole = [one for one in taken if _is_whole_text(draft, one)]
        if step.for_each and (whole or not taken):
            what = "takes the text of the whole list" if whole else "takes nothing from the item"
            yield Issue(
                code="each/item-unused",
                step=step.id,
                path=f"steps.{index}.params",
                problem=f"step {step.id!r} runs for each item of {step.for_each!r} and {what}",
                hint=f'take a field of the item, such as {{"$from": "{step.for_each}.id"}}',
            )


def result_of_each(draft: Draft) -> Iterator[Issue]:
    """No step refers to a step that runs for each item: it has as many results as there are items.

    Fails: `get_orders` runs for each customer, and `send_email` takes `orders.id`.
    """
    for index, step, _ in draft.tool_steps():
        for path, reference in references(step.params):
            found = draft.wiring.by_id.get(reference.step)
            if found is not None and found.for_each:
                yield Issue(
                    code="each/result-of-each",
                    step=step.id,
                    path=f"steps.{index}.{path}",
                    problem=f"step {step.id!r} takes {str(reference)!r}, and {found.id!r} has a result for each item",
                    hint="take the value from another step",
                )


def only_first(draft: Draft) -> Iterator[Issue]:
    """A goal for each of several is not served by a step that takes only the first item of a list.

    Plans written by hand are exempt.

    Fails: "close each of them", and `close_ticket` takes `tickets.id` without `for_each`.
    """
    for index, step, _ in draft.tool_steps():
        if draft.plan.is_by_hand or not _asks_each(draft, step):
            continue
        for path, reference in references(step.params):
            tool = draft.tools.get(reference.step)
            if reference.step != step.for_each and tool and is_list(tool) and not _is_whole_text(draft, reference):
                yield Issue(
                    code="each/only-first",
                    step=step.id,
                    path=f"steps.{index}.{path}",
                    problem=f"step {step.id!r} takes the first item of {reference.step!r}, and each was asked for",
                    hint=f"set for_each to {reference.step!r}",
                )


def unasked_each(draft: Draft) -> Iterator[Issue]:
    """A step with an effect runs for each item of a list only if its goal says so.

    Plans written by hand are exempt.

    Fails: "close the ticket", and `close_ticket` runs for each item of `tickets`.
    """
    for index, step, tool in draft.tool_steps():
        if step.for_each and tool.effect == "write" and not draft.plan.is_by_hand and not _asks_each(draft, step):
            yield Issue(
                code="each/unasked-each",
                step=step.id,
                path=f"steps.{index}.for_each",
                problem=f"step {step.id!r} changes each item of {step.for_each!r}, and its goal does not say `each`",
                hint="remove for_each, or say `each of them` in the task",
            )


def _asks_each(draft: Draft, step: Step) -> bool:
    goals = (draft.requirements[id_].value for id_ in step.satisfies if id_ in draft.requirements)
    return any(isinstance(goal, Goal) and goal.each for goal in goals)


def _is_whole_text(draft: Draft, reference: Reference) -> bool:
    """Whether the reference takes the text of all items, and not a field called `text`."""
    tool = draft.tools.get(reference.step)
    known = thaw(tool.returns.get("properties", {})) if tool else {}
    return reference.field == TEXT and TEXT not in (known if isinstance(known, dict) else {})


RULES = (not_a_list, list_after_effect, item_unused, result_of_each, only_first, unasked_each)
