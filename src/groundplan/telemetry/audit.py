"""What an agent promises and whether it kept it: declared on a plain function, checked each time it runs."""

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
"""A dotted path: a precondition begins with the name of a parameter, a postcondition with that of the result."""


class Capabilities(Contract):
    parallel: bool  # may run beside the other agents of the same question
    retry: bool  # running it once more does no harm
    needs_model: bool
    deterministic: bool
    expected_ms: Annotated[float, Field(gt=0)]


class AgentContract(Contract):
    id: Name
    version: Annotated[str, Field(pattern=r"^\d+\.\d+\.\d+$")]
    needs: tuple[Place, ...]  # what must be there and hold something
    gives: tuple[Place, ...]  # what is there afterwards; a list may be empty
    after: tuple[Name, ...] = ()  # the agents that give what this one needs
    capabilities: Capabilities


class Execution(Contract):
    """One entry of an audit trail. Equal inputs have equal fingerprints, and so have equal outputs."""

    agent: Name
    version: str
    status: Literal["finished", "failed"]
    ms: float
    input: str
    output: str | None = None
    problem: str = ""


class AgentBroke(GroundplanError):
    """An agent was run without what it needs, or did not do what it declares."""


@dataclass(frozen=True)
class Agent(Generic[P, R]):
    """A function with its contract; called like the function."""

    contract: AgentContract
    function: Callable[P, R]
    signature: inspect.Signature
    inputs: tuple[str, ...]  # the parameters that the contract speaks of

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.execute([], *args, **kwargs)

    def execute(self, trail: list[Execution], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Its result; the trail gets one entry more, also when it fails."""
        began, given = time.perf_counter(), self.signature.bind(*args, **kwargs).arguments
        before, output = self._fingerprint(given), None
        problem = self._lacking(given)
        try:
            if not problem:
                problem = "it raised an error"  # what stands there if it does
                result = self.function(*args, **kwargs)
                problem, output = self._unkept(result, before, given), _fingerprint(result)
        finally:
            ms = (time.perf_counter() - began) * 1000
            trail.append(self._execution(ms, before, output, problem))
        if problem:
            raise AgentBroke(f"{self.contract.id}: {problem}")
        return result

    def _lacking(self, given: Mapping[str, object]) -> str:
        for place in self.contract.needs:
            name, _, path = place.partition(".")
            if not _at(given.get(name), path):
                first = f"; run {' and '.join(self.contract.after)} first" if self.contract.after else ""
                return f"no {place.rpartition('.')[2]} found in context: {place!r} holds nothing{first}"
        return ""

    def _unkept(self, result: object, before: str, given: Mapping[str, object]) -> str:
        absent = [place for place in self.contract.gives if _at(result, place.partition(".")[2]) is None]
        if absent:
            return f"it declares {absent[0]!r} and did not give it; correct the function or its declaration"
        if self._fingerprint(given) != before:
            return "it changed its input; make it return a new value instead"
        return ""

    def _fingerprint(self, given: Mapping[str, object]) -> str:
        """Of what it needs; settings and registries that it is handed besides are no input."""
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
    """What lies at the path below the value; None where there is no such place."""
    try:
        return attrgetter(path)(value) if path else value
    except AttributeError:
        return None


def _fingerprint(*values: object) -> str:
    told = [value.model_dump_json() if isinstance(value, BaseModel) else repr(value) for value in values]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()[:16]
