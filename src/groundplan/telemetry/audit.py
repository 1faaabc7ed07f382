"""Agent contracts: a function declares what it needs and gives, and each run is checked and recorded."""

from __future__ import annotations

import hashlib
import inspect
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Annotated, Generic, Literal, ParamSpec, TypeVar

from pydantic import BaseModel, Field

from groundplan.contracts.contract import Contract, Name
from groundplan.errors import GroundplanError

P = ParamSpec("P")
R = TypeVar("R")
Place = Annotated[str, Field(pattern=r"^[a-z_]+(\.[a-z_]+)*$")]
"""A dotted path. A precondition begins with the name of a parameter, a postcondition with the name of the result."""


class Capabilities(Contract):
    parallel: bool  # may run concurrently with other agents of the same question
    retry: bool  # safe to run again
    needs_model: bool
    deterministic: bool
    expected_ms: Annotated[float, Field(gt=0)]


class AgentContract(Contract):
    id: Name
    version: Annotated[str, Field(pattern=r"^\d+\.\d+\.\d+$")]
    needs: tuple[Place, ...]  # preconditions: each must exist and not be empty
    gives: tuple[Place, ...]  # postconditions: each must exist; a list may be empty
    after: tuple[Name, ...] = ()  # the agents that give what this one needs
    capabilities: Capabilities


class Execution(Contract):
    """One entry of an audit trail. `input` and `output` are fingerprints: equal values have equal ones."""

    agent: Name
    version: str
    status: Literal["finished", "failed"]
    ms: float
    input: str
    output: str | None = None
    problem: str = ""


class AgentBroke(GroundplanError):
    """An agent's precondition or postcondition did not hold."""


@dataclass(frozen=True)
class Agent(Generic[P, R]):
    """A function with its contract; it can be called like the function."""

    contract: AgentContract
    function: Callable[P, R]
    signature: inspect.Signature
    inputs: tuple[str, ...]  # the parameters that the contract names

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.execute([], *args, **kwargs)

    def execute(self, trail: list[Execution], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the function and add one entry to the trail, even if it fails."""
        began, given = time.perf_counter(), self.signature.bind(*args, **kwargs).arguments
        before, output = self._fingerprint(given), None
        problem = self._broken_precondition(given)
        try:
            if not problem:
                problem = "it raised an error"  # recorded if the next line raises
                result = self.function(*args, **kwargs)
                problem, output = self._broken_postcondition(result, before, given), _fingerprint(result)
        finally:
            ms = (time.perf_counter() - began) * 1000
            trail.append(self._execution(ms, before, output, problem))
        if problem:
            raise AgentBroke(f"{self.contract.id}: {problem}")
        return result

    def _broken_precondition(self, given: Mapping[str, object]) -> str:
        for place in self.contract.needs:
            name, _, path = place.partition(".")
            if not _at(given.get(name), path):
                first = f"; run {' and '.join(self.contract.after)} first" if self.contract.after else ""
                return f"no {place.rpartition('.')[2]} found in context: {place!r} is empty{first}"
        return ""

    def _broken_postcondition(self, result: object, before: str, given: Mapping[str, object]) -> str:
        absent = [place for place in self.contract.gives if _at(result, place.partition(".")[2]) is None]
        if absent:
            return f"it declares {absent[0]!r} but did not return it; correct the function or its declaration"
        if self._fingerprint(given) != before:
            return "it modified its input; return a new value instead"
        return ""

    def _fingerprint(self, given: Mapping[str, object]) -> str:
        """The fingerprint of the inputs that the contract names; settings and registries do not count."""
        return _fingerprint(*(given.get(name) for name in self.inputs))

    def _execution(self, ms: float, before: str, output: str | None, problem: str) -> Execution:
        return Execution(
            agent=self.contract.id,
            version=self.contract.version,
            status="failed" if problem else "finished",
            ms=ms,
            input=before,
            output=output,
            problem=problem,
        )


def agent(contract: AgentContract) -> Callable[[Callable[P, R]], Agent[P, R]]:
    """Declare the contract of the function below."""

    def declare(function: Callable[P, R]) -> Agent[P, R]:
        signature = inspect.signature(function)
        inputs = tuple(dict.fromkeys(place.partition(".")[0] for place in contract.needs))
        unknown = [name for name in inputs if name not in signature.parameters]
        if unknown:
            raise TypeError(f"{contract.id} needs {unknown[0]!r}, but its function has no such parameter")
        return Agent(contract, function, signature, inputs)

    return declare


def _at(value: object, path: str) -> object:
    """The value at this path; None if the path does not exist."""
    try:
        return attrgetter(path)(value) if path else value
    except AttributeError:
        return None


def _fingerprint(*values: object) -> str:
    texts = [value.model_dump_json() if isinstance(value, BaseModel) else repr(value) for value in values]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]
