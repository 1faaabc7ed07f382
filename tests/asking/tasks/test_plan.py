"""Tasks for a library composed by words: what runs, with what, in which order and under which condition."""

from __future__ import annotations

from typing import Any

import pytest

from groundplan.asking.tasks.choose import can_replace
from groundplan.asking.tasks.plan import NoWorkflow, Workflow, compose
from groundplan.asking.tasks.read import read_task
from groundplan.catalog.catalog import Catalog
from groundplan.catalog.search.parts import search_parts
from groundplan.contracts.facts import StepFacts
from groundplan.contracts.plan import Plan
from groundplan.contracts.step_outcome import StepOutcome
from groundplan.contracts.verdict import Passed
from groundplan.running.routing import route
from tests.asking.tasks.library import (
    FIND_MEMBER,
    NOTE,
    ORDER_BOOK,
    RESERVE_DESK,
    SEND_NOTE,
    TEXT,
    composed,
    params_of,
    plan_of,
    steps_of,
    tool,
    verdict_of,
    writing,
)
from tests.catalog.search.tooling import searching

ANN, BEN, CEM = "ann@lib.org", "ben@lib.org", "cem@lib.org"
DESK = 'reserve a desk on 2026-03-02 for 3 hours with the title "Study"'


def routes_of(plan: Plan) -> list[tuple[dict[str, str], str | None]]:
    return [({route.when: route.to for route in s.routes}, s.default) for s in plan.steps if s.kind == "router"]


@pytest.mark.requirement("R17", "R20")
def test_what_one_step_needs_is_taken_from_the_field_that_it_is_named_for() -> None:
    plan = plan_of(f"Find the member {ANN} and list her loans.")
    assert params_of(plan, "find_member") == {"email": ANN}
    assert params_of(plan, "list_loans") == {"member_id": {"$from": "find_member.id"}}
    assert steps_of(plan)["list_loans"].needs == ("find_member",)


@pytest.mark.requirement("R17")
def test_a_step_that_nobody_named_is_put_before_the_one_that_needs_it() -> None:
    plan = plan_of(f"Report the loans of {ANN}.")
    assert [step.tool for step in plan.steps] == ["find_member", "list_loans"]
    assert params_of(plan, "list_loans") == {"member_id": {"$from": "find_member.id"}}


@pytest.mark.requirement("R17", "R20")
def test_several_people_get_a_step_each() -> None:
    plan = plan_of(f"Send a note {NOTE} to {ANN}, {BEN} and {CEM}.")
    assert [params_of(plan, step.id)["to"] for step in plan.steps] == [ANN, BEN, CEM]
    assert {step.tool for step in plan.steps} == {"send_note"}


@pytest.mark.requirement("R17")
def test_each_of_several_is_told_what_is_theirs() -> None:
    plan = plan_of(
        f"Find the members {ANN} and {BEN} and send each of them a note "
        'with the subject "A" and the text "Dear {name}, you owe {debt}".'
    )
    for find, send in (("find_member", "send_note"), ("find_member_2", "send_note_2")):
        assert params_of(plan, send) == {
            "to": {"$from": f"{find}.email"},
            "subject": "A",
            "text": {"$join": ["Dear ", {"$from": f"{find}.name"}, ", you owe ", {"$from": f"{find}.debt"}]},
        }


def test_a_place_that_no_step_fills_stays_as_it_was_written() -> None:
    plan = plan_of(f'Send {ANN} a note with the subject "A" and the text "Dear {{name}}".')
    assert params_of(plan, "send_note")["text"] == "Dear {name}"


def test_a_list_is_written_as_a_text() -> None:
    plan = plan_of(f'Find the book "Dune" and send {ANN} a note with the subject "Tags" and the tags.')
    assert params_of(plan, "send_note")["text"] == {"$join": [{"$from": "find_book.tags"}]}


