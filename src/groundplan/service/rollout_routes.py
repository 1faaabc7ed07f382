"""Rollouts over HTTP, for those who may administer; each sees and changes its own tenant only."""

from __future__ import annotations

from typing import Annotated

from fastapi import FastAPI
from pydantic import AfterValidator, Field
from starlette.requests import Request

from groundplan.contracts.contract import Contract
from groundplan.contracts.rollout import Rollout, RolloutLimits, Share, StopBounds, VariantName
from groundplan.contracts.run import storable
from groundplan.rollout.status import RolloutStatus
from groundplan.service.rollouts import Commands

PATH = "/v1/rollout"


class Started(Contract):
    """The variant to put on trial; without bounds, they follow from how often answers fail today."""

    variant: VariantName
    share: Share = 0
    bounds: StopBounds | None = None
    limits: RolloutLimits | None = None


class Stepped(Contract):
    share: Share | None = Field(None, description="By default the next one.")
    force: bool = Field(False, description="Also if the regression set is not read rightly.")


class Promoted(Contract):
    force: bool = False


class Stopped(Contract):
    why: Annotated[str, Field(max_length=500), AfterValidator(storable)] = ""


def add_rollout(app: FastAPI) -> None:
    @app.get(PATH)
    async def get_rollout(request: Request) -> RolloutStatus:
        """Both sides with intervals, and whether the next step is supported."""
        return await _commands(request).status()

    @app.post(PATH, status_code=201)
    async def post_rollout(body: Started, request: Request) -> Rollout:
        """Put a variant of groundplan.toml on trial, in the shadow unless a share is given."""
        return await _commands(request).start(body.variant, body.share, body.bounds, body.limits)

    @app.post(f"{PATH}/step")
    async def post_step(body: Stepped, request: Request) -> Rollout:
        """Go on to the next share, or to any. The questions of the regression set are read first."""
        return await _commands(request).step(body.share, force=body.force)

    @app.post(f"{PATH}/stop")
    async def post_stop(body: Stopped, request: Request) -> Rollout:
        """The current variant answers everything from the next question on."""
        return await _commands(request).stop(body.why)

    @app.post(f"{PATH}/promote")
    async def post_promote(body: Promoted, request: Request) -> Rollout:
        """The variant on trial is in force from the next question on."""
        return await _commands(request).promote(force=body.force)


def _commands(request: Request) -> Commands:
    return Commands(request.app.state.projects, request.state.tenant, request.state.actor)
