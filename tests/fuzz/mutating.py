"""Inputs made from the corpus: an example with a few changes, which Hypothesis makes smaller once one of them fails."""

from __future__ import annotations

from pathlib import Path

from hypothesis import strategies as some

CORPUS = Path(__file__).parent / "corpus"
LONGEST = 20_000  # bytes
HOSTILE = [
    *(word.encode() for word in (
        "{", "}", "[", "]", '"', "'", "\\", ",", ";", ":", "\n", "\r", "\t", "-", "&a ", "*a", "!!", "<<: ", "---\n",
        "```", "null", "true", "NaN", "-Infinity", "1e999", "1e308", "9" * 30, "-1", "0", "0x", "1_0", "0b1", "1:60",
        "²", "٣", "2025-02-30", "0001-01-01", "9999-12-31", "31.12.9999", "T24:00:00", "+99:99", "=1+1", "\ufeff",
        "\u202e", "\u200b", "\U0001f600", "İ", "ß", "Ё", "between", "от", "до", "last", "прошл", "q4", "week",
        "and", "или", "без", "top", "\\ud800", "\\u0000", "$ref", "#/", "__proto__", "{}", "[]", '""',
    )),
    b"\x00", b"\xff\xfe", b"\xfe\xff", b"\xff", b"\x80", b"\xc3", b"\xed\xa0\x80", b"\x1a", b"\x85",
]  # fmt: skip
PLACES = some.integers(0, 10_000)
CHANGES = some.lists(
    some.tuples(
        some.sampled_from(["insert", "insert", "replace", "delete", "repeat", "swap", "bytes", "splice"]),
        PLACES,
        some.integers(0, 40),
        some.sampled_from(HOSTILE),
        some.binary(max_size=6),
    ),
    min_size=1,
    max_size=8,
)


def examples_of(parser: str) -> list[bytes]:
    return [file.read_bytes() for file in sorted((CORPUS / parser).iterdir())]


def inputs(parser: str) -> some.SearchStrategy[bytes]:
    known = examples_of(parser)
    return some.builds(_changed, some.sampled_from(known), CHANGES, some.sampled_from(known))


def _changed(body: bytes, changes: list[tuple[str, int, int, bytes, bytes]], other: bytes) -> bytes:
    for change, place, length, word, raw in changes:
        at = place % (len(body) + 1)
        end = at + length
        match change:
            case "insert":
                body = body[:at] + word + body[at:]
            case "replace":
                body = body[:at] + word + body[end:]
            case "delete":
                body = body[:at] + body[end:]
            case "repeat":
                body = body[:at] + body[at:end] * (1 + length) + body[end:]
            case "swap":
                body = body[:at] + body[end : end + length] + body[at:end] + body[end + length :]
            case "splice":
                body = body[:at] + other[place % (len(other) + 1) :][: 10 * length] + body[at:]
            case _:
                body = body[:at] + raw + body[at + len(raw) :]
    return body[:LONGEST]
