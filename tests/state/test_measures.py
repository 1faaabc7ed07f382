"""What models were measured at is kept by server and name."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from groundplan.state.measures import FILE, ModelMeasure, find_measure, keep_measure

DAY = date(2026, 11, 18)
URL = "http://127.0.0.1:8080/v1"


def measured(right: int, model: str = "large", url: str = URL) -> ModelMeasure:
    return ModelMeasure(url=url, model=model, right=right, wrong=1, declined=19 - right, n=20, date=DAY)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path))


def test_a_model_that_was_never_measured_has_none() -> None:
    assert find_measure(URL, "large") is None


def test_the_last_measure_of_a_model_at_a_server_counts() -> None:
    for one in (measured(3), measured(19), measured(7, "small"), measured(5, url="https://other/v1")):
        keep_measure(one)
    found = find_measure(URL, "large")
    assert found == measured(19)
    assert found is not None
    assert found.share == 0.95
    assert find_measure("https://other/v1", "large") == measured(5, url="https://other/v1")
    assert find_measure(URL, "small") == measured(7, "small")


def test_a_file_that_cannot_be_read_is_no_measure(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('[{"url": 1}]')
    assert find_measure(URL, "large") is None
    keep_measure(measured(18))
    assert find_measure(URL, "large") == measured(18)
