"""Call number n fails, for every n: of servers, of files, of the disk and of memory. The run ends typed and in time."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import get_args

import pytest

from groundplan.contracts.facts import Complete
from groundplan.errors import DeadlineExceeded, GroundplanError, SourceError, TransientError
from groundplan.llm.reply import ModelError
from tests.llm.scripted import (
    Behaviour,
    dies_within,
    hangs,
    hangs_up,
    sends,
)
from tests.llm.test_faults import HALF
from tests.llm.test_faults import ask as ask_model
from tests.patience import SOON
from tests.sources.tableau.calling import BY_REGION, ask, opened, rows, run
from tests.sources.tableau.double.serving import Fault
from tests.sources.tableau.double.tableau import Tableau
from tests.sources.tableau.test_source_faults import DROPPED, LASTING, PASSING, SECONDS


@pytest.mark.requirement("R42", "R46")
@pytest.mark.parametrize("endpoint", ["signin", "datasource", "read-metadata", "query-datasource"])
@pytest.mark.parametrize(
    "fault", [fault for fault in get_args(Fault) if fault not in ("wrong types", "error half way")]
)
def test_a_fault_on_any_call_ends_typed_in_time(tableau: Tableau, tmp_path: Path, fault: Fault, endpoint: str) -> None:
    tableau.fault(fault, on=tableau.luid if endpoint == "datasource" else endpoint)
    begun = time.monotonic()
    outcome = run(opened(tableau, tmp_path, request_seconds=0.2), BY_REGION, SECONDS)
    assert time.monotonic() - begun < SOON
    assert len(tableau.requests) <= 4 * 3 + 4
    if outcome.status == "finished":
        assert outcome.facts is not None
        assert (outcome.facts.rows, outcome.facts.state) == (4, Complete())
    else:
        assert outcome.issue is not None
        assert outcome.issue.code in ("running/tool", "running/deadline")
    assert "CANARY" not in outcome.model_dump_json()


@pytest.mark.requirement("R41", "R46")
@pytest.mark.parametrize("fault", [*PASSING, *DROPPED])
def test_what_passes_is_tried_again(tableau: Tableau, tmp_path: Path, fault: Fault) -> None:
    tableau.fault(fault, times=2)
    assert len(rows(ask(opened(tableau, tmp_path, request_seconds=1.5), BY_REGION))) == 4
    assert tableau.count("query-datasource") == 3


@pytest.mark.requirement("R41", "R46")
@pytest.mark.parametrize("fault", [*LASTING, "error half way", "vanished data source"])
def test_what_lasts_is_asked_once(tableau: Tableau, tmp_path: Path, fault: Fault) -> None:
    tableau.fault(fault)
    with pytest.raises(SourceError) as caught:
        ask(opened(tableau, tmp_path), BY_REGION)
    assert tableau.count("query-datasource") == 1
    assert "CANARY" not in str(caught.value)


def test_patience_beyond_the_deadline_is_not_waited_for(tableau: Tableau, tmp_path: Path) -> None:
    tableau.fault("429000 after 600")
    begun = time.monotonic()
    with pytest.raises(SourceError, match=r"too many queries in this hour .* try again later"):
        ask(opened(tableau, tmp_path), BY_REGION)
    assert time.monotonic() - begun < SOON
    assert tableau.count("query-datasource") == 1


@pytest.mark.requirement("R40")
@pytest.mark.parametrize(
    ("behaviour", "error", "tries"),
    [
        pytest.param(sends(429, "busy"), TransientError, 3, id="429"),
        pytest.param(sends(429, "busy", retry_after="600"), TransientError, 1, id="429 until after the deadline"),
        pytest.param(sends(429, "busy", retry_after="0"), TransientError, 3, id="429 with no wait"),
        pytest.param(
            sends(429, "busy", retry_after="Wed, 21 Oct 2037 07:28:00 GMT"), TransientError, 3, id="429, a date"
        ),
        pytest.param(sends(408, "slow"), TransientError, 3, id="408"),
        pytest.param(sends(500, "broken"), TransientError, 3, id="500"),
        pytest.param(sends(503, "<html>", "text/html"), TransientError, 3, id="503 as a page"),
        pytest.param(hangs_up, TransientError, 3, id="hangs up"),
        pytest.param(dies_within(HALF), TransientError, 3, id="dies within the body"),
        pytest.param(hangs, DeadlineExceeded, 1, id="hangs"),
        pytest.param(sends(200, HALF), ModelError, 1, id="half a JSON"),
        pytest.param(sends(200, ""), ModelError, 1, id="empty body"),
        pytest.param(sends(200, "<html>hello</html>", "text/html"), ModelError, 1, id="a page"),
        pytest.param(sends(200, '{"object": "chat.completion", "choices": []}'), ModelError, 1, id="no choices"),
        pytest.param(sends(200, '{"object": "list", "data": []}'), ModelError, 1, id="another endpoint"),
        pytest.param(sends(400, "no such thing"), ModelError, 1, id="400"),
        pytest.param(sends(401, "who are you"), ModelError, 1, id="401"),
        pytest.param(sends(404, "no such model"), ModelError, 1, id="404"),
        pytest.param(sends(307, "", location="http://127.0.0.1:1/"), ModelError, 1, id="redirect"),
    ],
)
def test_a_broken_server_ends_typed_and_in_time(behaviour: Behaviour, error: type[GroundplanError], tries: int) -> None:
    outcome, server, seconds = asyncio.run(ask_model(behaviour))
    assert type(outcome) is error or (error is ModelError and isinstance(outcome, ModelError)), outcome
    assert "scripted" in str(outcome)
    assert len(server.requests) == 1 + tries
    assert seconds < SOON
