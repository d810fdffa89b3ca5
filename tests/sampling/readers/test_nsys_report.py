"""Reports of Nsight Systems are exported by `nsys` where there is one; here a script stands in for it."""

from __future__ import annotations

import os
import shlex
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sampling.errors import ProfileError
from sampling.profile.identity import content_sha256, sha256_as_read
from sampling.profile.launch_table import LaunchTableBuilder
from sampling.readers import cache, nsys_report
from sampling.readers.nsys_report import new_export
from sampling.readers.registry import read_profile
from tests import small_recordings

REPORT = b"NVIDIA Tegra Profiler Report 2026@4@1@191-264138605071v0.\n\x0bLocal (CLI)\x12\n"


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The program nsys: it notes what it is asked, and copies an export."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    export = small_recordings.nsys_sqlite(tmp_path, "2023.4")
    calls = shlex.quote(str(tmp_path / "calls"))
    return does(folder / "nsys", f'printf "%s\\n" "$@" >> {calls}; cp {shlex.quote(str(export))} "$5"')


def does(program: Path, script: str) -> Path:
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return program


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "my run.nsys-rep"
    path.write_bytes(REPORT)
    return path


def cached(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "cache").rglob("*"))


def refused(report: Path) -> ProfileError:
    with pytest.raises(ProfileError) as caught:
        read_profile([str(report)])
    return caught.value


