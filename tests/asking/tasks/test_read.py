"""A task cut into what is to be done and the conditions it hangs on; for any text, in the task's own words."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from groundplan.asking.tasks.read import LONGEST, MOST_PARTS, Part, analyse, load_task_words, parts_of, read_task
from groundplan.contracts.reading import Constraint, Goal, Reading
from groundplan.errors import UsageError

ANN = "ann.b@lib.co.uk"


def told(task: str) -> list[str]:
    """`if: …` for a condition; `0: …` for what hangs on the part at that place, `!0: …` when that must not hold."""
    return [_told(part) for part in parts_of(task)]


def _told(part: Part) -> str:
    under = "" if part.under is None else f"{'' if part.holds else '!'}{part.under}: "
    return f"{'if: ' if part.kind == 'if' else ''}{under}{part.text}"


@pytest.mark.requirement("R20", "R31")
@pytest.mark.parametrize(
    ("task", "parts"),
    [
        ("If the desk is free, book it.", ["if: the desk is free", "0: book it"]),
        ("if it is late call me", ["if: it is late", "0: call me"]),
        ("In case the desk is free, then book it!", ["if: the desk is free", "0: book it"]),
        ("If the shop is shut, ping me", ["if: the shop is shut", "0: ping me"]),
        (
            "If she is a member and has no fines, write to her and renew loan 7, otherwise call her.",
            ["if: she is a member and has no fines", "0: write to her", "0: renew loan 7", "!0: call her"],
        ),
        (
            "If it is red, send A; if it is blue, send B; otherwise send C.",
            ["if: it is red", "0: send A", "if: it is blue", "2: send B", "!2: send C"],
        ),
        (
            f"Check whether {ANN} is a member, then write to her.",
            [f"if: {ANN} is a member", "0: write to her"],
        ),
        (
            "Make sure that the desk is free, then book it",
            ["if: the desk is free", "0: book it"],
        ),
        (
            "Check if Ann is a member. If so, write to her. If not, call her.",
            ["if: Ann is a member", "0: write to her", "!0: call her"],
        ),
        (
            "Check if Ann is a member and if so send a note",
            ["if: Ann is a member", "0: send a note"],
        ),
        (
            "Find the book. If it is lent, call me. If no desk is left, write to Ann.",
            ["Find the book", "if: it is lent", "1: call me", "if: no desk is left", "3: write to Ann"],
        ),
        (
            "If Ann is late, call her. Check if Ben is a member. If not, call him.",
            ["if: Ann is late", "0: call her", "if: Ben is a member", "!2: call him"],
        ),
        (
            "Is the book lent? If it is, call me, if not, write to Ann.",
            ["if: Is the book lent", "0: call me", "!0: write to Ann"],
        ),
        (
            "If the weather in Paris, France is sunny, send a note.",
            ["if: the weather in Paris, France is sunny", "0: send a note"],
        ),
        ("Если место свободно, забронируй его", ["if: место свободно", "0: забронируй его"]),
        (
            "Если книга выдана, то отправь письмо, в противном случае забронируй место",
            ["if: книга выдана", "0: отправь письмо", "!0: забронируй место"],
        ),
        (
            "Проверь, есть ли книга. Если да, отправь письмо. Если нет, забронируй место.",
            ["if: Проверь, есть ли книга", "0: отправь письмо", "!0: забронируй место"],
        ),
    ],
)
def test_what_hangs_on_a_condition_names_it(task: str, parts: list[str]) -> None:
    assert told(task) == parts


@pytest.mark.requirement("R20", "R36")
@pytest.mark.parametrize(
    ("task", "parts"),
    [
        ("Send a note to Ann if she is a member.", ["if: she is a member", "0: Send a note to Ann"]),
        ("Send a note to Ann, if she is a member", ["if: she is a member", "0: Send a note to Ann"]),
        (
            "Find the book and call Ann if she is a member, otherwise write to Ben.",
            ["Find the book", "if: she is a member", "1: call Ann", "!1: write to Ben"],
        ),
        (
            'Send a note to Ann if she is a member. The subject is "A". Then call Ben.',
            ["if: she is a member", "0: Send a note to Ann", '0: The subject is "A"', "call Ben"],
        ),
        ("Отправь письмо, если она читатель", ["if: она читатель", "0: Отправь письмо"]),
        ("Call Ann unless she is late", ["if: she is late", "!0: Call Ann"]),
        (
            "If Ann is a member, call her unless she is late.",
            ["if: Ann is a member", "if: 0: she is late", "!1: call her"],
        ),
    ],
)
def test_a_condition_that_is_told_last_is_looked_at_first(task: str, parts: list[str]) -> None:
    assert told(task) == parts


@pytest.mark.requirement("R20", "R36")
@pytest.mark.parametrize(
    ("task", "parts"),
    [
        ("Do not call Ann.", []),
        ("Never send a note and charge a fee", []),
        ("Find the book but don't send it, and call me", ["Find the book", "call me"]),
        ("If Ann is late, do not call her, otherwise call Ben", ["if: Ann is late", "!0: call Ben"]),
        ("Don't forget to call Ann", ["call Ann"]),
        ("Не отправляй письмо. Найди книгу", ["Найди книгу"]),
    ],
)
def test_what_is_forbidden_is_nothing_to_do(task: str, parts: list[str]) -> None:
    assert told(task) == parts


@pytest.mark.requirement("R20", "R31")
def test_otherwise_is_the_contrary_of_unless_too() -> None:
    for task in ("Unless it is late, call Ann, otherwise write", "Call Ann unless it is late, otherwise write"):
        assert told(task) == ["if: it is late", "!0: " + ("call Ann" if "call" in task else "Call Ann"), "0: write"]


@pytest.mark.requirement("R20")
@pytest.mark.parametrize(
    ("task", "parts"),
    [
        ("If possible, find the book.", ["find the book"]),
        ("Find the book, if possible, and send it.", ["Find the book", "send it"]),
        ("Send a note if necessary to Ann", ["Send a note if necessary to Ann"]),
        ("Tell me if the loan is overdue.", ["Tell me if the loan is overdue"]),
        ("Ask Ann if she comes, and book a desk", ["Ask Ann if she comes", "book a desk"]),
        ("Найди книгу, если можно, и отправь письмо.", ["Найди книгу", "отправь письмо"]),
    ],
)
def test_an_if_that_is_only_polite_or_asked_about_is_no_condition(task: str, parts: list[str]) -> None:
    assert told(task) == parts


@pytest.mark.requirement("R20")
@pytest.mark.parametrize(
    ("task", "parts"),
    [
        (
            "For ann@lib.org and ben@lib.org: if they are members, write to them, otherwise call them.",
            ["if: they are members", "0: write to them", "!0: call them"],
        ),
        ("For each of Ann and Ben: send a note.", ["send a note"]),
        ("Для ann@lib.org и ben@lib.org: отправь письмо.", ["отправь письмо"]),
        ("Please find the book, then renew loan 7, and finally call me.", ["find the book", "renew loan 7", "call me"]),
        ("Find the book. Could you also renew loan 7? Next, call me!", ["Find the book", "renew loan 7", "call me"]),
        ("I need your help. Find the member Ann.", ["Find the member Ann"]),
        ("Find the member Ann\nsend a note", ["Find the member Ann", "send a note"]),
        ("I need a desk. What is the weather?", ["I need a desk", "What is the weather"]),
        ("Сначала найди книгу, затем отправь письмо", ["найди книгу", "отправь письмо"]),
    ],
)
def test_each_thing_to_do_is_a_part_of_its_own(task: str, parts: list[str]) -> None:
    assert told(task) == parts


@pytest.mark.requirement("R20")
@pytest.mark.parametrize(
    "task",
    [
        'Book a desk on 2026-12-01. The title is "Study"',
        "Book a desk on 2026-12-01; it is for Ann and Ben",
        "Забронируй место на 2026-12-01. Название: «Учёба»",
    ],
)
def test_details_told_after_it_belong_to_the_part_before(task: str) -> None:
    assert told(task) == [task]


@pytest.mark.requirement("R20")
@pytest.mark.parametrize(
    "held",
    [
        '"stop, and send it; if so, call. Find"',
        "“stop, and send it; if so, call. Find”",
        "«стой, и отправь это; если да, найди. Удали»",
        "'stop, and send Ann's book; otherwise call. Find'",
        "(stop, and send it; if so, call. Find)",
        "[stop, and send it; otherwise call. Find]",
        ANN,
    ],
)
def test_quotes_brackets_and_addresses_are_never_cut(held: str) -> None:
    assert told(f"Write {held} to Ann, and renew loan 7.") == [f"Write {held} to Ann", "renew loan 7"]


WORDS = load_task_words()
PIECES = st.sampled_from(
    [
        *WORDS.openings[:12],
        *WORDS.actions[:12],
        *WORDS.actions[-6:],
        *WORDS.wishes[:6],
        *WORDS.intros[:3],
        *WORDS.each,
        *(phrase for _, phrases in WORDS.conditions for phrase in phrases),
        *(", ", "; ", ". ", ": ", "\n", "\t", " and ", " и ", '"', "'", "«", "»", "(", "]", "?", "İ", "ß", "\u2028"),
        *("ann@lib.org", "2026-12-01", "the book", "книгу", "x", "7"),
    ]
)
SPOKEN = st.lists(st.tuples(PIECES, st.sampled_from([" ", ""])), max_size=40).map(
    lambda pieces: "".join(piece + gap for piece, gap in pieces)[:LONGEST]
)
TASKS = SPOKEN | st.text(max_size=200)


@pytest.mark.requirement("R20", "R31")
@settings(max_examples=400, deadline=None)
@given(TASKS)
@example("if")
@example("if, send it")
@example("send it if")
@example("If , , send it. So.")
@example("call me if if so, else. Otherwise")
def test_parts_are_the_tasks_own_words_and_never_overlap(task: str) -> None:
    parts = parts_of(task)
    assert all(part.text and task[part.start : part.end] == part.text for part in parts)
    assert all(a.end <= b.start or b.end <= a.start for a, b in combinations(parts, 2))
    assert len(parts) <= MOST_PARTS


@pytest.mark.requirement("R20")
@settings(max_examples=400, deadline=None)
@given(TASKS)
@example("call me if a. The day is b. Call Ben if c, otherwise call Dan")
def test_parts_stand_in_order_but_for_a_condition_told_last(task: str) -> None:
    parts = parts_of(task)
    for before, after in pairwise(parts):
        told_last = before.kind == "if" and after.under == parts.index(before)
        assert before.start < after.start or told_last


@pytest.mark.requirement("R20", "R31")
@settings(max_examples=400, deadline=None)
@given(TASKS)
def test_any_text_is_read_and_what_hangs_on_a_condition_comes_after_it(task: str) -> None:
    reading = read_task(task)
    seen: set[str] = set()
    for requirement in reading.requirements:
        value, evidence = requirement.value, requirement.evidence
        assert isinstance(value, Goal | Constraint)
        assert evidence.start is not None
        assert task.startswith(evidence.text, evidence.start)
        assert value.when is None or value.when in seen
        seen |= {requirement.id} if requirement.kind == "constraint" else set()
    assert read_task(task) == reading
    assert analyse(reading).requires_routing == bool(seen)


@pytest.mark.requirement("R20")
@pytest.mark.parametrize("text", ["", " ", "?", ". , ;", "\n\n", "…"])
def test_a_text_without_anything_to_do_has_no_condition_and_no_more_than_itself(text: str) -> None:
    assert [part.text for part in parts_of(text)] == [text] * (text == "…")


def test_more_things_than_can_be_overseen_are_refused_and_none_is_dropped() -> None:
    task = ", and ".join(f"call {number}" for number in range(MOST_PARTS + 1))
    assert len(parts_of(task)) == MOST_PARTS + 1
    with pytest.raises(UsageError, match="the task asks for 25 things; ask for at most 24"):
        read_task(task)


@pytest.mark.parametrize("text", ["x" * 5_000, "(" * 5_000, "if " * 2_000, "'a" * 2_500])
def test_a_text_that_is_too_long_is_refused_with_what_to_do(text: str) -> None:
    parts_of(text)
    with pytest.raises(UsageError, match=rf"the task has {len(text):,} characters; say it in at most 2,000"):
        read_task(text)
    assert isinstance(read_task(text[:LONGEST]), Reading)


@pytest.mark.requirement("R28")
def test_a_task_is_analysed_by_its_words() -> None:
    simple = analyse(read_task("Find the book, and call me."))
    assert (simple.complexity, simple.requires_routing) == ("simple", False)
    assert simple.intent == "Find the book; call me"
    routed = analyse(read_task('If ann@lib.org is a member, write "Hello" to Ann Lee on 2026-12-01, otherwise call 7.'))
    assert (routed.complexity, routed.requires_routing) == ("moderate", True)
    assert routed.key_entities == ("ann@lib.org", '"Hello"', "Ann Lee", "2026-12-01", "7")
    many = analyse(read_task(", ".join(f"call {number}" for number in range(6))))
    assert many.complexity == "complex"
