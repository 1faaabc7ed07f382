"""Puts slots in place of values that a model copied. Small models do: `West had 20.2 million` for `{n1} had {v1}`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice, product

from groundplan.answering.drafting.slots import SlotOffer

MOST = 16  # ways to take a text in which a value could be one of several slots


def slotted(sentences: Sequence[str], offer: SlotOffer) -> Iterator[list[str]]:
    """The sentences with slots, in each way that the copied values can be taken."""
    slots: defaultdict[str, list[str]] = defaultdict(list)
    for slot in offer.slots.values():
        slots[_plain(slot.cite.text)].append(slot.id)
        if slot.cite.text.startswith("+"):
            slots[_plain(slot.cite.text[1:])].append(slot.id)
    texts = sorted(slots, key=len, reverse=True)
    pattern = re.compile(rf"\{{\w+\}}|(?<!\w)(?:{'|'.join(map(_found, texts))})(?!\w)")
    whole = "\0".join(sentences)
    copied = list(dict.fromkeys(_plain(text) for text in pattern.findall(whole) if not text.startswith("{")))
    for chosen in islice(product(*(slots[text] for text in copied)), MOST):
        ids = dict(zip(copied, chosen, strict=True))
        text = pattern.sub(lambda found, ids=ids: _slot(found[0], ids), whole)  # type: ignore[misc]
        yield text.split("\0")


def _slot(text: str, ids: dict[str, str]) -> str:
    return text if text.startswith("{") else f"{{{ids[_plain(text)]}}}"


def _found(text: str) -> str:
    return re.escape(text).replace(r"\ ", r"\s")


def _plain(text: str) -> str:
    return re.sub(r"\s", " ", text)
