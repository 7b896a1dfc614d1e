"""A program that asks a model, forks, and asks it again in both processes: ``python -m tests.cases.forking URL MODE``.

Prints what went wrong, a line each.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING

from onion.providers import openai_compatible
from tests.cases.runs import Mode, ran

if TYPE_CHECKING:
    from onion.spec.model import LanguageModel

CHILD = 0


async def ask(model: LanguageModel, mode: Mode) -> str:
    """What went wrong, if anything."""
    told = await ran({"model": model, "prompt": "go", "max_retries": 0}, mode)
    return "" if told.result is not None and told.result.text == "x" else repr(told.error)


def main(url: str, name: str) -> None:
    """Ask, fork, ask."""
    mode: Mode = "generate" if name == "generate" else "stream"
    model = openai_compatible(base_url=url, model="m-1", name="vendor", api_key="k")
    faults = [asyncio.run(ask(model, mode))]
    process = os.fork()
    faults.append(asyncio.run(ask(model, mode)))
    for fault in filter(None, faults):
        sys.stdout.write(f"{fault}\n")
    if process == CHILD:
        sys.stdout.flush()
        os._exit(0)
    _, status = os.waitpid(process, 0)
    if status:
        sys.stdout.write(f"the child ended with {status}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
