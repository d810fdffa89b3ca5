"""What GPGPU-Sim and Accel-Sim print, as a profile and as features of one."""

from __future__ import annotations

from pathlib import Path

import pytest

from sampling.api import read_profile
from sampling.errors import ProfileError
from sampling.features.reading import read_features

BANNER = "        *** GPGPU-Sim Simulator Version 4.2.0  [build gpgpu-sim_git-commit-x] ***\n"
CONFIG = "-gpgpu_concurrent_kernel_sm                    0 # Support kernels\n-gpgpu_max_cycle 0 # no limit\n"

BREAK = "GPGPU-Sim: ** break due to reaching the maximum cycles (or instructions) **\n"


def block(name: str, uid: str, cycles: object, instructions: object) -> str:
    return (
        f"kernel_name = {name} \nkernel_launch_uid = {uid} \nkernel_stream_id = 0\n"
        f"gpu_sim_cycle = {cycles}\ngpu_sim_insn = {instructions}\ngpu_ipc = 9.0\ngpu_tot_sim_cycle = 777\n"
    )


def traced(number: int, name: str, cycles: int) -> str:
    return (
        f"Processing kernel kernel-{number}.traceg\n-kernel name = {name}\n-kernel id = {number}\n"
        f"-grid dim = ({number},2,3)\n-block dim = (64,2,1)\n-shmem = 0\n"
        + block(name, "1", cycles, 10 * cycles)
    )


PROGRAM = (
    BANNER
    + CONFIG
    # Another thread prints that a kernel is pushed.
    + "half aGPGPU-Sim PTX: pushing kernel '_Z1aPf' to stream 0, gridDim= (4,16,1) blockDim = (32,8,1) \n"
    + block("_Z1aPf", "1", 2945, 932864)
    + "GPGPU-Sim PTX: pushing kernel '_Z1bPf' to stream 0, gridDim= (1,1,1) blockDim = (32,1,1) \n"
    + block("_Z1bPf", "2", 521, 26624)
)


def test_a_program_is_a_profile_of_its_launches(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    path.write_text(PROGRAM)
    profile = read_profile(str(path))
    batch = profile.parts[0].load(("duration_ns", "signature"))
    assert batch["duration_ns"].tolist() == [2945, 521]
    first = profile.kernels.signature(int(batch["signature"][0]))
    assert (profile.kernels.names.full(first.name), first.grid, first.block) == (
        "_Z1aPf",
        (4, 16, 1),
        (32, 8, 1),
    )
    assert profile.parts[0].metrics(("instructions",))["instructions"].tolist() == [932864, 26624]
    assert profile.notes == (f"{path}: a cycle of the simulator counts as a nanosecond",)


def test_launches_of_traces_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    path.write_text(BANNER + traced(7, "k", 70) + traced(2, "k", 20))
    profile = read_profile(str(path))
    batch = profile.parts[0].load(("duration_ns", "signature"))
    assert batch["duration_ns"].tolist() == [20, 70]
    assert profile.kernels.signature(int(batch["signature"][0])).grid == (2, 2, 3)
    rows = read_features(str(path))
    assert rows.launch_number is not None
    assert rows.launch_number.tolist() == [1, 6]
    assert rows.features.metrics["instructions"].tolist() == [200, 700]
    assert rows.features.metrics["cycles"].tolist() == [20, 70]
    assert rows.grid is not None
    assert rows.grid.tolist() == [[2, 2, 3], [7, 2, 3]]


def test_a_launch_that_has_not_ended_is_left_out_and_said(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    for cut in ("gpu_sim_insn = 26624", "gpu_sim_cycle = 521", "kernel_name = _Z1bPf"):
        path.write_text(PROGRAM[: PROGRAM.index(cut)])
        profile = read_profile(str(path))
        assert profile.launches == 1
        assert profile.notes[0].endswith("; 1 launch had not ended")


@pytest.mark.parametrize(
    ("wrong", "row", "said"),
    [
        (("kernel_sm                    0", "kernel_sm 1"), 2, "kernels ran concurrently"),
        (("-gpgpu_max_cycle 0", "-gpgpu_max_cycle 700"), 11, "-gpgpu_max_cycle 700 ended it"),
        (("kernel_launch_uid = 2", "kernel_launch_uid = 2, 3"), 17, "launches 2 and 3 are printed as one"),
        (("kernel_name = _Z1bPf ", "kernel_name = _Z1bPf _Z1bPf "), 17, "has the names of several"),
        (("_Z1bPf \nkernel_launch_uid = 2 \n", "\nkernel_launch_uid = \n"), 17, "a block has no kernel_name"),
        (("gpu_sim_insn = 26624\n", f"gpu_sim_insn = 26624\n{BREAK}"), 18, "the simulator broke it off"),
    ],
)
def test_what_is_of_no_whole_launch_is_refused(
    tmp_path: Path, wrong: tuple[str, str], row: int, said: str
) -> None:
    path = tmp_path / "run.log"
    assert wrong[0] in PROGRAM
    path.write_text(PROGRAM.replace(*wrong, 1))
    for read in (read_profile, read_features):
        with pytest.raises(ProfileError, match=said) as caught:
            read(str(path))
        assert caught.value.row == row


def test_a_log_without_a_launch_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    path.write_text(BANNER + CONFIG)
    for read in (read_profile, read_features):
        with pytest.raises(ProfileError, match="no launch has ended"):
            read(str(path))
