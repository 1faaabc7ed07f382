"""What the caller of one question allows, whatever a planner proposes. The gate proves it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from groundplan.contracts.contract import Contract
from groundplan.contracts.plan import Limits, Plan
from groundplan.contracts.roles import ROLES, Roles
from groundplan.contracts.tool import Tool, ToolName

Names = Annotated[tuple[ToolName, ...], Field(max_length=100)]


class Bounds(Contract):
    """Names are those of tools or of whole sources; the model's own tools belong to the source `model`."""

    allow: Names = ()  # only these; all if empty
    forbid: Names = ()  # none of these, even if `allow` has them
    steps: Annotated[int, Field(ge=1, le=100)] | None = None  # of the plan
    items: Annotated[int, Field(ge=1, le=500)] | None = None  # of one `for_each`, instead of the 20 that are usual
    seconds: Annotated[float, Field(gt=0, le=3_600)] | None = None  # for the model's calls, and again for the run
    tokens: Annotated[int, Field(gt=0)] | None = None  # of the models, for planning and answering

    def allows(self, tool: Tool) -> bool:
        names = {tool.name, tool.source}
        return names.isdisjoint(self.forbid) and (not self.allow or not names.isdisjoint(self.allow))

    def limited(self, plan: Plan) -> Plan:
        """The plan with its limits within these bounds."""
        limits = plan.limits
        seconds = min(limits.seconds, self.seconds or limits.seconds)
        update = {
            "seconds": seconds,
            "step_seconds": min(limits.step_seconds, seconds),
            "each": self.items or limits.each,
        }
        return plan.model_copy(update={"limits": Limits.model_validate({**limits.model_dump(), **update})})

    def roles(self, roles: Roles) -> Roles:
        """The roles with no more seconds than these bounds allow, and no role with more tokens."""
        update: dict[str, object] = {"seconds": min(roles.seconds, self.seconds or roles.seconds)}
        for name in ROLES if self.tokens else ():
            role = roles.of(name)
            update[name] = role.model_copy(update={"tokens": min(role.tokens, self.tokens or role.tokens)})
        return roles.model_copy(update=update)


NO_BOUNDS = Bounds()
