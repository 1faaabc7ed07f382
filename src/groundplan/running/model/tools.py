"""The tools of the model source. `facts` and `choices` may refer to earlier steps; the plan sets the other params.

They are defined here and not in YAML because tool files cannot describe params with arbitrary content.
"""

from __future__ import annotations

from groundplan.contracts.tool import Output, Tool

SOURCE = "model"
WRITE, CHOOSE, WORK = "model.write", "model.choose", "model.work"
MOST_FACTS = 30
WORDS, CALLS = 120, 4  # defaults

FACTS = {
    "description": "What the model may use, by name; usually what earlier steps gave.",
    "type": ["object", "array"],
    "maxProperties": MOST_FACTS,
    "maxItems": MOST_FACTS,
}
TOLD = {"type": "string", "minLength": 1, "maxLength": 1_000, "x-text": True}
CHOICE = {"type": "string", "minLength": 1, "maxLength": 80, "x-value": True}
TOOL_NAME = {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,127}$"}


def _tool(name: str, description: str, cost: int, gives: str, **params: object) -> Tool:
    """Params without a default are required."""
    optional = [param for param, schema in params.items() if isinstance(schema, dict) and "default" in schema]
    return Tool.model_validate(
        {
            "name": name,
            "description": description,
            "source": SOURCE,
            "capabilities": ["reason"],
            "params": {
                "type": "object",
                "additionalProperties": False,
                "required": [param for param in params if param not in optional],
                "properties": params,
            },
            "output": Output(kind="facts"),
            "returns": {"type": "object", "properties": {gives: {"type": "string"}}},
            "effect": "read",
            "cost": cost,
        }
    )


TOOLS = (
    _tool(
        WRITE,
        "Let a model write a text, such as the body of a mail, from facts of earlier steps and nothing else.",
        50,
        "text",
        instruction={**TOLD, "description": "What to write, in the words of the task."},
        facts=FACTS,
        words={
            "description": "The most words of the text.",
            "type": "integer",
            "minimum": 5,
            "maximum": 400,
            "default": WORDS,
        },
    ),
    _tool(
        CHOOSE,
        "Let a model choose one of a few answers to a question about facts of earlier steps, for a router to go by.",
        50,
        "choice",
        question={**TOLD, "description": "What to decide, in the words of the task."},
        facts=FACTS,
        choices={"type": "array", "minItems": 2, "maxItems": 20, "uniqueItems": True, "items": CHOICE},
    ),
    _tool(
        WORK,
        "Let a model work on a task with a few tools that only read, in as many calls as it may make.",
        200,
        "text",
        instruction={**TOLD, "description": "What to find out, in the words of the task."},
        facts={**FACTS, "default": {}},
        tools={
            "description": "The tools that it may call, and no others.",
            "type": "array",
            "minItems": 1,
            "maxItems": 8,
            "uniqueItems": True,
            "items": TOOL_NAME,
        },
        calls={
            "description": "The most calls of tools.",
            "type": "integer",
            "minimum": 1,
            "maximum": 8,
            "default": CALLS,
        },
    ),
)
