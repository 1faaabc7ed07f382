"""CSV files as programs export them: a heading above the titles, a web page, bytes that are no text."""

from __future__ import annotations

from pathlib import Path

import pytest

import groundplan
from groundplan.contracts.answer import Answer
from groundplan.errors import SourceError

HEADED = {
    "a line": "Dues of 2025\nberth,dues\nA,10\nB,20\nC,5\n",
    "a line and an empty one": "Dues of 2025\n\nberth,dues\nA,10\nB,20\nC,5\n",
    "cells that are empty": "Dues of 2025,\nprinted on 3 May,\nberth,dues\nA,10\nB,20\nC,5\n",
    "semicolons": "Dues; in euros\nberth;dues\nA;10\nB;20\nC;5\n".replace("Dues; in", "Dues in"),
    "line ends of two kinds": "Dues of 2025\r\nberth,dues\r\nA,10\nB,20\nC,5\n",
}
PLAIN = {
    "no heading": "berth,dues\nA,10\nB,20\nC,5\n",
    "another separator in the cells": "berth,dues\nA;x,10\nB;y,20\nC;z,5\n",
    "a cell more than titles": "berth,dues\nA,10,1\nB,20,2\nC,5,3\n",
}


def rows_of(path: Path, question: str) -> tuple[tuple[object, ...], ...]:
    with groundplan.open(path) as project:
        outcome = project.ask(question).outcome
    assert isinstance(outcome, Answer), outcome
    return outcome.tables[0].rows


@pytest.mark.parametrize("name", [*HEADED, *PLAIN])
def test_a_heading_is_no_row(name: str, tmp_path: Path) -> None:
    path = tmp_path / "dues.csv"
    path.write_bytes({**HEADED, **PLAIN}[name].encode())
    assert rows_of(path, "how many rows") == ((3,),)
    assert rows_of(path, "sum of dues") == ((35,),)


def test_a_heading_is_told(tmp_path: Path) -> None:
    path = tmp_path / "dues.csv"
    path.write_text(HEADED["a line and an empty one"])
    with groundplan.open(path) as project:
        (schema,) = project.schemas.values()
    assert schema.tables[0].columns[0].note == "2 lines above the header are left out"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"<!DOCTYPE html>\n<html><body><table><tr><td>1</td></tr></table></body></html>", "a web page and no table"),
        (b"\n <html lang='en'><head></head></html>", "a web page and no table"),
        (bytes(range(256)) * 9, "is not a text file"),
        (b"\x89PNG\r\n\x1a\n" + b"\0\0\0\x0dIHDR" * 40, "is not a text file"),
    ],
)
def test_what_is_no_table_is_refused_by_what_it_is(content: bytes, says: str, tmp_path: Path) -> None:
    path = tmp_path / "dues.csv"
    path.write_bytes(content)
    with pytest.raises(SourceError, match=says), groundplan.open(path) as project:
        project.ask("how many rows")
