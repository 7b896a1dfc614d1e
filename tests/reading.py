"""What many tests do with a stream."""

from onion.spec import StreamPart, StreamResult


async def read(stream: StreamResult, into: list[StreamPart] | None = None) -> list[StreamPart]:
    """All parts; those that came before a failure are in *into*."""
    seen = [] if into is None else into
    async with stream:
        async for part in stream:
            seen.append(part)
    return seen
