"""A message whose text and way nobody has said is named, and nothing else is done meanwhile."""

from __future__ import annotations

import pytest

from groundplan.asking.tasks.route import message_in

BOOK = 'Book the slot 09:00 on 2026-12-01 with the title "Call"'


@pytest.mark.parametrize(
    ("task", "named"),
    [
        (f"{BOOK} and let chen know.", "let chen know"),
        (f"{BOOK}, let chen@example.org know about it", "let chen@example"),
        ("Let chen know that the shop is closed, then book the slot 09:00", "Let chen know"),
        ('Забронируй слот 09:00 с названием "Звонок" и сообщи Чену об этом.', "сообщи Чену"),
    ],
)
def test_it_is_found(task: str, named: str) -> None:
    found = message_in(task)
    assert found is not None
    assert found[1].startswith(named.split("@", maxsplit=1)[0])


@pytest.mark.parametrize(
    "task",
    [
        BOOK,
        "Let me know how many customers are vip",
        'Send ada@example.org an email with the subject "A" and the body "Please let Chen know"',
        "Дай мне знать, сколько клиентов vip",
    ],
)
def test_other_words_are_none(task: str) -> None:
    assert message_in(task) is None
