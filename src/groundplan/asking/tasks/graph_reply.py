"""What a model replies to a task: a graph of nodes and edges, or why there is none. Code checks every name in it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from groundplan.contracts.contract import Contract

MOST_NODES = 30

Name = Annotated[str, Field(max_length=128)]
Line = Annotated[str, Field(max_length=1_000)]
Plain = str | int | float | bool
NodeKind = Literal["tool", "llm", "agent", "router"]


class GraphParam(Contract):
    """A value of the task. `{find.email}` in a text takes a field of another node, `{input.email}` an input."""

    name: Name
    value: Plain | tuple[Plain, ...]


class GraphNode(Contract):
    """A call of a tool, a text or a choice of a model (`llm`), an agent with reading tools, or a router."""

    id: Name
    kind: NodeKind = "tool"
    words: Line = ""  # the words of the task that it is for
    tool: Name = ""
    params: Annotated[tuple[GraphParam, ...], Field(max_length=40)] = ()
    facts: Annotated[tuple[Name, ...], Field(max_length=30)] = ()  # `find.name`: what a model may see
    choices: Annotated[tuple[Name, ...], Field(max_length=20)] = ()  # of an llm that decides
    tools: Annotated[tuple[Name, ...], Field(max_length=8)] = ()  # of an agent
    each: Name = ""  # the node whose list it runs over


class GraphEdge(Contract):
    """An order between two nodes; from a router, the condition under which it leads there, or `else`."""

    source: Name
    target: Name
    condition: Line = ""


class GraphInput(Contract):
    """A value that the task leaves open, to be given whenever the workflow runs."""

    name: Name
    means: Line = ""


class GraphReply(Contract):
    nodes: Annotated[tuple[GraphNode, ...], Field(max_length=MOST_NODES)] = ()
    edges: Annotated[tuple[GraphEdge, ...], Field(max_length=100)] = ()
    inputs: Annotated[tuple[GraphInput, ...], Field(max_length=20)] = ()
    reasoning: Line = ""
    cannot: Line = ""  # what no tool does
    ask: Line = ""  # what the person has to say first
