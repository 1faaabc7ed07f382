"""The commands of a rollout, for HTTP and the command line: start, status, step, stop, promote."""

from __future__ import annotations

from pathlib import Path

from groundplan.contracts.rollout import Bound, Rollout, RolloutLimits, Share, StopBounds
from groundplan.regressions import reread
from groundplan.rollout.assigning import SHARES, next_share
from groundplan.rollout.status import RolloutStatus, status_of
from groundplan.service.projects import Projects
from groundplan.settings import load_settings
from groundplan.state.audit import ONE_PERSON
from groundplan.state.feedback import Ratings
from groundplan.state.rollouts import Rollouts
from groundplan.state.runs import Conflict

ENOUGH_HISTORY = 100  # ended runs, to know which share of failures is common


class Commands:
    """Those of one tenant; `actor` is who gives them."""

    def __init__(self, projects: Projects, tenant: str, actor: str = ONE_PERSON) -> None:
        self._projects, self._tenant, self._actor = projects, tenant, actor
        self._rollouts = Rollouts(projects.database.of(tenant))

    async def status(self) -> RolloutStatus:
        standing, latest = await self._rollouts.standing(), await self._rollouts.latest()
        found = status_of(standing.current, latest, await self._rollouts.questions(latest.id) if latest else ())
        return found.model_copy(update={"variants": tuple(load_settings(Path.cwd()).variants)})

    async def start(
        self,
        variant: str,
        share: Share = 0,
        bounds: StopBounds | None = None,
        limits: RolloutLimits | None = None,
    ) -> Rollout:
        """Put a variant on trial. Without bounds, it may fail as often as answers fail today, and a little more."""
        async with self._projects.of(self._tenant, variant):
            pass  # a variant that cannot be opened is refused before anybody is asked by it
        bounds = bounds or await self._usual_bounds()
        return await self._rollouts.start(variant, bounds, limits or RolloutLimits(), share, self._actor)

    async def step(self, share: Share | None = None, *, force: bool = False) -> Rollout:
        """Go on to a share, by default the next one. The regression set has to be read rightly, unless it is forced."""
        rollout = (await self._rollouts.standing()).running
        wanted = next_share(rollout.share) if share is None else share
        if wanted is None:
            raise Conflict(
                f"{rollout.variant!r} answers everything already; promote it with `groundplan rollout promote`"
            )
        if not force and SHARES.index(wanted) > SHARES.index(rollout.share):
            await self._refuse_regressions(rollout)
        return await self._rollouts.step(wanted, self._actor)

    async def stop(self, why: str = "") -> Rollout:
        return await self._rollouts.stop(why, self._actor)

    async def promote(self, *, force: bool = False) -> Rollout:
        if not force:
            await self._refuse_regressions((await self._rollouts.standing()).running)
        return await self._rollouts.promote(self._actor)

    async def _refuse_regressions(self, rollout: Rollout) -> None:
        items = await Ratings(self._projects.database.of(self._tenant)).regressions()
        if not items:
            return
        async with self._projects.of(self._tenant, rollout.variant) as project:
            missed = [one.item.question for one in await reread(project, items) if one.verdict != "right"]
        if missed:
            raise Conflict(
                f"{rollout.variant!r} misses {len(missed)} of {len(items)} questions of your regression set, such as "
                f"{missed[0]!r}; mend it, or force the step"
            )

    async def _usual_bounds(self) -> StopBounds:
        history, usual = await self._rollouts.history(), StopBounds()
        if history.n < ENOUGH_HISTORY:
            return usual
        errors: Bound = usual.errors.at_least(history.errors / history.n)
        return usual.model_copy(
            update={"errors": errors, "thumbs_down": usual.thumbs_down.at_least(history.bad / history.n)}
        )
