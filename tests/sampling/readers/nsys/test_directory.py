"""nsys folder exports: small ones of four versions, what counts as one, damage, and invalid texts."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from nsys_files import VERSIONS

from sampling.errors import ProfileError
from sampling.readers.input_file import InputFile
from sampling.readers.nsys import directory as nsys_directory
from tests import small_recordings
from tests.sampling.readers.nsys import plain_sql
from tests.sampling.readers.nsys.folders import columns, read


def recognised(path: Path) -> bool:
    return nsys_directory.recognise(InputFile(str(path), path, b"", compressed=False))


@pytest.mark.parametrize("version", VERSIONS)
def test_a_small_parquetdir_is_the_same_as_the_sqlite_export(version: str, tmp_path: Path) -> None:
    profile = read(small_recordings.nsys_parquetdir(tmp_path, version))
    assert profile.format == "nsys-parquetdir"
    same = plain_sql.read(small_recordings.nsys_sqlite(tmp_path, version))
    assert profile.launches == small_recordings.LAUNCHES
    assert len(profile.kernels.names) == small_recordings.NAMES
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
