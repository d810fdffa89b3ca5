"""`nsys stats` CSV: every dialect, what surrounds the rows, and what is refused."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import ProfileError
from sampling.profile.profile import Device
from sampling.readers import input_file
from sampling.readers.input_file import HEAD_BYTES
from sampling.reduction.idle import why_idle
from sampling.reduction.timeline import device_times
from tests import plain_idle, small_recordings
from tests.sampling.readers.launches_told import Told, by_the_csv_module, read, refusal_of, told

HEADER_2022 = (
    "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),"
    "Bytes (MB),Throughput (MBps),SrcMemKd,DstMemKd,Device,Ctx,Strm,Name"
)
HEADER_2023 = HEADER_2022.replace("MBps", "MB/s").replace("Ctx,Strm", "Ctx,GreenCtx,Strm")
HEADER_EXEC = (
    "API Start (ns),API Dur (ns),Queue Start (ns),Queue Dur (ns),Kernel Start (ns),Kernel Dur (ns),"
    "Total Dur (ns),PID,TID,DevId,API Function,GridXYZ,BlockXYZ,Kernel Name"
)
HEADER_SUMMARY = "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name"
CHATTER = "Processing [x.sqlite] with [/opt/nvidia/reports/cuda_gpu_trace.py]... \n"

SCALE = '"void scale<float, 4>(float *, int)"'
ADD = "add"
GPU_ROWS = (
    f"1000,320,12,8,4,1,256,1,1,32,0.000,0.004,,,,,NVIDIA A100 (1),1,,7,{SCALE}",
    f"2000,96,11,8,4,1,256,1,1,32,0.000,0.004,,,,,NVIDIA A100 (1),1,,13,{ADD}",
    "2500,99,10,,,,,,,,,,67.109,4294.967,Pageable,Device,NVIDIA A100 (1),1,,7,[CUDA memcpy Host-to-Device]",
    "2600,9,14,,,,,,,,,,0.001,10.000,Device,,NVIDIA A100 (1),1,,7,[CUDA memset]",
    f"3000,64,13,2,1,1,64,2,1,32,0.000,0.000,,,,,NVIDIA A100 (0),2,,7,{ADD}",
)
EXEC_ROWS = (
    f"100,5,105,20,500,64,464,42,43,0,cudaLaunchKernel,   8    4    1, 256    1    1,{SCALE}",
    f"200,5,,,300,32,132,42,43,0,cudaLaunchKernel,   1    1    1,1024    1    1,{ADD}",
    f"150,5,155,20,700,96,646,41,41,1,cudaGraphLaunch_v10000,   1    1    1,1024    1    1,{ADD}",
    f"150,5,155,20,600,97,547,41,41,1,cudaGraphLaunch_v10000,   8    4    1, 256    1    1,{SCALE}",
)


def text_of(header: str, rows: Sequence[str], before: str = CHATTER, after: str = "\n") -> str:
    return before + "\n".join((header, *rows)) + "\n" + after


def write(folder: Path, text: str | bytes, name: str = "trace.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


class TestGpuTrace:
    def test_launches_stand_by_device_then_by_correlation(self, tmp_path: Path) -> None:
        profile = read(write(tmp_path, text_of(HEADER_2023, GPU_ROWS)))
        assert told(profile) == [
            Told(0, 0, ADD, 3000, 64, 7, (2, 1, 1), (64, 2, 1)),
            Told(0, 1, ADD, 2000, 96, 13, (8, 4, 1), (256, 1, 1)),
            Told(0, 1, SCALE.strip('"'), 1000, 320, 7, (8, 4, 1), (256, 1, 1)),
        ]
        assert profile.format == "nsys-csv"
        assert profile.facts.launch_order == "correlation"
        assert profile.facts.devices == (Device(0, "NVIDIA A100"), Device(1, "NVIDIA A100"))
        assert profile.files[0].launches == profile.launches == 3

    @pytest.mark.parametrize(
        ("unit", "start", "duration", "nanoseconds"),
        [
            ("ns", "1500", "32", (1500, 32)),
            ("nsec", "1500", "32", (1500, 32)),
            ("us", "1.5", "0.032", (1500, 32)),
            ("usec", "1.500", "2", (1500, 2000)),
            ("ms", "0.0015", "0.000032", (1500, 32)),
            ("s", "12.000000015", "0.000000032", (12_000_000_015, 32)),
            ("sec", "1e-6", "0.000000032", (1000, 32)),
            ("ns", "1500.0", "31.6", (1500, 32)),
            ("us", "1.5", "1.0019", (1500, 1002)),
            ("ns", "1700000000000000001.0", "32", (1_700_000_000_000_000_001, 32)),
            ("ns", '"1,700,000,000,000,000,001"', "32", (1_700_000_000_000_000_001, 32)),
        ],
    )
    def test_units_stand_in_the_header(
        self, tmp_path: Path, unit: str, start: str, duration: str, nanoseconds: tuple[int, int]
    ) -> None:
        header = HEADER_2023.replace("Start (ns),Duration (ns)", f"Start ({unit}),Duration ({unit})")
        row = f"{start},{duration},12,8,4,1,256,1,1,32,0.000,0.004,,,,,NVIDIA A100 (1),1,,7,{ADD}"
        (launch,) = told(read(write(tmp_path, text_of(header, [row]))))
        assert (launch.start_ns, launch.duration_ns) == nanoseconds

    def test_without_correlation_launches_stand_by_start(self, tmp_path: Path) -> None:
        rows = [row.replace(f",{corr},", ",,", 1) for row, corr in zip(GPU_ROWS, (12, 11), strict=False)]
        profile = read(write(tmp_path, text_of(HEADER_2023, rows)))
        assert profile.facts.launch_order == "gpu-start"
        assert [launch.start_ns for launch in told(profile)] == [1000, 2000]

    @pytest.mark.parametrize(
        ("device", "number", "devices"),
        [
            ("Tesla V100 (3)", 3, (Device(3, "Tesla V100"),)),
            (" (3)", 3, ()),
            ("3", 3, ()),
            ("GPU (big) (3)", 3, (Device(3, "GPU (big)"),)),
        ],
    )
    def test_device(self, tmp_path: Path, device: str, number: int, devices: tuple[Device, ...]) -> None:
        profile = read(
            write(tmp_path, text_of(HEADER_2023, [GPU_ROWS[0].replace("NVIDIA A100 (1)", device)]))
        )
        assert profile.sequences[0].device == number
        assert profile.facts.devices == devices


class TestKernelExecutionTrace:
    def test_launches_stand_by_process_and_device_in_api_order(self, tmp_path: Path) -> None:
        profile = read(write(tmp_path, text_of(HEADER_EXEC, EXEC_ROWS)))
        assert profile.facts.launch_order == "api-start"
        # The two of one graph launch share their API start and stand in the order of their own.
        scale, one, many = SCALE.strip('"'), (1, 1, 1), (8, 4, 1)
        assert told(profile) == [
            Told(41, 1, scale, 600, 97, 0, many, (256, 1, 1)),
            Told(41, 1, ADD, 700, 96, 0, one, (1024, 1, 1)),
            Told(42, 0, scale, 500, 64, 0, many, (256, 1, 1)),
            Told(42, 0, ADD, 300, 32, 0, one, (1024, 1, 1)),
        ]

    def test_the_calls_of_an_execution_trace_say_why_the_device_is_idle(self, tmp_path: Path) -> None:
        """By hand: after 1,000 the next is launched late, in time, in time but far off, and says nothing."""
        times = ((0, 900, 1_000, 5_000), (100, 9_900, 16_000, 4_000), (200, 50, 25_000, 5_000))
        rows = [
            f"{start},{lasts},,,{begins},{runs},9,42,43,0,cudaLaunchKernel,   1    1    1,   1    1    1,a"
            for start, lasts, begins, runs in (*times, (300, 50, 50_000, 5_000), (400, "", 60_000, 5_000))
        ]
        path = write(tmp_path, text_of(HEADER_EXEC, rows))
        profile = read(path)
        devices, copies = why_idle(profile, profile.parts, device_times(profile, profile.parts))
        (idle,), plain = devices.values(), plain_idle.why(plain_idle.execution(path), 42, 0)
        assert plain.causes == {
            "host": 10_000,
            "copy": 0,
            "turnaround": 5_000,
            "dependency": 20_000,
            "unknown": 5_000,
        }
        assert idle.causes == {name: ns / 40_000 for name, ns in plain.causes.items()}
        assert (idle.short, copies) == (0, None)
        # A report of an older version, or one that was cut by columns, tells nothing.
        lacking = path.read_text().replace("API Dur (ns)", "Other (ns)")
        assert read(write(tmp_path, lacking, "lacking.csv")).activity is None


class TestSurroundings:
    def as_expected(self, path: Path) -> bool:
        return [launch.duration_ns for launch in told(read(path))] == [64, 96, 320]

    @pytest.mark.parametrize(
        "before",
        [
            "",
            "\n\n",
            "NOTICE: Existing SQLite export found: x.sqlite\n        It is assumed to be new.\n\n" + CHATTER,
            "Generating SQLite file x.sqlite from x.nsys-rep\n"
            "Exporting 1374 events: [   5%\rExporting 1374 events: [==100%]\n" + CHATTER,
            "Exporting 1374 events: [   5%\rExporting 1374 events: [==100%]\r",
            "\ufeff",
            "hello from the program, with GrdX in its output\n",
            CHATTER + "\n ** CUDA GPU Trace (cuda_gpu_trace):\n\n",
        ],
    )
    def test_what_comes_before_is_passed_over(self, tmp_path: Path, before: str) -> None:
        assert self.as_expected(write(tmp_path, text_of(HEADER_2023, GPU_ROWS, before)))

    @pytest.mark.parametrize("between", ["\n", "", CHATTER, "\n" + CHATTER, "\nNOTICE: more\n\n" + CHATTER])
    def test_reports_before_and_after_are_left_alone(self, tmp_path: Path, between: str) -> None:
        summary = f"{HEADER_SUMMARY}\n99.0,480,3,160,96,64,320,1.5,{SCALE}\n\n"
        trace = text_of(HEADER_2023, GPU_ROWS, before="", after="")
        other = between or CHATTER
        text = summary + between + trace + other + summary
        assert self.as_expected(write(tmp_path, text))

    def test_a_trace_behind_a_report_longer_than_the_head_is_found(self, tmp_path: Path) -> None:
        summary = f"99.0,480,3,160,96,64,320,1.5,{SCALE}\n" * (HEAD_BYTES // 40)
        text = CHATTER + HEADER_SUMMARY + "\n" + summary + "\n" + text_of(HEADER_2023, GPU_ROWS)
        assert self.as_expected(write(tmp_path, text))

    def test_pieces_meet_anywhere(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        rows = [f"{10 * i},{i % 7},{i},8,4,1,{i % 3 + 1},1,1,,,,,,,,A (0),1,,7,{SCALE}" for i in range(200)]
        summary = f"{HEADER_SUMMARY}\n99.0,480,3,160,96,64,320,1.5,{SCALE}\n\n"
        text = summary + text_of(HEADER_2023, rows) + CHATTER + summary
        whole = told(read(write(tmp_path, text)))
        assert [launch.duration_ns for launch in whole] == [i % 7 for i in range(200)]
        for size in (1, 64, 101, 1000, len(text) - 30):
            monkeypatch.setattr(input_file, "PIECE_BYTES", size)
            assert told(read(tmp_path / "trace.csv")) == whole


class TestSeveralTraces:
    @pytest.mark.parametrize("gpu_first", [True, False])
    @pytest.mark.parametrize(("executed", "order"), [(4, "api-start"), (3, "api-start"), (2, "correlation")])
    def test_of_both_kinds_one_is_taken(
        self, tmp_path: Path, gpu_first: bool, executed: int, order: str
    ) -> None:
        texts = [text_of(HEADER_2023, GPU_ROWS), text_of(HEADER_EXEC, EXEC_ROWS[:executed])]
        profile = read(write(tmp_path, "".join(texts if gpu_first else reversed(texts))))
        assert profile.facts.launch_order == order
        assert profile.launches == max(3, executed)

    @pytest.mark.parametrize("between", ["\n", ""])
    def test_two_of_one_kind_are_refused(self, tmp_path: Path, between: str) -> None:
        text = text_of(HEADER_2023, GPU_ROWS, after=between) + text_of(HEADER_2023, GPU_ROWS, before="")
        error = refusal_of(write(tmp_path, text))
        assert error.row == 8 + len(between)
        assert "second nsys GPU trace" in str(error)
        assert "file of its own" in str(error.remedy)

    def test_rows_interrupted_by_chatter_are_refused_not_dropped(self, tmp_path: Path) -> None:
        lines = text_of(HEADER_2023, GPU_ROWS).splitlines()
        lines.insert(4, "WARNING: disk nearly full")
        error = refusal_of(write(tmp_path, "\n".join(lines) + "\n"))
        assert "interrupted" in str(error)
        assert error.row == 6


class TestDamage:
    def damaged(self, folder: Path, row: int, text: str) -> ProfileError:
        rows = list(GPU_ROWS)
        rows[row] = text
        return refusal_of(write(folder, text_of(HEADER_2023, rows)))

    def test_only_copies(self, tmp_path: Path) -> None:
        error = refusal_of(write(tmp_path, text_of(HEADER_2023, GPU_ROWS[2:4])))
        assert "lists no kernel launch" in str(error)

    def test_a_copy_of_more_bytes_than_there_are_is_of_none(self, tmp_path: Path) -> None:
        rows = [GPU_ROWS[2].replace("67.109", "1e300"), *GPU_ROWS[3:], *GPU_ROWS[:2]]
        activity = read(write(tmp_path, text_of(HEADER_2023, rows))).activity
        assert activity is not None
        assert activity.copies is not None
        assert activity.copies[4].tolist() == [0, 1000]

    @pytest.mark.parametrize("start", ["soon", "(1)"])
    def test_a_row_that_begins_oddly_is_left_out_and_counted(self, tmp_path: Path, start: str) -> None:
        rows = [GPU_ROWS[0], GPU_ROWS[1].replace("2000", start), *GPU_ROWS[2:]]
        whole = read(write(tmp_path, text_of(HEADER_2023, GPU_ROWS)))
        profile = read(write(tmp_path, text_of(HEADER_2023, rows)))
        assert (profile.launches, profile.facts.rows_left_out) == (whole.launches - 1, 1)
        assert (profile.facts.first_left_out or "").startswith("row 4")

    def test_a_row_that_begins_oddly_and_has_other_cells_is_refused(self, tmp_path: Path) -> None:
        assert self.damaged(tmp_path, 1, GPU_ROWS[1].replace("2000", "x,y")).row == 5

    def test_a_launch_without_a_start_is_kept(self, tmp_path: Path) -> None:
        rows = [GPU_ROWS[0], GPU_ROWS[1].replace("2000", ""), *GPU_ROWS[2:]]
        whole = read(write(tmp_path, text_of(HEADER_2023, GPU_ROWS)))
        profile = read(write(tmp_path, text_of(HEADER_2023, rows)))
        assert (profile.launches, profile.facts.without_start) == (whole.launches, 1)

    @pytest.mark.parametrize("end", ["", "\n"])
    def test_cut_short_within_a_quoted_name(self, tmp_path: Path, end: str) -> None:
        text = text_of(HEADER_2023, [*GPU_ROWS, GPU_ROWS[0]], after="").rstrip("\n")[:-5] + end
        error = refusal_of(write(tmp_path, text))
        assert (error.row, error.column) == (8, "Name")
        assert "quote" in str(error)

    @pytest.mark.parametrize("cell", ["fast", "12ns", "0b1", "--"])
    def test_a_duration_that_is_no_number(self, tmp_path: Path, cell: str) -> None:
        rows = [*GPU_ROWS[:4], GPU_ROWS[4].replace("3000,64", f'3000,"{cell}"'), *GPU_ROWS[5:]]
        profile = read(write(tmp_path, text_of(HEADER_2023, rows)))
        assert profile.facts.first_left_out == (
            f"row 7, column Duration (ns): {cell!r} is not a number that fits here"
        )

    @pytest.mark.parametrize("cell", ["1,5", "1 2", "1'000", "1.234.567"])
    def test_numbers_written_in_another_way_are_refused(self, tmp_path: Path, cell: str) -> None:
        error = self.damaged(tmp_path, 4, GPU_ROWS[4].replace("3000,64", f'3000,"{cell}"'))
        assert (error.row, error.column) == (7, "Duration (ns)")
        assert repr(cell) in str(error)


cell_characters = st.characters(codec="utf-8", exclude_characters="\0\r\n", exclude_categories=("Cs",))
kernel_names = st.text(cell_characters, min_size=1, max_size=40).filter(
    lambda name: not name.startswith("[CUDA ")
)


@given(
    launched=st.lists(
        st.tuples(
            kernel_names,
            st.integers(0, 2**40),
            st.tuples(*[st.integers(1, 2**31 - 1)] * 3),
            st.tuples(*[st.integers(1, 1024)] * 3),
        ),
        min_size=1,
        max_size=20,
    ),
    line_end=st.sampled_from(["\n", "\r\n"]),
    piece_bytes=st.sampled_from([1, 200, 1 << 24]),
)
def test_every_name_comes_back_whole(
    tmp_path_factory: pytest.TempPathFactory,
    launched: list[tuple[str, int, tuple[int, ...], tuple[int, ...]]],
    line_end: str,
    piece_bytes: int,
) -> None:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator=line_end)
    writer.writerow(HEADER_2023.split(","))
    for number, (name, duration, grid, block) in enumerate(launched):
        writer.writerow(
            [number, duration, number, *grid, *block, 32, 0, 0, "", "", "", "", "A (0)", 1, "", number, name]
        )
    path = write(tmp_path_factory.mktemp("names"), out.getvalue())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(input_file, "PIECE_BYTES", piece_bytes)
        found = told(read(path))
    assert [(each.name, each.duration_ns, each.grid, each.block) for each in found] == launched


@pytest.mark.parametrize("version", ["2020.4", "2022.4", "2023.4", "executed"])
def test_small_recordings(version: str, tmp_path: Path) -> None:
    executed = version == "executed"
    path = (
        small_recordings.nsys_execution_csv(tmp_path)
        if executed
        else small_recordings.nsys_csv(tmp_path, version)
    )
    launches = told(read(path))
    assert launches == by_the_csv_module(path)
    stored = told(read(small_recordings.nsys_sqlite(tmp_path, "2023.4" if executed else version)))
    assert len(stored) == small_recordings.LAUNCHES
    assert Counter((each[2], each[4], *each[6:]) for each in launches) == Counter(
        (each[2], each[4], *each[6:]) for each in stored
    )
