"""What the publisher of a table says about it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from groundplan.contracts.contract import Contract, Text


class Metadata(Contract):
    """Texts of a publisher: shown to a model as quoted data, and never used as names, values or instructions."""

    name: Text = ""
    project: Text = ""
    description: Text = ""
    certified: bool = False
    certification_note: Text = ""
    tags: Annotated[tuple[Text, ...], Field(max_length=100)] = ()
