"""Cases of API keys: whatever fails, they are in nothing that a program shows, keeps or sends on."""

from __future__ import annotations

import json
import logging
import pickle
import tempfile
import traceback
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import structlog

from onion import explain
from onion.middleware import Cache, DiskStore, Logging, Retry
from onion.providers._json import object_in
from onion.spec.json import to_json
from onion.spec.model import LanguageModel
from onion.spec.parts import ErrorPart
from onion.wrap import wrap_language_model
from tests.cases.case import Case, WaitingError
from tests.cases.expectations import differences
from tests.cases.models import FINE, MODELS, model_over
from tests.cases.playback import Playback
from tests.cases.runs import MODES, Mode, Ran, ran
from tests.middleware.tracing.exporting import Telemetry

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from onion.loop import RunOptions
    from onion.spec.base import JsonValue

LATER = ("ui stream",)
"""Where keys may show up that is to come; what the full stream tells of errors is looked at already."""


async def run(case: Case) -> list[str]:
    """The faults of every failure, with every provider that is built, in both modes."""
    calls = object_in(case.data, "calls")
    keys, failures, surfaces = (_texts(calls.get(name)) for name in ("keys", "failures", "surfaces"))
    if unknown := set(surfaces) - set(SURFACES) - set(LATER):
        raise WaitingError(f"the surfaces {sorted(unknown)}")
    faults: list[str] = []
    for provider, key in zip(case.providers, keys, strict=True):
        if provider not in MODELS:
            continue
        for failure in failures:
            for mode in MODES:
                seen = await _fail(provider, key, failure, mode)
                shown = {name: look(seen) for name, look in SURFACES.items()}
                places = [name for name, text in shown.items() if key in text]
                occurrences = sum(text.count(key) for text in shown.values())
                found = differences(case.expect, {"occurrences": occurrences})
                faults += [f"{fault} in {places} ({provider}, {failure}, {mode})" for fault in found]
                faults += [f"{failure} did not fail ({provider}, {mode})"] if seen.told.error is None else []
    return faults


def _texts(found: JsonValue) -> list[str]:
    return [str(text) for text in found] if isinstance(found, list) else []


# --- failures --------------------------------------------------------------------------------------------------------


class _NoAnswer(httpx.AsyncBaseTransport):
    """Raises what httpx raises when no answer comes."""

    def __init__(self, kind: type[httpx.TransportError]) -> None:
        self._kind = kind

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """No answer."""
        raise self._kind(f"no answer from {request.url}", request=request)


BROKEN: Mapping[str, Callable[[str], str]] = {
    "openai-chat": lambda said: (
        'data: {"choices":[{"delta":{"content":"x"}}]}\n\n'
        f'data: {{"error":{{"message":"{said}","code":"server_error"}}}}\n\n'
    ),
    "anthropic": lambda said: (
        'event: message_start\ndata: {"type":"message_start","message":{"id":"m","content":[],"usage":{}}}\n\n'
        "event: content_block_start\n"
        'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"x"}}\n\n'
        f'event: error\ndata: {{"type":"error","error":{{"type":"api_error","message":"{said}"}}}}\n\n'
    ),
    "gemini": lambda said: (
        'data: {"candidates":[{"content":{"role":"model","parts":[{"text":"x"}]}}]}\n\n'
        f'data: {{"error":{{"code":500,"message":"{said}","status":"INTERNAL"}}}}\n\n'
    ),
}
"""A stream that reports an error after some text."""


def _transport(provider: str, key: str, failure: str) -> httpx.AsyncBaseTransport:
    """Fails so; a server repeats the key in what it says of it."""
    said = f"the key {key} is not welcome"
    if failure.isdecimal():
        return Playback([{"status": int(failure), "body": {"error": {"message": said, "type": "error"}}}])
    if failure == "error mid-stream":
        if provider not in BROKEN:
            raise WaitingError(f"a broken stream of {provider}")
        return Playback([{"sse": BROKEN[provider](said)}])
    kind: object = getattr(httpx, failure, None)
    if isinstance(kind, type) and issubclass(kind, httpx.TransportError):
        return _NoAnswer(kind)
    raise WaitingError(f"a failure {failure!r}")


# --- what is seen of them --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Seen:
    """What a failing call left behind."""

    told: Ran
    model: LanguageModel
    logged: str
    spans: str
    files: str


async def _fail(provider: str, key: str, failure: str, mode: Mode) -> _Seen:
    """Fail once; then succeed once, so that the cache keeps something."""
    telemetry = Telemetry()
    with tempfile.TemporaryDirectory() as folder, _everything_logged() as records:
        store = DiskStore(folder)
        layers = [
            telemetry.layer(capture_content=True),
            Logging(structlog.wrap_logger(logging.getLogger("cases")), content=True),
            Cache(store, scope=key),
            Retry(1, sleep=_at_once),
        ]
        async with httpx.AsyncClient(transport=_transport(provider, key, failure)) as client:
            model = wrap_language_model(model_over(provider, client, key), layers)
            told = await ran(_asked(model, key), mode)
        async with Playback([FINE[provider]]).client() as client:
            await ran(_asked(wrap_language_model(model_over(provider, client, key), layers), key), "generate")
        await store.aclose()
        files = _contents(Path(folder))
    spans = "".join(span.to_json() for span in telemetry.spans)
    return _Seen(told, model, "\n".join(records), spans, files)


def _contents(folder: Path) -> str:
    """All bytes of all files, as text."""
    return "".join(path.read_bytes().decode("latin-1") for path in folder.rglob("*") if path.is_file())


def _asked(model: LanguageModel, key: str) -> RunOptions:
    """A run whose caller adds headers with credentials."""
    credentials = {"authorization": f"Bearer {key}", "x-api-key": key, "cookie": f"a={key}"}
    return {
        "model": model,
        "prompt": "go",
        "max_retries": None,
        "headers": {**credentials, "proxy-authorization": f"Basic {key}"},
    }


async def _at_once(seconds: float) -> None:
    del seconds


@contextmanager
def _everything_logged() -> Generator[list[str]]:
    """The lines of all loggers, at every level."""
    records: list[str] = []
    root, handler = logging.getLogger(), _Keeping(records)
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield records
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


class _Keeping(logging.Handler):
    def __init__(self, records: list[str]) -> None:
        super().__init__()
        self._records = records
        self.setFormatter(logging.Formatter())

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the line, with its traceback."""
        self._records.append(self.format(record))


def _traceback(seen: _Seen) -> str:
    error = seen.told.error
    return "" if error is None else "".join(traceback.format_exception(error))


def _as_json(seen: _Seen) -> str:
    failed = [part.error for part in seen.told.parts if isinstance(part, ErrorPart)]
    errors = [error for error in (seen.told.error, *failed) if error is not None]
    return json.dumps([to_json(error) for error in errors], default=repr)


SURFACES: Mapping[str, Callable[[_Seen], str]] = {
    "str(exc)": lambda seen: str(seen.told.error),
    "repr(exc)": lambda seen: repr(seen.told.error),
    "traceback": _traceback,
    "repr(model)": lambda seen: f"{seen.model!r} {explain(seen.model)}",
    "logging DEBUG": lambda seen: seen.logged,
    "span attributes and events": lambda seen: seen.spans,
    "cache file": lambda seen: seen.files,
    "errors as JSON": _as_json,
    "pickled error": lambda seen: pickle.dumps(seen.told.error).decode("latin-1"),
}