@pytest.mark.requirement("R17", "R20")
@pytest.mark.parametrize(
    ("task", "step", "params"),
    [
        (DESK, "reserve_desk", {"day": "2026-03-02", "hours": 3, "title": "Study"}),
        (
            'Reserve a desk titled "Study" for 3 hours on March 2nd, 2026',
            "reserve_desk",
            {"day": "2026-03-02", "hours": 3, "title": "Study"},
        ),
        ("Charge member 12 a fee of 5", "charge_fee", {"member_id": 12, "amount": 5.0}),
        (
            f"Charge {ANN} a fee of 12.50 on 2026-03-02",
            "charge_fee",
            {"member_id": {"$from": "find_member.id"}, "amount": 12.5, "day": "2026-03-02"},
        ),
        (
            'Find the book "Dune" and order 3 copies of it',
            "order_book",
            {"isbn": {"$from": "find_book.isbn"}, "copies": 3},
        ),
        (
            f"Отправь письмо на {ANN} с темой «А» и текстом «Б»",
            "send_note",
            {"to": ANN, "subject": "А", "text": "Б"},
        ),
    ],
)
def test_values_go_to_the_params_they_are_for(task: str, step: str, params: dict[str, Any]) -> None:
    assert params_of(plan_of(task), step) == params


@pytest.mark.requirement("R20", "R31")
@pytest.mark.parametrize(
    ("condition", "when"),
    [
        (f"{ANN} is a student", 'find_member.first.group == "student"'),
        (f"{ANN} is not a student", 'find_member.first.group != "student"'),
        (f"{ANN} is blocked", "find_member.first.blocked"),
        (f"{ANN} isn't blocked", "!find_member.first.blocked"),
        (f"{ANN} has a debt over 20", "find_member.found && double(find_member.first.debt) > 20.0"),
        (f"the debt of {ANN} is at most 1,000.50", "find_member.found && double(find_member.first.debt) <= 1000.5"),
        (f"{ANN} has any loans", "list_loans.found"),
        (f"{ANN} has no loans", "!list_loans.found"),
        ('there is a book "Dune"', "find_book.found"),
        ('the book "War and Peace" has fewer than 3 copies', "find_book.found && double(find_book.first.copies) < 3.0"),
        (
            f"{ANN} is a student and is not blocked",
            '(find_member.first.group == "student") && (!find_member.first.blocked)',
        ),
        (
            f"{ANN} is a student or a teacher",
            '(find_member.first.group == "student") || (find_member.first.group == "teacher")',
        ),
        (
            f"{ANN} is neither a student nor a teacher",
            '(find_member.first.group != "student") && (find_member.first.group != "teacher")',
        ),
        (
            f"{ANN} isn't a student and has a debt over 20",
            '(find_member.first.group != "student") && (find_member.found && double(find_member.first.debt) > 20.0)',
        ),
    ],
)
def test_a_condition_looks_at_what_a_tool_gives(condition: str, when: str) -> None:
    plan = plan_of(f"If {condition}, {DESK}, otherwise send {ANN} a note {NOTE}.")
    assert routes_of(plan) == [({when: "reserve_desk"}, "send_note")]
    assert isinstance(verdict_of(f"If {condition}, {DESK}, otherwise send {ANN} a note {NOTE}.", plan), Passed)


@pytest.mark.requirement("R20", "R31")
def test_a_choice_among_three_is_one_router() -> None:
    plan = plan_of(
        f'If {ANN} is a student, send her a note with the subject "A" and the text "B"; '
        f'if {ANN} is a teacher, send her a note with the subject "C" and the text "D"; '
        'otherwise send her a note with the subject "E" and the text "F".'
    )
    assert [step.id for step in plan.steps if step.tool == "find_member"] == ["find_member"]
    assert routes_of(plan) == [
        (
            {
                'find_member.first.group == "student"': "send_note",
                'find_member.first.group == "teacher"': "send_note_2",
            },
            "send_note_3",
        )
    ]
    assert [params_of(plan, step)["subject"] for step in ("send_note", "send_note_2", "send_note_3")] == ["A", "C", "E"]


@pytest.mark.requirement("R20", "R31")
def test_what_is_only_done_otherwise_waits_for_the_condition_to_fail() -> None:
    plan = plan_of(f"Check if {ANN} is a student. If not, send her a note {NOTE}.")
    assert routes_of(plan) == [({'!(find_member.first.group == "student")': "send_note"}, None)]


@pytest.mark.requirement("R20", "R36")
@pytest.mark.parametrize(
    ("word", "when"),
    [
        ("if", 'find_member.first.group == "student"'),
        ("unless", '!(find_member.first.group == "student")'),
        ("except if", '!(find_member.first.group == "student")'),
    ],
)
def test_a_condition_told_last_is_still_one(word: str, when: str) -> None:
    plan = plan_of(f"Send {ANN} a note {NOTE} {word} {ANN} is a student.")
    assert routes_of(plan) == [({when: "send_note"}, None)]


