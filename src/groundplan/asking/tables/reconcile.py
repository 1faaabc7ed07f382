"""The words of the question and what a model heard in them, made into one reading. The rules, in order:

1. Words that name a column, a value, a period or anything of the lexicon keep that meaning, whatever a model says.
2. What a model says counts only where its quote holds words that nothing else explains.
3. Words right beside a named column qualify that name (`gross revenue`) and name no other column; unless the quote
   holds a word that is only near a column's name, and the longer phrase names another one (`sales outlet`).
4. A function or a chart counts only where those words misspell a word for it (`avrage`, `histgram`): a small model
   names one even where none was asked for.
5. A column that is named already is not named twice.
6. Kinds must fit: only numbers are added up, and what has its own value in every row does not group.

What is left is added to the words and read again by the same code, with the same doubts and refusals. A reading that
the words alone gave is never lost: when the second one ends in a doubt, the first one stands.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from groundplan.asking.tables.columns import JOINED, Mention, identifies
from groundplan.asking.tables.model_schema import LONGEST_QUOTE, UNSAID, Grouped, Heard, Measured
from groundplan.asking.tables.near_meaning import MEANT, runs
from groundplan.asking.tables.scan import Scan
from groundplan.asking.tables.spelling import Run, find_slips
from groundplan.contracts.schema import Column
from groundplan.text.lexicon import Family, Phrases


@dataclass(frozen=True)
class Reconciled:
    """The words with what was taken from a model, and a line for each thing that was taken or did not fit."""

    scan: Scan
    taken: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()

    def take(self, scan: Scan, words: str, meaning: str) -> Reconciled:
        return replace(self, scan=scan, taken=(*self.taken, f"{words!r} is read as {meaning}"))

    def drop(self, words: str, meaning: str, why: str) -> Reconciled:
        return replace(self, dropped=(*self.dropped, f"{words!r} is not read as {meaning}: {why}"))


def reconcile(scan: Scan, heard: Heard) -> Reconciled:
    state = _with_misspelt(Reconciled(scan), "charts", {heard.chart})
    state = _with_misspelt(state, "functions", {item.function for item in heard.measures})
    items: tuple[Measured | Grouped, ...] = (*heard.groups, *heard.measures)  # a group's phrase may free a column
    for item in items:
        state = _with_column(state, item)
    return state


def _with_misspelt(state: Reconciled, family: Family, labels: set[str]) -> Reconciled:
    """Rule 4: words that come near a phrase of the lexicon, and the model heard it too."""
    for run in runs(state.scan.unexplained):
        phrases: Phrases = getattr(state.scan.lexicon, family)
        for stems, label in find_slips(state.scan, run, phrases):
            if label in labels - {UNSAID}:
                taken = state.take(_knowing(state.scan, family, stems, label), state.scan.spoken(*run)[0], label)
                return _with_misspelt(taken, family, labels)
    return state


def _with_column(state: Reconciled, item: Measured | Grouped) -> Reconciled:
    scan, column = state.scan, state.scan.table.find(item.column)
    run = _find(scan, item.words)
    if run is None:  # rules 1 and 2
        return state
    if column is None:
        return state.take(_knowing(scan, "functions", _stems(scan, run), "count"), item.words, "a count of rows")
    beside = [m for m in scan.mentions if m.column == column and _covers(scan, item.words, m)]
    if beside:  # rule 3
        return state.take(_qualifying(scan, run), scan.spoken(*run)[0], f"a word about {column.name}")
    phrase = _phrase(scan, run, item.words)
    problem = _unfit(scan, phrase, column, item)
    if problem:
        return state.drop(item.words, column.name, problem)
    found = replace(scan, meant=(*scan.meant, Mention(column, *phrase, MEANT)))
    return state.take(found, scan.spoken(*phrase)[0], column.name)


def _phrase(scan: Scan, run: Run, words: str) -> Run:
    """The run with the names beside it that the quote holds too and that are not sure."""
    vague = [m for m in scan.mentions if m.score < JOINED and _touch(scan, run, m) and _covers(scan, words, m)]
    return min((run[0], *(m.first for m in vague))), max((run[1], *(m.last for m in vague)))


def _unfit(scan: Scan, run: Run, column: Column, item: Measured | Grouped) -> str:
    """Why the words cannot name that column: rules 3, 5 and 6."""
    touching = [m.column.name for m in scan.mentions if _touch(scan, run, m)]
    if touching:
        return f"it stands beside {touching[0]}"
    if any(m.column == column for m in scan.mentions):
        return "that is named already"
    if isinstance(item, Measured):
        fits = column.kind == "number" or item.function in ("count", "count_distinct")
        return "" if fits else "that holds no numbers"
    single = column.kind == "text" and identifies(column, scan.table.row_count or 0)
    return "it is different in most rows" if single else ""


def _find(scan: Scan, words: str) -> Run | None:
    """The unexplained phrase that the quote holds a part of."""
    for run in runs(scan.unexplained):
        if any(_quoted(scan, words, place, place + 1) for place in range(*run)):
            return run
    return None


def _covers(scan: Scan, words: str, mention: Mention) -> bool:
    return _quoted(scan, words, mention.first, mention.last)


def _quoted(scan: Scan, words: str, first: int, last: int) -> bool:
    """Whether the quote, which is no longer than quotes are, stands in the question around these words."""
    wanted = words.casefold()
    return any(
        scan.spoken(start, end)[0].casefold() == wanted
        for start in range(max(last - LONGEST_QUOTE, 0), first + 1)
        for end in range(last, min(start + LONGEST_QUOTE, len(scan.words)) + 1)
    )


def _touch(scan: Scan, run: Run, mention: Mention) -> bool:
    """Whether the column is named right before or right behind, with only a space between."""
    if mention.first == run[1]:
        left = run[1] - 1
    elif mention.last == run[0]:
        left = mention.last - 1
    else:
        return False
    return not scan.text[scan.words[left].end : scan.words[left + 1].start].strip()


def _stems(scan: Scan, run: Run) -> tuple[str, ...]:
    return tuple(word.stem for word in scan.words[slice(*run)])


def _knowing(scan: Scan, family: Family, stems: tuple[str, ...], label: str) -> Scan:
    return replace(scan, lexicon=scan.lexicon.knowing(family, stems, label))


def _qualifying(scan: Scan, run: Run) -> Scan:
    """Words that say nothing by themselves."""
    return replace(scan, lexicon=replace(scan.lexicon, fillers=scan.lexicon.fillers | {*_stems(scan, run)}))
