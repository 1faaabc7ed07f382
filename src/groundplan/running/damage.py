"""Checkpoints that somebody changed are refused, whichever database holds them."""

from __future__ import annotations

from collections.abc import Awaitable

from langgraph.checkpoint.base import CheckpointTuple

from groundplan.errors import GroundplanError, StateInvalid


async def undamaged(found: Awaitable[CheckpointTuple | None], where: str) -> CheckpointTuple | None:
    """Refuse a checkpoint that somebody changed so that it cannot be decoded."""
    try:
        checkpoint = await found
        if checkpoint is None or isinstance(checkpoint.checkpoint["channel_values"], dict):
            return checkpoint
        damage = "its form is another"
    except GroundplanError:
        raise
    except Exception as error:  # noqa: BLE001 - bytes that somebody changed may break the decoder in any way
        damage = type(error).__name__
    raise StateInvalid(f"{where} has a damaged checkpoint ({damage}); move it away to start with an empty one")
