"""What models are used for, and how much of them: the table [roles] of groundplan.toml."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from groundplan.contracts.contract import Contract

RoleName = Literal["read", "plan", "write"]
"""What a model is called for: reading questions, planning with tools, writing answers and texts."""

Reader = Literal["words", "model"]
"""Who reads a question about tables or a knowledge base: a model, whose reading code checks, or the words alone."""

Accept = Literal["measured", "first", "agreed", "confirmed"]
"""Which reading of a model is answered at once. `first`: any that passes the checks. `agreed`: one that the words or a
second reading agree with. `confirmed`: none, unless the words read the same. `measured`: as `agreed` for a model that
was measured to read well, as `confirmed` for any other."""

Writer = Literal["measured", "code", "model"]
"""Who writes the text of an answer: code, or a model whose every word code verifies. `measured`: the model if
`groundplan doctor` has found it fast enough, else code."""

Analyst = Literal["words", "model"]
"""Who says what kind of task it is before a model plans it: code by the words, or the model in a call of its own."""


def split_names(names: object) -> object:
    """`qwen, large` as a list of names."""
    return tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else names


Names = Annotated[tuple[str, ...], BeforeValidator(split_names)]


class Role(Contract):
    """A table [roles.read], [roles.plan] or [roles.write]."""

    model: Names = ()  # those of `model` that are called for it, smallest first; all of them if empty
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    tokens: Annotated[int, Field(gt=0)] = 60_000  # in prompts and replies, for one question
    seconds: Annotated[float, Field(gt=0)] = 120.0  # for its calls in one question; a plan's steps have their own limit
    attempts: Annotated[int, Field(ge=1, le=10)] = 3  # replies of one model that may be refused before it is given up


class WriteRole(Role):
    seconds: Annotated[float, Field(gt=0)] = 30.0  # there is a text without a model, so the wait is short
    attempts: Annotated[int, Field(ge=1, le=10)] = 2


class Roles(Contract):
    """The table [roles] of groundplan.toml."""

    reader: Reader = "model"  # `words`: questions are read by their words alone
    accept: Accept = "measured"  # which reading of a model is answered at once
    share_values: bool = True  # false: a model sees the names of columns but none of their values
    writer: Writer = "measured"  # `model`: it drafts the text of answers, and code verifies every word; `code`: never
    analyst: Analyst = "words"  # `model`: a call of its own analyses a task before it is planned
    confidence: Annotated[float, Field(ge=0, le=1)] = 0.5  # a model that is less sure of a look-up is not believed
    seconds: Annotated[float, Field(gt=0)] = 120.0  # for all calls of one question before and after its plan runs
    read: Role = Role()  # reading questions
    plan: Role = Role()  # editing plans and choosing tools for tasks
    write: WriteRole = WriteRole()  # drafts of answers, and steps that write, choose or work

    @model_validator(mode="before")
    @classmethod
    def _without_old_settings(cls, given: object) -> object:
        """Earlier versions had a role `build`, for models that built queries, and two ways to plan a task."""
        old = {"build", "composer"}
        return {key: value for key, value in given.items() if key not in old} if isinstance(given, Mapping) else given

    def of(self, name: RoleName) -> Role:
        role: Role = getattr(self, name)
        return role

    def among(self, models: tuple[str, ...]) -> Roles:
        """The roles where only these models are in use: a role that names none of them uses all."""
        found: dict[str, Role] = {
            name: role.model_copy(update={"model": tuple(one for one in role.model if one in models)})
            for name in ROLES
            if (role := self.of(name))
        }
        return self.model_copy(update=found)


ROLES: tuple[RoleName, ...] = ("read", "plan", "write")