@pytest.mark.requirement("R36")
def test_what_is_forbidden_is_not_done() -> None:
    plan = plan_of(f"Find the member {ANN}, but do not send her a note {NOTE}.")
    assert [step.tool for step in plan.steps] == ["find_member"]
    assert isinstance(composed(f"Never send {ANN} a note {NOTE} and {DESK}."), NoWorkflow)


THREE = (
    f'If {ANN} is a student, send her a note with the subject "A" and the text "B"; '
    f'if {ANN} is a teacher, send her a note with the subject "C" and the text "D" and {DESK}; '
    'otherwise send her a note with the subject "E" and the text "F" '
    'and reserve a desk on 2026-03-03 for 4 hours with the title "Rest".'
)
ELSE_IF = (
    f"If {ANN} is a student, send her a note {NOTE}, otherwise if {ANN} is blocked, charge her a fee of 5, "
    f"otherwise {DESK}."
)
UNLESS = f"If {ANN} is a student, {DESK} unless {ANN} is blocked."


def led_to(plan: Plan, **member: object) -> set[str]:
    """The effects behind those routes that the runner takes for such a member."""
    facts = {s.id: StepFacts(step=s.id, found=True, first=member) for s in plan.steps if s.kind == "tool"}
    outcomes = {id_: StepOutcome(status="finished", facts=found) for id_, found in facts.items()}
    taken = {step.id: route(step, outcomes).to for step in plan.steps if step.kind == "router"}
    return {step.id for step in writing(plan) if all(taken.get(need, step.id) == step.id for need in step.needs)}


@pytest.mark.requirement("R20", "R36")
@pytest.mark.parametrize(
    ("task", "group", "blocked", "done"),
    [
        (THREE, "student", False, {"send_note"}),
        (THREE, "teacher", False, {"send_note_2", "reserve_desk"}),
        (THREE, "adult", False, {"send_note_3", "reserve_desk_2"}),
        (ELSE_IF, "student", False, {"send_note"}),
        (ELSE_IF, "student", True, {"send_note"}),
        (ELSE_IF, "adult", True, {"charge_fee"}),
        (ELSE_IF, "adult", False, {"reserve_desk"}),
        (UNLESS, "student", False, {"reserve_desk"}),
        (UNLESS, "student", True, set()),
        (UNLESS, "adult", False, set()),
        (UNLESS, "adult", True, set()),
    ],
)
def test_exactly_what_the_conditions_allow_is_done(task: str, group: str, blocked: bool, done: set[str]) -> None:
    assert led_to(plan_of(task), id=7, email=ANN, group=group, blocked=blocked, debt=0) == done


@pytest.mark.requirement("R20")
def test_each_of_several_has_a_choice_of_their_own() -> None:
    plan = plan_of(f"For {ANN} and {BEN}: if they are students, send them a note {NOTE}.")
    assert routes_of(plan) == [
        ({'find_member.first.group == "student"': "send_note"}, None),
        ({'find_member_2.first.group == "student"': "send_note_2"}, None),
    ]
    assert [params_of(plan, step)["to"] for step in ("send_note", "send_note_2")] == [
        {"$from": "find_member.email"},
        {"$from": "find_member_2.email"},
    ]


@pytest.mark.requirement("R20")
@pytest.mark.parametrize(("joint", "needs"), [(", and then ", ("send_note",)), (", and ", ())])
def test_then_puts_one_effect_behind_another(joint: str, needs: tuple[str, ...]) -> None:
    plan = plan_of(f"Send a note {NOTE} to {ANN}{joint}{DESK}.")
    assert steps_of(plan)["reserve_desk"].needs == needs


@pytest.mark.requirement("R36")
def test_what_acts_is_not_replaced_by_what_looks_up_nor_by_another_act() -> None:
    words = f"send a note to {ANN}"
    send_card = tool("send_card", "Send a card to somebody.", {}, {}, effect="write")
    assert can_replace(send_card, SEND_NOTE, words)
    assert not can_replace(FIND_MEMBER, SEND_NOTE, words)
    assert not can_replace(RESERVE_DESK, SEND_NOTE, words)
    assert not can_replace(SEND_NOTE, FIND_MEMBER, "find the member")


