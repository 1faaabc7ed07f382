"""What tests of text share."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from groundplan.text import stems
from groundplan.text.stems import keys_of, lemma


@pytest.fixture
def without_dictionary(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def forget() -> None:
        for cached in (keys_of, lemma, stems._dictionary):
            cached.cache_clear()

    monkeypatch.setitem(sys.modules, "pymorphy3", None)
    monkeypatch.setattr(stems, "find_spec", lambda name: None)
    forget()
    yield
    forget()
