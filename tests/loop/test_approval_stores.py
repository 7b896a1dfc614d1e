"""Stores of used approvals: a claim succeeds once, whoever makes it."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from onion.loop.approval import ApprovalStore
from onion.loop.approval_stores import DiskApprovalStore, MemoryApprovalStore


@pytest.fixture(params=["memory", "disk"])
def make_store(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], ApprovalStore]:
    """Makes a store; on disk, each is one more process's view of the same folder."""
    shared = MemoryApprovalStore()
    return (lambda: shared) if request.param == "memory" else (lambda: DiskApprovalStore(tmp_path / "approvals"))


async def test_an_approval_is_good_once(make_store: Callable[[], ApprovalStore]) -> None:
    first = await make_store().claim("a")
    second = await make_store().claim("a")
    other = await make_store().claim("b")

    assert (first, second, other) == (True, False, True)


async def test_of_many_claims_at_once_one_succeeds(make_store: Callable[[], ApprovalStore]) -> None:
    claims = await asyncio.gather(*(make_store().claim("a") for _ in range(50)))

    assert sum(claims) == 1


@pytest.mark.parametrize("approval_id", ["", "../../outside", "a/b", "é" * 300, "\ud800", "con", "__dict__"])
async def test_any_id_will_do(make_store: Callable[[], ApprovalStore], approval_id: str) -> None:
    store = make_store()

    assert [await store.claim(approval_id), await store.claim(approval_id)] == [True, False]


async def test_a_folder_that_cannot_be_written_is_an_error_not_a_yes(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.touch()

    with pytest.raises(OSError, match="file"):
        await DiskApprovalStore(blocked).claim("a")


def test_a_repr_says_what_it_is(tmp_path: Path) -> None:
    assert repr(MemoryApprovalStore()) == "MemoryApprovalStore(0 used)"
    assert repr(DiskApprovalStore(tmp_path)) == f"DiskApprovalStore({str(tmp_path)!r})"
