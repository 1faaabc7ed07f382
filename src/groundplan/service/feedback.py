"""Feedback over HTTP: a thumb on every answer, and the review of bad ones by those who may administer."""

from __future__ import annotations

from typing import Annotated

from fastapi import FastAPI, Query
from pydantic import model_validator
from starlette.requests import Request

from groundplan.contracts.contract import Contract
from groundplan.contracts.feedback import Feedback, Regression, Review
from groundplan.contracts.reading import Reading
from groundplan.contracts.run import Said
from groundplan.service.runs import RunId, project_of
from groundplan.state.feedback import Ratings


class RightReading(Contract):
    """How the question is read rightly: as a reading or a SELECT; with neither, as it was read."""

    reading: Reading | None = None
    sql: Said | None = None

    @model_validator(mode="after")
    def _is_one_of_them(self) -> RightReading:
        if self.reading and self.sql:
            raise ValueError("give a reading or a SELECT, and not both")
        return self


def add_feedback(app: FastAPI) -> None:
    @app.post("/v1/runs/{id}/feedback", status_code=204)
    async def post_feedback(id: RunId, body: Feedback, request: Request) -> None:
        """Say whether the answer is good. A later thumb replaces an earlier one."""
        await give_feedback(request, id, body)

    @app.get("/v1/runs/{id}/feedback")
    async def get_feedback(id: RunId, request: Request) -> Feedback | None:
        """The thumb of this answer, if it has one."""
        return await _ratings(request).find(id)

    @app.get("/v1/reviews")
    async def list_reviews(request: Request, limit: Annotated[int, Query(ge=1, le=1000)] = 100) -> list[Review]:
        """Bad answers that nobody has reviewed, the newest first."""
        return [*await _ratings(request).to_review(limit)]

    @app.post("/v1/reviews/{id}")
    async def post_review(id: RunId, body: RightReading, request: Request) -> Reading:
        """Settle a review: the pair becomes an approved example and an item of the regression set."""
        async with project_of(request) as project:
            return await project.review(id, reading=body.reading, sql=body.sql, actor=request.state.actor)

    @app.get("/v1/reviews/regressions")
    async def list_regressions(request: Request) -> list[Regression]:
        """The questions whose right reading is known: `groundplan eval own` asks them."""
        return [*await _ratings(request).regressions()]


async def give_feedback(request: Request, run_id: str, given: Feedback) -> None:
    metrics = request.app.state.telemetry.metrics
    if await _ratings(request).give(run_id, given, request.state.actor):
        metrics.stopped()
    metrics.rated(given.thumb)


def _ratings(request: Request) -> Ratings:
    return Ratings(request.app.state.projects.database.of(request.state.tenant))
