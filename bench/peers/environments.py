"""Makes the environments of the peers: `python -m bench.peers.environments [PEER ...]`.

One virtual environment per Python peer and one folder of Node.js packages, all below build/peers. A peer that cannot
be installed is said and left out; the benchmark then leaves its rows out, too.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from typing import TYPE_CHECKING

from bench.jobs import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FOLDER = ROOT / "build" / "peers"
PYTHON_PEERS = {
    "pydantic_ai": ("pydantic-ai-slim[openai]>=2,<3",),
    "langchain": ("langchain>=1,<2", "langchain-openai"),
    "openai_agents": ("openai-agents",),
    "openai_client": ("openai",),
    "litellm": ("litellm",),
}
NODE_PEER = "ai_sdk"
NODE_PACKAGES = ("node@24", "ai@7", "@ai-sdk/openai-compatible@3", "zod")
LONGEST_SECONDS = 900


def python_of(peer: str) -> Path:
    """The interpreter of a Python peer."""
    return FOLDER / peer / "bin" / "python"


def node_folder() -> Path:
    """Where the packages of the AI SDK are."""
    return FOLDER / NODE_PEER


def node() -> Path:
    """The Node.js that the AI SDK wants, whatever the machine has."""
    return node_folder() / "node_modules" / "node" / "bin" / "node"


def ready() -> list[str]:
    """The peers whose environments are whole."""
    found = [peer for peer in PYTHON_PEERS if (FOLDER / peer / "ready").exists()]
    return [*found, NODE_PEER] if (node_folder() / "ready").exists() else found


def do(argv: Sequence[str]) -> None:
    """Run a command; its output is shown only if it fails.

    Raises:
        CalledProcessError: When it fails.
    """
    subprocess.run(argv, cwd=FOLDER, check=True, timeout=LONGEST_SECONDS, capture_output=True, text=True)


def make_python(peer: str) -> None:
    """Make the environment of a Python peer."""
    venv.create(FOLDER / peer, with_pip=True)
    do([str(python_of(peer)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PYTHON_PEERS[peer]])
    (FOLDER / peer / "ready").touch()


def make_node() -> None:
    """Install the AI SDK, and Node.js with it.

    Raises:
        FileNotFoundError: Without npm.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise FileNotFoundError("npm, which comes with Node.js, is not installed")
    node_folder().mkdir(exist_ok=True)
    do([npm, "install", "--no-save", "--silent", "--prefix", str(node_folder()), *NODE_PACKAGES])
    (node_folder() / "ready").touch()


def make(peer: str) -> bool:
    """Make one environment; whether that worked."""
    try:
        make_node() if peer == NODE_PEER else make_python(peer)
    except subprocess.CalledProcessError as error:
        print(f"{peer}: not installed: {error.stderr.strip()[-500:]}")
    except (OSError, subprocess.TimeoutExpired) as error:
        print(f"{peer}: not installed: {error}")
    else:
        print(f"{peer}: ready")
        return True
    return False


def main(words: Sequence[str]) -> int:
    """Make what is not there yet; 1 if something could not be made."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    wanted = [peer for peer in (words or (*PYTHON_PEERS, NODE_PEER)) if peer not in ready()]
    results = [make(peer) for peer in wanted]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
