"""Every workload does what it says, in a length that takes no time."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from importlib import import_module

import pytest

from bench.adapters import floor, onion_cache, onion_calls, onion_network, onion_pairs, onion_streams, onion_wire
from bench.counts.paths import PATHS, Path
from bench.groups import OWN
from bench.jobs import ROOT, Job, JobError, Process
from bench.loopback import serving
from bench.objects import deltas_of_object, object_text
from bench.workload import Params, Setup, WrongAnswerError, expect, repeated, streamed

SMALL = Params(steps=2, calls=2, deltas=16, size=500, layers=2)
IN_PROCESS = [
    setup
    for adapter in (floor, onion_calls, onion_streams, onion_cache, onion_pairs)
    for setup in adapter.SETUPS.values()
]
OVER_NETWORK = [
    ("bench.adapters.raw_http", ""),
    *(("bench.adapters.onion_network", way) for way in ("httpx", "aiohttp")),
]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(cpu=None) as found:
        yield found


@pytest.mark.parametrize("setup", IN_PROCESS)
async def test_a_workload_in_process_gives_right_answers(setup: Setup) -> None:
    workload = setup(SMALL)

    await workload.run(workload.unit)

    assert workload.unit >= 1


@pytest.mark.parametrize(("adapter", "variant"), OVER_NETWORK)
@pytest.mark.parametrize("name", ["generate", "loop", "stream"])
def test_a_workload_over_the_loopback_gives_right_answers(name: str, adapter: str, variant: str, url: str) -> None:
    options = "tools=2" if name == "loop" else "n=16,per=4"
    params = SMALL.replace(url=url, options=options, variant=variant)

    with Process(Job(adapter=adapter, workload=name, params=params, budget=0.001), cpu=None) as process:
        process.wait_until_ready()
        sample = process.measure()

    assert sample.cpu > 0


@pytest.mark.parametrize("variant", list(onion_wire.BODIES))
async def test_every_wire_format_is_read(variant: str) -> None:
    workload = onion_wire.SETUPS["stream"](SMALL.replace(variant=variant))

    extra = await workload.run(workload.unit)

    assert extra is not None
    assert extra["first_us"] > 0


async def test_cut_in_the_middle_of_characters_the_server_still_says_the_same(url: str) -> None:
    workload = onion_network.SETUPS["stream"](SMALL.replace(url=url, options="n=16,split=37"))

    await workload.run(workload.unit)

    assert workload.unit == SMALL.deltas


async def test_streams_that_wait_for_each_other_are_open_together(url: str) -> None:
    params = SMALL.replace(url=url, options="n=16,per=4,all=3", concurrency=3)

    await onion_network.SETUPS["stream"](params).run(3 * 16)

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(onion_network.SETUPS["stream"](params.replace(concurrency=2)).run(2 * 16), 0.2)


def test_every_job_names_a_workload_that_there_is() -> None:
    jobs = [job for group in OWN for job in group.jobs.values()]

    assert [job for job in jobs if job.workload not in import_module(job.adapter).SETUPS] == []
    assert len({row.name for group in OWN for row in group.rows}) == sum(len(group.rows) for group in OWN)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
async def test_every_counted_path_runs(path: Path) -> None:
    (params, operations), (longer, more) = path.runs()
    workload = import_module(path.adapter).SETUPS[path.workload](params)

    await workload.run(workload.unit)

    assert more == 3 * operations
    assert (params == longer) == (not path.grows)


def test_a_process_is_measured_again_and_again() -> None:
    with Process(Job(adapter="bench.adapters.floor", workload="loop", budget=0.001), cpu=None) as process:
        process.wait_until_ready()
        samples = [process.measure(), process.measure()]

    assert all(0 < sample.cpu < 10_000 for sample in samples)


def test_a_process_that_fails_says_its_last_words() -> None:
    with (
        Process(Job(adapter="bench.adapters.floor", workload="nonsense"), cpu=None) as process,
        pytest.raises(JobError, match="KeyError: 'nonsense'"),
    ):
        process.wait_until_ready()


async def test_wrong_work_is_no_figure() -> None:
    async def short() -> AsyncIterator[str]:
        yield "one"

    with pytest.raises(WrongAnswerError, match="gave 1"):
        await streamed(short, SMALL).run(16)
    with pytest.raises(WrongAnswerError):
        expect([], "nothing")


@pytest.mark.parametrize("concurrency", [1, 3])
async def test_so_many_operations_are_done(concurrency: int) -> None:
    done: list[int] = []

    async def one() -> None:
        done.append(1)

    workload = repeated(one, unit=2, concurrency=concurrency)
    await workload.run(12)

    assert (len(done), workload.unit) == (6, 2 * concurrency)


def test_the_streamed_object_is_the_whole_object() -> None:
    assert "".join(deltas_of_object(500)) == object_text(500)


def test_params_go_through_a_command_line() -> None:
    params = Params(layers=3, variant="disk")

    assert Params.parse(params.changed()) == params
    assert Params.parse("{}") == Params()
    with pytest.raises(AttributeError):
        Params.parse('{"nonsense": 1}')


def test_an_unknown_row_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench", "nonsense"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 2
    assert "no row begins with nonsense" in done.stderr