@pytest.mark.requirement("R10", "R36")
@pytest.mark.parametrize(
    ("task", "problem", "hint"),
    [
        (f"Send a note to {ANN}", "send_note needs 'subject'", "subject"),
        (f'Send {ANN} a note with the subject "A"', "send_note needs 'text'", "text"),
        (f"Send a note {NOTE}", "send_note needs 'to'", "to"),
        ("Reserve a desk", "reserve_desk needs 'day'", "day"),
        ("Charge a fee of 5", "charge_fee needs 'member_id'", "member"),
        (f"If {ANN} is a student and likes tea, {DESK}", "find_member ", "use only what its results contain"),
        (f"If {ANN} is a student and {BEN} is blocked, {DESK}", "find_member ", "use only what its results contain"),
        (f"If {ANN} is not a student or a teacher, {DESK}", "find_member ", "use only what its results contain"),
        (f"If {ANN} is a friend, {DESK}", "no tool can tell whether", "use words"),
        (f"If she is a student, {DESK}", "find_member ", "add it"),
    ],
)
def test_what_is_missing_is_asked_for(task: str, problem: str, hint: str) -> None:
    missing = composed(task)
    assert isinstance(missing, NoWorkflow)
    assert missing.problem.startswith(problem)
    assert hint in missing.hint
    assert missing.part in task


@pytest.mark.parametrize("number", ["+445678", "0044 20 5678", "007"])
def test_a_number_to_call_keeps_its_sign_and_zeros(number: str) -> None:
    plan = plan_of(f'Send {ANN} a note with the subject "{number}" and the text "Call {number}".')
    assert {"subject": number, "text": f"Call {number}"}.items() <= plan.steps[-1].params.items()


@pytest.mark.requirement("R36")
@pytest.mark.parametrize("task", [f'Email {ANN} the subject "A"', f"Отправь письмо {ANN} с темой «А»"])
def test_an_act_that_lacks_something_never_becomes_another_act(task: str) -> None:
    assert isinstance(composed(task), NoWorkflow)


@pytest.mark.requirement("R36")
@pytest.mark.parametrize("words", ["email her", "отправь ей письмо"])
def test_an_act_is_not_replaced_by_another_where_the_words_have_another_verb(words: str) -> None:
    assert not can_replace(ORDER_BOOK, SEND_NOTE, words)


@pytest.mark.requirement("R20")
def test_several_may_hang_on_the_condition_of_one() -> None:
    task = f"If {ANN} is a student, send {BEN} and {CEM} a note {NOTE}."
    assert isinstance(verdict_of(task, plan_of(task)), Passed)


@pytest.mark.requirement("R20")
@pytest.mark.parametrize(
    ("task", "problem"),
    [
        ("Order the book Dune.", "order_book needs 'copies', and neither the task nor another tool provides it"),
        ("Charge member 7 5 or 10.", "the task says '5' or '10'"),
        ('Reserve a desk on 2026-02-30 for 3 hours with the title "Exam".', "there is no 2026-02-30"),
    ],
)
def test_a_change_takes_no_value_that_the_task_leaves_open(task: str, problem: str) -> None:
    made = composed(task)
    assert isinstance(made, NoWorkflow)
    assert made.problem == problem


CALL_BACK = tool(
    "call_back",
    "Call somebody back by phone.",
    {"phone": TEXT, "topic": TEXT},
    {"call_id": TEXT},
    effect="write",
)
ADD_NUMBERS = tool(
    "add_numbers", "Add phone numbers to the book.", {"numbers": {"type": "array", "items": TEXT}}, {}, effect="write"
)


@pytest.mark.parametrize("number", ["+3725551", "0070", "5551234"])
def test_digits_that_become_text_stay_as_they_were_written(number: str) -> None:
    catalog = Catalog.of((CALL_BACK, ADD_NUMBERS))
    search = search_parts(searching(catalog), catalog)
    told = compose(read_task(f'Call back the phone {number} with the topic "Rent"'), catalog, search)
    assert isinstance(told, Workflow), told
    assert told.plan.steps[0].params["phone"] == number
    several = compose(read_task(f"Add the phone numbers {number}, 0045"), catalog, search)
    assert isinstance(several, Workflow), several
    params: Any = several.plan.steps[0].params
    assert tuple(params["numbers"]) == (number, "0045")
