"""Questions made to cost as much as possible: repeats, nesting, Unicode, any length, English and Russian."""

from __future__ import annotations

import random
from collections.abc import Iterator

LENGTHS = (10, 120, 500, 1_000, 1_990, 2_001, 20_000, 100_000)
WORDS = (
    "total revenue\n", "revenue ", "average revenue by region in 2024 ", "West East ", "more than 5 ", "last month ",
    "share of West in revenue ", "top 3 ", "и ", "выручка Запад ", "units per order ", "1 2 3 ", "by ", "of the ",
    "not ", "except ", "who worked with whom ", "if ", "and then ", "send mail to chen and ", "list issues ",
    "по месяцам за 2024 год ", "топ 5 регионов по выручке ", "не Запад и не Восток ", "from January to March ",
    "revenue, ", "compare West with East ", "each ", "между 1 и 5 ", "что ", "(", ")", "((a) ", '"', "'", "a'", "-",
    "2024-", "9", "1.", "%", "<=", "\t", "\n\n",
)  # fmt: skip
LETTERS = (
    "\ufdfa", "a\u0301", "\u0663", "\u200b", "\u202e", "\U0001f3f3\ufe0f\u200d\U0001f308", "\u0130", "ß", "ё",
    "\u0000", "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"), "ﬁ", "㋿", "½", "\u2028",
)  # fmt: skip
SLOWEST = (
    "total revenue\n" * 36, "не Запад и не Восток " * 47, "между 1 и 5 " * 83, "who worked with whom " * 47,
    "average revenue by region in 2024 " * 25, "and then " * 111, "выручка Запад " * 71, "each " * 300,
)  # fmt: skip


def repeated() -> Iterator[str]:
    """Every word at every length."""
    for word in (*WORDS, *LETTERS):
        for length in LENGTHS:
            yield (word * (length // len(word) + 1))[:length]


def mixed(count: int, seed: int = 7) -> Iterator[str]:
    """Words and letters by chance, nested, cut anywhere."""
    chance = random.Random(seed)
    for _ in range(count):
        length = chance.choice(LENGTHS[:5]) if chance.random() < 0.9 else chance.choice(LENGTHS)
        known = chance.sample((*WORDS, *LETTERS), chance.randint(1, 6))
        text = ""
        while len(text) < length:
            part = chance.choice(known) * chance.randint(1, 30)
            text += f"({part})" if chance.random() < 0.2 else part
        yield text[:length]