@pytest.mark.usefixtures("program")
class TestAnExport:
    def test_is_read_under_the_name_of_the_report(self, tmp_path: Path, report: Path) -> None:
        profile = read_profile([str(report)])
        assert profile.format == "nsys-report"
        assert profile.launches == small_recordings.LAUNCHES
        (file,) = profile.files
        assert (file.path, file.location) == (str(report), report)
        assert sha256_as_read(file) == content_sha256(report)
        named = profile.named_ranges(small_recordings.RANGE)
        assert named is not None
        assert len(named) == small_recordings.IMAGES
        export, kind, sqlite, output, made, given = (tmp_path / "calls").read_text().splitlines()
        assert (export, kind, sqlite, output) == ("export", "--type", "sqlite", "--output")
        assert given == str(report)
        assert made.endswith(".sqlite")

    def test_is_made_once_for_a_report_that_stays(self, tmp_path: Path, report: Path) -> None:
        for _ in range(2):
            read_profile([str(report)])
        assert len((tmp_path / "calls").read_text().splitlines()) == 6
        folder, export = cached(tmp_path)
        assert (folder.name, export.suffix) == ("kernelpoint", ".sqlite")

    def test_is_made_anew_for_a_report_that_changed(self, tmp_path: Path, report: Path) -> None:
        read_profile([str(report)])
        before = cached(tmp_path)[1]
        report.write_bytes(REPORT + b"more")
        read_profile([str(report)])
        assert len((tmp_path / "calls").read_text().splitlines()) == 12
        # That of the report as it was is of no use any more.
        (after,) = cached(tmp_path)[1:]
        assert after != before

    def test_may_be_made_by_several_at_once(self, tmp_path: Path, program: Path, report: Path) -> None:
        does(program, f"sleep 0.3; {program.read_text().partition(chr(10))[2]}")
        with ThreadPoolExecutor(3) as threads:
            asked = [threads.submit(new_export, str(program), "r", report, None) for _ in range(3)]
        assert cached(tmp_path)[1:] == list({each.result() for each in asked})

    def test_removes_what_a_killed_one_left(self, tmp_path: Path, report: Path) -> None:
        folder = tmp_path / "cache" / "kernelpoint"
        old, new = (folder / f"unfinished-{age}" for age in ("old", "new"))
        for left in (old, new):
            left.mkdir(parents=True)
            (left / "export.sqlite").touch()
        os.utime(old, times=(0, 0))
        read_profile([str(report)])
        assert (old.exists(), new.exists()) == (False, True)

    @pytest.mark.parametrize("what", ["opened by others too", "a link"])
    def test_is_not_put_where_others_put_theirs(self, tmp_path: Path, report: Path, what: str) -> None:
        folder = tmp_path / "cache" / "kernelpoint"
        folder.parent.mkdir()
        if what == "a link":
            (tmp_path / "elsewhere").mkdir()
            folder.symlink_to(tmp_path / "elsewhere")
        else:
            folder.mkdir()
            folder.chmod(0o777)
        error = refused(report)
        assert f"cannot be kept in {folder}" in error.message
        assert f"`chmod 700 {shlex.quote(str(folder))}`" in str(error.remedy)
        assert not [*folder.iterdir()]

    def test_and_what_is_read_of_it_is_kept(
        self, report: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setattr(cache, "LEAST_BYTES", 0)
        first = read_profile([str(report)], cache=True)
        assert [*(tmp_path / "cache" / "kernelpoint").glob("launches-*")]
        monkeypatch.setattr(LaunchTableBuilder, "finish", None)
        again = read_profile([str(report)], cache=True)
        assert again.files == first.files
        assert again.named_ranges("") == first.named_ranges("") != ()


class TestNoExport:
    def test_without_the_program(self, program: Path, report: Path) -> None:
        program.unlink()
        error = refused(report)
        assert "an Nsight Systems report that was not exported" in error.message
        assert f"`nsys export --type sqlite {shlex.quote(str(report))}`" in str(error.remedy)

    @pytest.mark.parametrize(
        ("script", "message"),
        [
            (
                "echo 'Processing  5%' >&2; echo 'FATAL: too old' >&2; exit 3",
                "fails with exit code 3: Processing",
            ),
            ('echo half > "$5"; echo "FATAL: too old"; exit 1', "fails with exit code 1: FATAL: too old"),
            ("echo 'FATAL: too old'; kill -9 $$", "fails with exit code -9: FATAL: too old"),
            ("echo 'FATAL: too old'", "wrote nothing: FATAL: too old"),
            (": > \"$5\"; echo 'FATAL: too old'", "wrote nothing: FATAL: too old"),
        ],
    )
    def test_by_a_program_that_fails(
        self, tmp_path: Path, program: Path, report: Path, script: str, message: str
    ) -> None:
        does(program, script)
        error = refused(report)
        assert message in error.message
        assert "FATAL: too old" in error.message
        assert error.path == str(report)
        assert "nsys export --type sqlite" in str(error.remedy)
        assert [path.name for path in cached(tmp_path)] == ["kernelpoint"]

    def test_in_time(
        self, tmp_path: Path, program: Path, report: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(nsys_report, "LONGEST_EXPORT_SECONDS", 0.2)
        does(program, f"echo begun; echo $$ > {shlex.quote(str(tmp_path / 'pid'))}; sleep 60")
        assert "has not ended in time" in refused(report).message
        assert is_gone(int((tmp_path / "pid").read_text()))
        assert [path.name for path in cached(tmp_path)] == ["kernelpoint"]

    def test_where_the_work_is_cancelled(self, tmp_path: Path, program: Path, report: Path) -> None:
        does(program, f"echo $$ > {shlex.quote(str(tmp_path / 'pid'))}; sleep 60 & sleep 60")

        def cancelled(done: int, total: int, what: str) -> None:
            if what.startswith("exporting") and (tmp_path / "pid").exists():
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            read_profile([str(report)], cancelled)
        assert is_gone(int((tmp_path / "pid").read_text()))
        assert [path.name for path in cached(tmp_path)] == ["kernelpoint"]

    @pytest.mark.usefixtures("program")
    def test_where_the_cache_cannot_be_written(
        self, tmp_path: Path, report: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "file").write_text("")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
        error = refused(report)
        assert "cannot be made in" in error.message
        assert "XDG_CACHE_HOME" in str(error.remedy)


def is_gone(process: int) -> bool:
    """Whether a process has ended, soon."""
    for _ in range(40):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False
