"""Which side answers a conversation: the current variant or the one on trial."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import get_args

from groundplan.contracts.rollout import Rollout, RunSide, Share

SHARES: tuple[Share, ...] = get_args(Share)
BUCKETS = 10_000


@dataclass(frozen=True)
class Before:
    """The run before in the same conversation."""

    exists: bool = False
    side: RunSide | None = None  # None if no variant was on trial


def side_of(rollout: Rollout, tenant: str, conversation: str, before: Before) -> RunSide:
    """A new conversation by its hash; one that goes on stays where it was, also if the share has grown since."""
    if before.exists:
        trial = before.side is not None and (before.side.rollout, before.side.side) == (rollout.id, "trial")
    else:
        trial = is_on_trial(rollout.id, tenant, conversation, rollout.share)
    variant, side = (rollout.variant, "trial") if trial and rollout.share else (rollout.current, "current")
    return RunSide.model_validate({"rollout": rollout.id, "variant": variant, "side": side, "share": rollout.share})


def is_on_trial(rollout: str, tenant: str, conversation: str, share: Share) -> bool:
    """Stable: whoever is on trial at one share is on trial at every larger one of the same rollout."""
    return bucket(rollout, tenant, conversation) < share * BUCKETS // 100


def next_share(share: Share) -> Share | None:
    """The step after this one; None after the last."""
    return next((one for one in SHARES if one > share), None)


def bucket(*parts: str) -> int:
    digest = hashlib.sha256("\0".join(parts).encode()).digest()
    return int.from_bytes(digest[:8], "big") % BUCKETS
