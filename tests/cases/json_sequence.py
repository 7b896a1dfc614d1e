"""Cases that are several answers, each of which says what is right: whole, and as a stream of one chunk."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.cases import json_response, sse_stream
from tests.cases.case import rows
from tests.cases.expectations import differences

if TYPE_CHECKING:
    from tests.cases.case import Case


async def run(case: Case) -> list[str]:
    """The faults of *case*."""
    faults: list[str] = []
    bodies = rows(case.data.get("body"))
    for number, (body, expect) in enumerate(zip(bodies, rows(case.data.get("expect")), strict=True), start=1):
        event = f"data: {json.dumps(body)}\n\n"
        for provider in case.providers:
            whole = await json_response.observe(provider, {"body": body})
            streamed = await sse_stream.observe(provider, {"sse": event}, [event.encode()])
            for mode, seen in (("whole", whole), ("streamed", streamed)):
                found = differences({key: wanted for key, wanted in expect.items() if key != "mentions"}, seen)
                said = f"{seen.get('raw_finish')} {seen.get('error')}"
                if str(expect.get("mentions", "")) not in said:
                    found.append(f"nothing says {expect['mentions']!r}: {said}")
                faults += [f"{fault} (answer {number}, {provider}, {mode})" for fault in found]
    return faults
