"""Workflow graphs as models write them, made from the graph that is meant, so that the right reading is known.

`@` in a frame stands for the graph's JSON. An output without a fault is read to exactly what is meant; with `not_json`
it has no single reading; with `wrong_shape` it is JSON of something else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

Graph = dict[str, Any]
Fault = Literal["not_json", "wrong_shape"]


@dataclass(frozen=True)
class Output:
    kind: str
    text: str
    meant: Graph | None = None
    fault: Fault | None = None


ROUTED: Graph = {
    "nodes": [
        {"id": "customer", "tool": "find_customer", "params": {"email": "ada@example.org", "limit": 5, "exact": True}},
        {"id": "tier", "kind": "router", "needs": ["customer"], "default": None},
        {"id": "mail", "tool": "send_email", "params": {"subject": "Thanks, Ada: 5 of 5", "retries": -1.5, "n": "5"}},
    ],
    "edges": [{"from": "customer", "to": "tier"}, {"from": "tier", "to": "mail", "when": "tier is gold"}],
}
SMALL: Graph = {"nodes": [{"id": "a", "tool": "find"}, {"id": "b", "tool": "send"}], "edges": []}
STEPS: Graph = {
    "steps": [
        {"id": "who", "tool": "find_customer", "params": {"number": 7}, "needs": []},
        {"id": "mail", "tool": "invite", "params": {"to": {"$from": "who.email"}}, "needs": ["who"]},
    ]
}
TEXTS: Graph = {
    "nodes": [
        {"id": "a", "body": 'She said "{go}" [1], }] and\n```json\n{}\n```\nleft: C:\\temp', "ключ": "значение 🙂"},
        {
            "id": "b",
            "body": "<think>no</think> it's // fine, /* really */ # yes, None, NaN",
            "zero\u200bwidth": "\u00a0",
        },
    ],
    "edges": [],
}
PLAIN = (SMALL, ROUTED, STEPS)
GRAPHS = (*PLAIN, TEXTS)
OTHER = json.dumps({"nodes": [{"id": "draft", "tool": "think"}], "edges": []})


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def within(opening: str, closing: str) -> Callable[[str], str]:
    return lambda text: f"{opening}{text}{closing}"


@dataclass(frozen=True)
class Spelling:
    """How a graph is written down; as it stands, in JSON."""

    text: Callable[[str], str] = quoted
    key: Callable[[str], str] = quoted
    words: tuple[str, str, str] = ("true", "false", "null")
    pairs: str = ", "
    items: str = ", "
    colon: str = ": "
    end: str = ""  # behind the last pair or item

    def write(self, value: object) -> str:
        match value:
            case dict():
                inside = self.pairs.join(f"{self.key(key)}{self.colon}{self.write(one)}" for key, one in value.items())
                return f"{{{inside}{self.end if value else ''}}}"
            case list():
                return f"[{self.items.join(map(self.write, value))}{self.end if value else ''}]"
            case str():
                return self.text(value)
            case True | False | None:
                return dict(zip((True, False, None), self.words, strict=True))[value]
            case _:
                return json.dumps(value)


WRITTEN = Spelling()
PYTHON = ("True", "False", "None")
SINGLE = within("'", "'")


def written(graph: Graph) -> str:
    return WRITTEN.write(graph)


def indented(graph: Graph) -> str:
    return json.dumps(graph, ensure_ascii=False, indent=2)


AROUND = {
    "clean": "@",
    "spaces around": "\n\n \t@\r\n\n",
    "block": "```json\n@\n```",
    "block in capitals": "```JSON\n@\n```",
    "block without a language": "```\n@\n```",
    "block of another language": "```javascript\n@\n```",
    "block with an attribute": '```json title="graph"\n@\n```',
    "block of tildes": "~~~json\n@\n~~~",
    "block on one line": "```json @ ```",
    "block never closed": "Here it is:\n```json\n@",
    "block closed and never opened": "@\n```",
    "code block first": "```python\nnodes = {1: 2}\n```\n```json\n@\n```",
    "same block twice": "```json\n@\n```\nOnce more:\n```json\n@\n```",
    "draft in prose, then block": f"Perhaps {OTHER}? Better:\n```json\n@\n```",
    "prose before": "The graph for your task is: @",
    "prose behind": "@\n\nI hope this helps! Ask me, if not.",
    "braces in prose": "Of the set {a, b} and the list [1] I made @ with {two} parts.",
    "in double quotes": 'The answer is "@".',
    "in single quotes": "The answer is '@'.",
    "in backticks": "The answer is `@`.",
    "assigned": "const graph = @;",
    "in a call": "submit(@)",
    "in a tag": "<answer>@</answer>",
    "in tags": "<response>\n<json>\n@\n</json>\n</response>",
    "after a thought": "<think>Two nodes will do.</think>\n\n@",
    "after a thought with a draft": f"<think>First {OTHER}, but no.</think>\n@",
    "after a thought with a broken draft": '<think>{"nodes": [{</think>\n```json\n@\n```',
    "said twice": "@\n\nThat is:\n\n@",
    "byte order mark": "\ufeff@",
    "byte order mark before a block": "\ufeff```json\n@\n```",
    "zero width around": "\u200b@\u200b\u2060",
}


MENDED = {
    "trailing commas": Spelling(end=","),
    "trailing commas and lines": Spelling(end=",\n"),
    "single quotes": Spelling(text=SINGLE, key=SINGLE),
    "single quotes around keys": Spelling(key=SINGLE),
    "Python's words": Spelling(words=PYTHON),
    "a dict of Python": Spelling(text=SINGLE, key=SINGLE, words=PYTHON),
    "smart quotes": Spelling(text=within("“", "”"), key=within("“", "”")),
    "keys without quotes": Spelling(key=lambda key: quoted(key) if key.startswith("$") else key),
    "no comma before a key": Spelling(pairs=" "),
    "no comma before a key on a line": Spelling(pairs="\n  "),
    "no-break spaces": Spelling(colon="\u00a0:\u00a0"),
    "all of it": Spelling(text=SINGLE, key=SINGLE, words=PYTHON, end=", ", colon=" : "),
}
GARBLED = {
    "no comma between items": Spelling(items=" "),
    "two commas": Spelling(items=",, "),
    "two commas before a key": Spelling(pairs=",, "),
    "semicolons": Spelling(pairs="; "),
    "equals signs": Spelling(colon=" = "),
    "arrows": Spelling(colon=" => "),
    "no colons": Spelling(colon=" "),
    "wide punctuation": Spelling(colon="：", pairs="，"),
    "no quotes at all": Spelling(text=str, key=str),
    "texts without quotes": Spelling(text=str),
    "quotes that never close": Spelling(text=lambda text: f'"{text}'),
    "quotes that never open": Spelling(key=lambda key: f'{key}"'),
    "quotes of two kinds": Spelling(key=lambda key: f"\"{key}'"),
    "three quotes": Spelling(text=within('"""', '"""')),
    "angle quotes": Spelling(text=within("«", "»"), key=within("«", "»")),
    "low quotes": Spelling(text=within("„", "“"), key=within("„", "“")),
    "backticks": Spelling(text=within("`", "`"), key=within("`", "`")),
    "escaped quotes": Spelling(text=within('\\"', '\\"'), key=within('\\"', '\\"')),
    "entities": Spelling(text=within("&quot;", "&quot;"), key=within("&quot;", "&quot;")),
    "prefixes of Python": Spelling(key=lambda key: f"u'{key}'"),
    "texts in two pieces": Spelling(text=lambda text: f"{quoted(text[:2])} + {quoted(text[2:])}"),
    "texts in two pieces without a sign": Spelling(text=lambda text: f"{quoted(text[:2])} {quoted(text[2:])}"),
    "texts over two lines": Spelling(text=lambda text: f'"{text[:2]}\n{text[2:]}"'),
    "a control character in texts": Spelling(text=lambda text: f'"{text[:2]}\x07{text[2:]}"'),
    "an escape that JSON has not": Spelling(text=lambda text: f'"{text}\\d"'),
    "an apostrophe in single quotes": Spelling(text=lambda text: f"'{text}'s'"),
    "a text that was cut": Spelling(text=lambda text: f"{quoted(text)}..."),
    "dots for the rest": Spelling(end=", ..."),
    "comments behind": Spelling(end=" // that is all\n"),
    "comments between": Spelling(pairs=", /* and */ "),
    "comments of Python": Spelling(pairs=",  # and\n"),
    "zero width between": Spelling(colon=":\u200b"),
    "a byte order mark inside": Spelling(pairs=",\ufeff"),
    "a null byte inside": Spelling(pairs=",\x00"),
}
NUMBERS = {
    "not a number": ("NaN", "-NaN", "nan"),
    "infinite": ("Infinity", "-Infinity", "inf", "1e999", "-1e400"),
    "huge": ("9" * 400, "1" + "0" * 31, "-" + "9" * 5_000),
    "written in another way": ("+5", ".5", "5.", "0x10", "05", "1_000", "1,000", "1 000", "5%", "- 5", "1e", "½"),
    "a word": ("undefined", "nil", "NULL", "TRUE", "yes", "maybe", "five", "None5", "-null"),
    "not there": ("", ",", ":", "//", "(1, 2)", "{1, 2}", "set()", "date(2026, 1, 2)", "1 + 1", "<number>"),
}


def outputs() -> Iterator[Output]:
    for graph in GRAPHS:
        for kind, frame in AROUND.items():
            yield Output(kind, frame.replace("@", written(graph)), graph)
        for kind in ("clean", "block", "prose before", "in a tag"):
            yield Output(f"{kind}, indented", AROUND[kind].replace("@", indented(graph)), graph)
        [first, *_] = next(iter(graph.values()))
        said = f"```json\n{written(graph)}\n```\nIt begins with `{written(first)}`."
        yield Output("block, then a quotation of it", said, graph)
        yield from _cut(graph)
        yield from _ambiguous(graph)
    for graph in PLAIN:
        for kind, spelling in MENDED.items():
            yield Output(kind, spelling.write(graph), graph)
            yield Output(f"{kind}, in a block", f"So:\n```json\n{spelling.write(graph)}\n```", graph)
        for kind, spelling in GARBLED.items():
            yield Output(kind, spelling.write(graph), fault="not_json")
        yield from _spoilt(graph)
    yield from _numbers()
    yield from _taken_for_the_same()
    yield from _misplaced()
    yield from _long()
    yield from _of_something_else()


def _cut(graph: Graph) -> Iterator[Output]:
    """The end is lost, in the middle of each level."""
    text = written(graph)
    levels: dict[int, list[int]] = {}
    depth = 0
    for place, character in enumerate(text[:-1]):
        depth += (character in "{[") - (character in "}]")
        levels.setdefault(depth, []).append(place + 1)
    for level, places in sorted(levels.items()):
        cut = text[: places[len(places) // 2]]
        yield Output(f"cut on level {level}", cut, fault="not_json")
        yield Output(f"cut on level {level}, in a block", f"```json\n{cut}\n```", fault="not_json")
    yield Output("the last bracket lost", text[:-1], fault="not_json")
    yield Output("the first bracket lost", text[1:], fault="not_json")
    yield Output("cut, then prose", f"{text[:-2]} and so on. I ran out of space.", fault="not_json")


def _ambiguous(graph: Graph) -> Iterator[Output]:
    """More than one graph, and nobody said which."""
    text = written(graph)
    frames = {
        "two graphs": f"{OTHER}\n{text}",
        "two blocks": f"```json\n{text}\n```\nor\n```json\n{OTHER}\n```",
        "two blocks, one without a language": f"```\n{OTHER}\n```\n```json\n{text}\n```",
        "an example in a block, then the answer": f"Such as\n```json\n{OTHER}\n```\nSo the answer is {text}",
        "an example in a block, then another language": f"```json\n{OTHER}\n```\n```text\n{text}\n```",
        "an example in prose, then the answer": f"A graph is like {OTHER}. Yours: {text}",
        "a draft in a thought that never ends": f"<think>Maybe {OTHER}\n{text}",
        "a draft in a thought that never begins": f"{OTHER}</think>{text}",
        "a draft in a second thought": f"<think>Well.</think><think>{OTHER}</think>{text}",
        "a draft in another tag": f"<reasoning>{OTHER}</reasoning><answer>{text}</answer>",
        "halves in two blocks": f"```json\n{text[:20]}\n```\n```json\n{text[20:]}\n```",
        "only thought": f"<think>{text}</think>",
    }
    yield from (Output(kind, said, fault="not_json") for kind, said in frames.items())


def _spoilt(graph: Graph) -> Iterator[Output]:
    """Every line, every bracket or the whole is not as JSON has it."""
    text, lines = written(graph), indented(graph).splitlines()
    first, rest = text[1:-1].split(": ", 1)
    frames = {
        "quoted as in a mail": "\n".join(f"> {line}" for line in lines),
        "numbered lines": "\n".join(f"{number} {line}" for number, line in enumerate(lines, 1)),
        "a difference": "\n".join(f"+{line}" for line in lines),
        "breaks spelt out": "\\n".join(lines),
        "brackets doubled": f"{{{text}}}",
        "in a formula": f"\\boxed{{{text}}}",
        "in a section of XML": f"<![CDATA[{text}]]>",
        "as a text in JSON": json.dumps(text),
        "as a text in JSON twice": json.dumps(json.dumps(text)),
        "with escapes of addresses": text.replace('"', "%22"),
        "with wide brackets": text.replace("{", "｛").replace("}", "｝"),
        "in a list": f"[{text}]",
        "in a list in a block": f"```json\n[{text}]\n```",
        "a list of two": f"[{text}, {text}]",
        "a key twice": f"{{{text[1:-1]}, {first}: []}}",
        "a key twice in other letters": text.replace('"id": ', '"id": 0, "\\u0069d": ', 1),
        "a key twice in single quotes": f"{{{text[1:-1]}, '{first[1:-1]}': []}}",
        "a bracket too many": f"{text}}}",
        "a bracket of the other kind": f"{text[:-1]}]",
        "without the outer brackets": f"{first}: {rest}, {quoted('more')}: {{{quoted('a')}: 1}}",
        "an end too early": f"{{{first}: []}}, {quoted('edges')}: []",
        "two halves": f"{{{first}: []}} {{{quoted('edges')}: []}}",
    }
    yield from (Output(kind, said, fault="not_json") for kind, said in frames.items())


def _numbers() -> Iterator[Output]:
    for kind, spellings in NUMBERS.items():
        for spelling in spellings:
            yield Output(
                f"a number: {kind}", f'{{"nodes": [{{"id": "a", "limit": {spelling}}}], "edges": []}}', fault="not_json"
            )


def _taken_for_the_same() -> Iterator[Output]:
    """By Python, not by JSON."""
    for one, other in (("1", "true"), ("0", "false"), ("1", "1.0")):
        said = "\n".join(f'{{"nodes": [{{"id": "a", "n": {number}}}], "edges": []}}' for number in (one, other))
        yield Output("two graphs that Python takes for one", said, fault="not_json")


def _misplaced() -> Iterator[Output]:
    """One bracket or quote of a small graph is lost, or there twice."""
    text = written(SMALL)
    for place, character in enumerate(text):
        if character in '{}[]"':
            yield Output("a bracket or quote lost", text[:place] + text[place + 1 :], fault="not_json")
            yield Output("a bracket or quote twice", text[:place] + character + text[place:], fault="not_json")


def _long() -> Iterator[Output]:
    """Whoever wrote it wanted the reader to be busy."""
    texts = {
        "nested 10,000 deep": '{"nodes": ' + "[" * 10_000 + "]" * 10_000 + ', "edges": []}',
        "objects 10,000 deep": '{"a":' * 10_000 + "1" + "}" * 10_000,
        "brackets that only open": "[" * 200_000,
        "brackets by turns": "[}" * 100_000,
        "5 MB of text": '{"nodes": [{"id": "' + "x" * 5_000_000 + '"}], "edges": []}',
        "5 MB of prose": "word " * 1_000_000 + written(SMALL),
        "blocks that only open": "```json\n" * 30_000,
        "thoughts that only begin": "<think>" * 35_000,
        "quotes": '{"nodes": ' + '"' * 200_001,
        "single quotes": "{" + "'" * 200_000 + "}",
        "backslashes": '{"nodes": "' + "\\" * 200_001 + '"}',
        "commas": '{"nodes": [' + "," * 200_000 + "]}",
        "words": "{" + "a " * 100_000 + "}",
        "open lists of words": "[a " * 30 + "x" * 200_000,
        "spaces": '{"nodes":' + " " * 200_000,
    }
    yield from (Output(f"long: {kind}", said, fault="not_json") for kind, said in texts.items())


def _of_something_else() -> Iterator[Output]:
    """JSON that is right, of a shape that nobody asked for."""
    texts = {
        "empty": "{}",
        "a part is missing": '{"nodes": [{"id": "a"}]}',
        "a part too many": '{"nodes": [{"id": "a"}], "edges": [], "note": "done"}',
        "an object for a list": '{"nodes": {"id": "a"}, "edges": []}',
        "null for a list": '{"nodes": null, "edges": []}',
        "texts for objects": '{"nodes": ["a", "b"], "edges": []}',
        "wrapped": f'{{"graph": {written(SMALL)}}}',
        "wrapped as a text": json.dumps({"answer": written(SMALL)}),
        "a call of a tool": f'{{"name": "plan", "arguments": {written(SMALL)}}}',
        "a schema": '{"type": "object", "properties": {"nodes": {"type": "array"}}}',
        "an error": '{"error": "I cannot do that"}',
        "keys in capitals": '{"Nodes": [{"id": "a"}], "Edges": []}',
        "keys with what cannot be seen": '{"nodes\u200b": [{"id": "a"}], "edges": []}',
        "keys in letters that look alike": '{"nоdes": [{"id": "a"}], "edges": []}',
        "an id that is a number": '{"nodes": [{"id": 5}], "edges": []}',
        "half of a character": '{"nodes": [{"id": "\\ud800"}], "edges": []}',
    }
    yield from (Output(f"shape: {kind}", said, fault="wrong_shape") for kind, said in texts.items())
