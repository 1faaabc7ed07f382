"""How a statement is refused."""

from __future__ import annotations


class Untranslatable(Exception):
    """The statement says something that the language of readings has no words for.

    `construct` names it in short (`UNION`), `detail` says where; the text is worded to be sent back to a model.
    """

    def __init__(self, construct: str, detail: str = "") -> None:
        self.construct, self.detail = construct[:80], detail[:300]
        super().__init__(f"{self.construct} cannot be used here{f': {self.detail}' if detail else ''}")


class NotASelect(Untranslatable):
    """The text is not one SELECT: another statement, several, or no SQL at all."""
