"""Files read and looked at by other processes: the same of everything, and launches stay there."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import sampling
from sampling import parallel
from sampling.errors import NotApplicableError, OptionError, ProfileError, SamplingError
from sampling.parallel import Workers
from sampling.profile.identity import fingerprints
from sampling.profile.profile import Part, Profile
from sampling.readers import registry
from sampling.readers.launch_parquet import write_launch_parquet
from sampling.readers.registry import read_profile
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import count_durations
from sampling.reduction.grouping import Grouping
from sampling.reduction.region import Region
from tests import small_recordings


@pytest.fixture(autouse=True)
def processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand for the cluster: other processes of this machine."""
    monkeypatch.setattr(registry, "cluster", lambda _: Workers())


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """One run in four formats: text, databases, and our Parquet in several row groups of two GPUs."""
    folder = tmp_path_factory.mktemp("run")
    made = [
        small_recordings.kineto(folder, "today"),
        small_recordings.nsys_sqlite(folder, "2023.4"),
        small_recordings.nsys_csv(folder, "2023.4"),
    ]
    written = folder / "own.parquet"
    write_launch_parquet(read_profile([str(path) for path in made]), Region(), written)
    return [*map(str, made), str(written)]


def here_and_elsewhere(paths: list[str]) -> tuple[Profile, Profile]:
    return read_profile(paths), read_profile(paths, scheduler="tcp://anywhere")


@pytest.mark.parametrize("method", ["joint", "pks", "single-iteration"])
def test_plans_are_the_same_byte_for_byte(method: str, paths: list[str], tmp_path: Path) -> None:
    texts = []
    for profile in here_and_elsewhere(paths):
        try:
            made = sampling.make_plan(profile, sampling.PlanRequest(method=method, seed=3))
        except sampling.SamplingError as error:
            texts.append(error.text)
            continue
        sampling.write_plan(made, tmp_path / "plan.json")
        texts.append((tmp_path / "plan.json").read_text())
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    "filters",
    [{}, {"launches": "60:400"}, {"time": "100000:900000"}, {"exclude": ("gemm",)}],
    ids=["all", "launches", "time", "names"],
)
def test_drafts_are_the_same(filters: dict[str, Any], paths: list[str]) -> None:
    request = sampling.PlanRequest(**filters)
    here, there = (sampling.make_plan(each, request).draft for each in here_and_elsewhere(paths))
    assert there.device_times == here.device_times
    assert there.order == here.order
    assert there.findings == here.findings
    assert there.counts.groups == here.counts.groups
    assert fingerprints(there.profile) == fingerprints(here.profile)
    assert [(part.first_id, part.launches) for part in there.counted] == [
        (part.first_id, part.launches) for part in here.counted
    ]


def test_named_ranges_are_the_same(paths: list[str]) -> None:
    here, there = here_and_elsewhere(paths[1:2])
    assert there.named_ranges(small_recordings.RANGE) == here.named_ranges(small_recordings.RANGE) != ()


def test_launches_may_be_loaded_here_too(paths: list[str]) -> None:
    here, there = here_and_elsewhere(paths)
    assert there.to_pandas().equals(here.to_pandas())


def test_what_is_wrong_is_the_first_that_is(paths: list[str], tmp_path: Path) -> None:
    (tmp_path / "broken.sqlite").write_bytes(Path(paths[1]).read_bytes()[:9000])
    given = [paths[0], str(tmp_path / "broken.sqlite"), str(tmp_path / "missing"), paths[2]]
    with pytest.raises(ProfileError) as here:
        read_profile(given)
    with pytest.raises(ProfileError) as there:
        read_profile(given, scheduler="tcp://anywhere")
    assert there.value.text == here.value.text
    assert there.value.remedy == here.value.remedy


