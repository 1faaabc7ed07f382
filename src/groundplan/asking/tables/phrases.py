"""Questions for an analysis that a tool brings with it: its phrase around a plain question, which is read as ever."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from groundplan.asking.tables.model.cues import NUMBER_WORDS
from groundplan.asking.tables.several import Part, placed
from groundplan.contracts.reading import AnalysisAsked, Evidence, Reading, Requirement
from groundplan.contracts.tool import OwnAnalysis, Tool

UNIT = r"days?|weeks?|months?|quarters?|years?|дн\w+|день|недел\w+|месяц\w*|квартал\w*|год\w*|лет"
NUMBER = rf"\d{{1,4}}|{'|'.join(NUMBER_WORDS)}"
TOKEN = re.compile(r"\{(?P<slot>[a-z_]+)\}|\[(?P<optional>[^\]{}]+)\]|(?P<words>[^\s\[\]{}]+)")


@dataclass(frozen=True)
class Phrased:
    """A question that a tool's phrase covers: the plain question inside it, and what the phrase asks for."""

    text: str
    part: Part
    asked: Requirement

    def complete(self, plain: Reading) -> Reading:
        """The reading of the plain question, quoting the words where they stand, with the analysis."""
        reading = placed(plain, self.text, self.part)
        return reading.model_copy(update={"requirements": (*reading.requirements, self.asked)})


def phrased_in(text: str, tools: Iterable[Tool]) -> Iterator[Phrased]:
    """Each way in which a phrase of a tool covers the whole text."""
    asked = text.rstrip(" .?!")
    for tool in tools:
        for phrase in tool.analysis.phrases if tool.analysis else ():
            numbers = _numbers(tool)
            found = _pattern(phrase.say, numbers).fullmatch(asked)
            if found and tool.analysis:
                slots = TOKEN.finditer(phrase.read)
                pieces = [found.span(token["slot"]) if token["slot"] else token[0] for token in slots]
                yield Phrased(text, Part.of(text, *pieces), _asked(tool.analysis, text, found, numbers))


def read_phrase(text: str, tools: Iterable[Tool], read: Callable[[str], Reading | None]) -> Reading | None:
    """The plain question with the analysis; None if no phrase covers the text, or the plain question is not read."""
    for phrased in phrased_in(text, tools):
        plain = read(phrased.part.text)
        if plain is not None and not plain.also:
            return phrased.complete(plain)
    return None


def _numbers(tool: Tool) -> frozenset[str]:
    """The params that a number of the question may settle."""
    properties = tool.params.get("properties")
    named = properties.items() if isinstance(properties, Mapping) else ()
    return frozenset(name for name, spec in named if isinstance(spec, Mapping) and spec.get("type") == "integer")


@cache
def _pattern(say: str, numbers: frozenset[str]) -> re.Pattern[str]:
    parts = list[str]()
    for token in TOKEN.finditer(say):
        if slot := token["slot"]:
            kind = NUMBER if slot in numbers else UNIT if slot == "unit" else r"\S.*?"
            parts.append(rf"(?P<{slot}>{kind})\s+")
        elif optional := token["optional"]:
            parts.append(rf"(?:(?:{_either(optional)})\s+)?")
        else:
            parts.append(rf"(?:{_either(token['words'])})\s+")
    return re.compile("".join(parts).removesuffix(r"\s+"), re.IGNORECASE)


def _either(words: str) -> str:
    return "|".join(r"\s+".join(map(re.escape, one.split())) for one in words.split("|"))


def _asked(analysis: OwnAnalysis, text: str, found: re.Match[str], numbers: frozenset[str]) -> Requirement:
    settings = tuple((slot, _number(said)) for slot, said in found.groupdict().items() if slot in numbers)
    first, *others = _said(text, found)
    return Requirement(
        id=analysis.requirement,
        value=AnalysisAsked(label=analysis.label, settings=settings),
        evidence=first,
        also=tuple(others),
    )


def _number(said: str) -> int:
    return int(said) if said.isdigit() else NUMBER_WORDS[said.lower()]


def _said(text: str, found: re.Match[str]) -> Iterator[Evidence]:
    """The words of the phrase itself, and of the numbers it settles."""
    words = [slot for slot in found.re.groupindex if found[slot] and not re.fullmatch(NUMBER, found[slot], re.I)]
    begin = found.start()
    for start, end in [*sorted(map(found.span, words)), (found.end(), found.end())]:
        said = text[begin:start].strip()
        if said:
            yield Evidence(text=said, start=text.index(said, begin))
        begin = end
