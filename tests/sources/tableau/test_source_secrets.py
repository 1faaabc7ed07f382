"""A secret reaches the sign-in, a token the configured server, and neither anything else."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.sources.tableau.calling import BY_REGION, during, opened, ready
from tests.sources.tableau.double.serving import Reply, Request
from tests.sources.tableau.double.tableau import Tableau, running

from groundplan.errors import SourceError
from groundplan.sources.tableau.source import Tableau as Source


def everything(source: Source, tableau: Tableau) -> str:
    """All that a question leaves behind."""

    async def asked() -> str:
        schema = await source.describe()
        values = await source.values("sales")
        tableau.expire()
        result = await source.call(ready(BY_REGION))
        assert result.facts.table is not None
        shown = await source.fetch(result.facts.table, "a_run", 5, 5)
        said = [schema.model_dump_json(), str(values), result.facts.model_dump_json(), shown.model_dump_json()]
        return " ".join([*said, repr(source), repr(vars(source._service)), repr(source._service._session._signed)])

    return during(source, asked)


def test_the_secret_travels_to_the_sign_in_alone_and_the_token_in_one_header(tableau: Tableau, tmp_path: Path) -> None:
    everything(opened(tableau, tmp_path), tableau)
    for request in tableau.requests:
        holds = tableau.token_secret.encode() in request.body
        assert holds == (request.endpoint == "signin")
        assert tableau.token_secret not in f"{request.path}{request.query}{request.headers}"
        elsewhere = {name: value for name, value in request.headers.items() if name != "x-tableau-auth"}
        assert "CANARY" not in f"{request.path}{request.query}{elsewhere}"
        assert ("x-tableau-auth" in request.headers) != (request.endpoint == "signin")


@pytest.mark.requirement("R46")
@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("on", ["signin", "read-metadata", "query-datasource"])
def test_a_redirect_is_not_followed(tableau: Tableau, tmp_path: Path, on: str, status: int) -> None:
    with running(tableau.database) as other:
        honest = tableau.answer

        def elsewhere(request: Request) -> Reply:
            if request.endpoint != on:
                return honest(request)
            return Reply(status, b"", headers={"Location": f"{other.url}{request.path}"})

        tableau.answer = elsewhere
        source = opened(tableau, tmp_path)
        with pytest.raises(SourceError, match="where no token is sent"):
            during(source, lambda: source.call(ready(BY_REGION)))
        assert other.requests == []