def test_a_file_that_changed_since_is_told(paths: list[str], tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_bytes(Path(paths[2]).read_bytes())
    profile = read_profile([str(path)], scheduler="tcp://anywhere")
    path.write_bytes(Path(paths[2]).read_bytes() + b"\n")
    with pytest.raises(ProfileError, match="has changed on disk"):
        count_durations(profile, Grouping(GroupBy.NAME))


def test_operators_are_not_worked_out_elsewhere(paths: list[str]) -> None:
    profile = read_profile(paths[:1], scheduler="tcp://anywhere")
    with pytest.raises(NotApplicableError, match="scheduler"):
        count_durations(profile, Grouping(GroupBy.OPERATOR))


# --- a cluster ----------------------------------------------------------------------------------------------


def test_without_dask_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(OptionError, match="kernelpoint\\[dask\\]"):
        read_profile(["any"], scheduler="tcp://127.0.0.1:8786")


@pytest.mark.parametrize(
    "address",
    ["", "garbage", "tcp://", "tcp://host", "http://host:80", "tcp://[::1", "host:port", "a:1\nb:2"],
)
def test_what_is_no_address_is_said_at_once(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    # Dask, which would wait for it, is not asked.
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(OptionError, match="is no address of a scheduler") as caught:
        read_profile(["any"], scheduler=address)
    assert "tcp://HOST:8786" in str(caught.value.remedy)


@pytest.mark.parametrize(
    "address", ["host:8786", "tcp://10.0.0.1:8786", "tls://a-b.c:1", "tcp://[fe80::1%eth0]:8786/"]
)
def test_what_is_an_address_is_asked(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(OptionError, match="needs Dask"):
        read_profile(["any"], scheduler=address)


def test_a_scheduler_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="dask[distributed] is not installed")
    monkeypatch.undo()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(OptionError, match="is not there"):
        read_profile(["any"], scheduler=address)


# What Dask leaves open when it ends is no matter of ours.
of_dask = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)


@pytest.fixture
def local(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A Dask scheduler with two workers that are processes."""
    distributed = pytest.importorskip("distributed", reason="dask[distributed] is not installed")
    monkeypatch.undo()
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield cluster


@pytest.fixture
def address(local: Any) -> str:
    return str(local.scheduler_address)


def _end_once(mark: str, part: Part) -> int:
    """Count launches; the first process that does is killed."""
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return len(part.load(("duration_ns",))["duration_ns"])
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


@of_dask
def test_a_worker_that_dies_costs_its_parts_again(address: str, paths: list[str], tmp_path: Path) -> None:
    profile = read_profile(paths, scheduler=address)
    launches = [*profile.map(partial(_end_once, str(tmp_path / "killed")), profile.parts)]
    assert (tmp_path / "killed").exists()
    assert launches == [part.launches for part in profile.parts]
    here = read_profile(paths)
    for each in (here, profile):
        sampling.write_plan(sampling.make_plan(each), tmp_path / f"{each is here}.json")
    assert (tmp_path / "True.json").read_bytes() == (tmp_path / "False.json").read_bytes()


def _launches(part: Part) -> int:
    return len(part.load(("duration_ns",))["duration_ns"])


@of_dask
@pytest.mark.parametrize(
    ("end", "said", "remedy"),
    [
        (lambda local: local.scale(0), "the scheduler had no worker for 1 seconds", "dask worker"),
        (lambda local: local.close(), "the scheduler has gone", "start it again"),
    ],
    ids=["no worker is left", "the scheduler has ended"],
)
def test_a_cluster_that_has_ended_is_told(
    end: Callable[[Any], object],
    said: str,
    remedy: str,
    local: Any,
    address: str,
    paths: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parallel, "LONGEST_ALONE_SECONDS", 1)
    profile = read_profile(paths, scheduler=address)
    end(local)
    with pytest.raises(SamplingError, match=said) as caught:
        [*profile.map(_launches, profile.parts)]
    assert remedy in str(caught.value.remedy)


@of_dask
def test_a_scheduler_without_workers_is_told(
    local: Any, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "_LONGEST_WAIT_SECONDS", 2)
    local.scale(0)
    with pytest.raises(OptionError, match="the scheduler has no worker"):
        read_profile(["any"], scheduler=address)


@of_dask
def test_what_ends_one_worker_after_the_other_is_told(address: str, paths: list[str]) -> None:
    profile = read_profile(paths, scheduler=address)
    with pytest.raises(SamplingError, match="has lost one worker after the other"):
        [*profile.map(_end, profile.parts)]


def _end(_: Part) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@of_dask
def test_a_scheduler_that_answers_no_more_is_told(
    address: str, paths: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "LONGEST_ALONE_SECONDS", 1)
    profile = read_profile(paths, scheduler=address)

    async def silent(**_: object) -> None:
        raise TimeoutError

    assert profile.mapper is not None
    monkeypatch.setattr(profile.mapper.__self__.client.scheduler, "ncores", silent, raising=False)  # type: ignore[attr-defined]
    with pytest.raises(SamplingError, match="the scheduler has not answered for 1 seconds"):
        [*profile.map(_sleep, profile.parts)]


def _sleep(_: Part) -> None:
    time.sleep(60)
