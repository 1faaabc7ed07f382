"""The data that a service serves, opened with the settings of its folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from groundplan.contracts.rollout import SETTINGS
from groundplan.project import AsyncProject
from groundplan.settings import NO_MODEL, Endpoint, load_models, load_settings
from groundplan.sources.tables.engine.engines import AttachedFile
from groundplan.state.database import Database, local_tenant


@dataclass(frozen=True)
class Data:
    """The data that is served, and the models that may be asked."""

    where: Any
    models: Sequence[Endpoint] = ()

    async def open(
        self, database: Database, files: Sequence[AttachedFile] = (), variant: str = SETTINGS
    ) -> AsyncProject:
        """With the settings of this folder, and what the variant says differently."""
        settings = load_settings(Path.cwd())
        said = settings.variant(variant)
        models = self.models if said.model is None else load_models(Path.cwd(), ",".join(said.model) or NO_MODEL)
        roles = said.roles_over(settings.roles).among(tuple(model.name for model in models))
        columns = settings.columns_of(self.where)
        given = (settings.embeddings, models, columns, database, roles, files)
        most = settings.rows_without_approval
        found = await AsyncProject.open(self.where, *given, rows_without_approval=most)
        found.strategy, found.timezone = said.strategy, settings.timezone
        return found

    @property
    def tenant(self) -> str:
        return local_tenant(self.where)
