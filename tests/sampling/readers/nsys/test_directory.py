"""nsys folder exports: a real parquetdir, what counts as one, damage, and invalid texts."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from sampling.errors import ProfileError
from sampling.profile.profile import KernelTable, Profile
from sampling.readers.input_file import InputFile, open_input
from sampling.readers.nsys import directory as nsys_directory
from sampling.readers.nsys import sqlite as nsys_sqlite


def read(path: Path) -> Profile:
    with open_input(str(path)) as file:
        assert nsys_directory.recognise(file)
        return nsys_directory.read(file, KernelTable(), None)


def recognised(path: Path) -> bool:
    return nsys_directory.recognise(InputFile(str(path), path, b"", compressed=False))


def columns(profile: Profile) -> list[list[int]]:
    batches = profile.batches(["name", "duration_ns", "start_ns", "stream"])
    return [column.tolist() for batch in batches for column in batch.columns.values()]


def test_real_parquetdir_is_the_same_as_the_sqlite_export(shared_data: Path) -> None:
    profile = read(shared_data / "nsys-parquetdir")
    assert profile.format == "nsys-parquetdir"
    with open_input(str(shared_data / "nsys-sqlite" / "cuda-graphs-nsys2023.4.sqlite")) as file:
        same = nsys_sqlite.read(file, KernelTable(), None)
    assert profile.launches == 24
    assert len(profile.kernels.names) == 2
    assert sum(columns(profile)[1]) == 3775788
    assert columns(profile) == columns(same)
    assert profile.sequences == same.sequences
    assert profile.facts == same.facts


def test_what_is_recognised(tmp_path: Path, exports: ModuleType) -> None:
    assert not recognised(tmp_path)
    (tmp_path / "launches.parquet").touch()
    (tmp_path / "StringIds.csv").touch()
    assert not recognised(tmp_path)
    assert not recognised(tmp_path / "launches.parquet")
    (tmp_path / "CUPTI_ACTIVITY_KIND_KERNEL.arrows").touch()
    assert recognised(tmp_path)
    export = exports.export("2023.4", [exports.Launch(1, 2, 1)])
    assert recognised(export.parquet_folder(tmp_path / "inner"))


@pytest.mark.parametrize("table", ["CUPTI_ACTIVITY_KIND_KERNEL", "StringIds", "CUPTI_ACTIVITY_KIND_RUNTIME"])
@pytest.mark.parametrize("kind", ["parquetdir", "arrow streams", "arrow files"])
@pytest.mark.parametrize("kept", [0.0, 0.6])
def test_a_truncated_table_is_named(
    table: str, kind: str, kept: float, tmp_path: Path, exports: ModuleType
) -> None:
    launches = [exports.Launch(i, i + 1, i, name=f"k{i}") for i in range(50)]
    export = exports.export("2023.4", launches, [exports.Call(i, i) for i in range(50)])
    folder = tmp_path / "x"
    if kind == "parquetdir":
        export.parquet_folder(folder)
    else:
        export.arrow_folder(folder, stream=kind == "arrow streams")
    (path,) = folder.glob(f"{table}.*")
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * kept)])
    with pytest.raises(ProfileError, match=f"table file {path.name} is damaged or cut short") as caught:
        read(folder)
    assert f"nsys export --type {'parquetdir' if kind == 'parquetdir' else 'arrowdir'}" in str(
        caught.value.remedy
    )


@pytest.mark.parametrize("kind", ["parquetdir", "arrowdir"])
def test_text_that_is_no_valid_utf8(kind: str, tmp_path: Path, exports: ModuleType) -> None:
    export = exports.export("2023.4", [exports.Launch(1, 2, 1, name="here")])
    export.strings = {
        (b"k\xe4" if text == "here" else text): number for text, number in export.strings.items()
    }
    export.add("TARGET_INFO_GPU", "id name smCount", (0, b"GPU \xff", 8), (1, b"other", 8))
    folder = tmp_path / "x"
    path = export.parquet_folder(folder) if kind == "parquetdir" else export.arrow_folder(folder, stream=True)
    profile = read(path)
    assert profile.kernels.names.full(0) == "k\ufffd"
    assert [device.name for device in profile.facts.devices] == ["GPU \ufffd"]


def test_of_two_kinds_in_one_folder_parquet_is_read(tmp_path: Path, exports: ModuleType) -> None:
    folder = exports.export("2023.4", [exports.Launch(1, 2, 1)]).parquet_folder(tmp_path / "x")
    other = exports.export("2023.4", [exports.Launch(1, 9, 1)]).arrow_folder(tmp_path / "y", stream=True)
    for path in other.iterdir():
        path.rename(folder / path.name)
    profile = read(folder)
    assert profile.format == "nsys-parquetdir"
    assert columns(profile)[1] == [1]


def test_a_table_without_rows(tmp_path: Path, exports: ModuleType) -> None:
    export = exports.export("2023.4", [exports.Launch(1, 2, 1)])
    export.add("CUPTI_ACTIVITY_KIND_RUNTIME", "start globalTid correlationId")
    assert read(export.parquet_folder(tmp_path / "x")).facts.api_rows_missing == 1
