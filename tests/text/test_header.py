"""The row that every view has on the profile: the essential at every width, filters and warnings in words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sampling.plan.findings import CODES, Finding
from sampling.plan.study import Study
from sampling.profile.profile import Device
from tui.app.planning import load_study
from tui.options.plan import SampleOptions
from tui.text.header import BRIEFEST, header_forms
from tui.text.tones import Tone, Words, plain

NOTE = Finding("coarse-clock", "note", "clock ticks of 1 us", "", "")
WARNING = Finding("one-launch-dominates", "warning", "one launch is 62.0 % of the time", "", "")


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> str:
    """70 launches of one kernel, which hold 70 % of the time, and thirty of three others."""
    path: Path = tmp_path_factory.mktemp("header") / "run.csv"
    names = ["most"] * 70 + ["b"] * 15 + ["c"] * 10 + ["d"] * 5
    path.write_text("name,duration_ns\n" + "".join(f"{name},1000\n" for name in names))
    return str(path)


def study_of(recording: str, findings: tuple[Finding, ...] = (), **filters: object) -> Study:
    options = replace(SampleOptions(profiles=(recording,)), **filters)  # type: ignore[arg-type]
    return replace(load_study(options, {}, lambda *_: None), findings=findings)


def at(forms: list[Words], width: int) -> str:
    """What a row of this width shows."""
    return next(text for text in map(plain, forms) if len(text) <= width)


def test_a_wide_row_says_all_of_it(recording: str) -> None:
    assert plain(header_forms(study_of(recording, (NOTE, WARNING)))[0]) == (
        "100 launches, 100 us, 4 kernel groups, 2 hold 80 % of the time  "
        "[f] ! one launch is 62.0 % of the time, i clock ticks of 1 us"
    )


def test_a_narrow_row_keeps_what_matters(recording: str) -> None:
    forms = header_forms(study_of(recording, (NOTE, WARNING)))
    assert at(forms, 96).startswith("100 launches, 100 us, 4 groups, 2 hold 80 %  [f] ! one launch is 62.0 %")
    assert at(forms, 80) == "100 launches 100 us 2/4 groups 80 %  [f] ! one launch is 62.0 % of the time +1"
    assert at(forms, 60) == "100 launches 100 us 2/4 groups 80 %  [f] ! one launch"
    assert at(forms, 50) == "100 launches 100 us 2/4 groups 80 %  [f] !1 i1"
    assert [len(plain(form)) for form in forms] == sorted((len(plain(form)) for form in forms), reverse=True)


def test_filters_are_said_at_every_width_and_in_a_tone_of_their_own(recording: str) -> None:
    forms = header_forms(study_of(recording, (NOTE,), launches=":80"))
    assert plain(forms[0]).startswith("[F] 80 of 100 launches (--launches :80), 80.0 us, 2 kernel groups, ")
    assert at(forms, 110).startswith(
        "[F] 80 of 100 launches (--launches :80), 80.0 us, 2 groups, 1 holds 80 %"
    )
    for form in forms:
        first = form[0]
        assert first.tone is Tone.PART
        assert first.text in {"[F] 80 of 100 launches", "[F] 80/100 launches"}
    whole = header_forms(study_of(recording, (NOTE,)))
    assert all(phrase.tone is not Tone.PART for form in whole for phrase in form)


def test_marks_have_the_tone_of_their_severity_and_are_ascii(recording: str) -> None:
    for form in header_forms(study_of(recording, (NOTE, WARNING, NOTE))):
        assert plain(form).isascii()
        marks = [(phrase.text[0], phrase.tone) for phrase in form if phrase.tone is not Tone.PLAIN]
        assert marks[0] == ("!", Tone.WARNING)
        assert set(marks[1:]) <= {("i", Tone.NOTE)}


def test_no_finding_is_said_and_the_key_stays(recording: str) -> None:
    forms = header_forms(study_of(recording))
    assert all(plain(form).endswith("  [f] no findings") for form in forms)


def test_one_group_holds_all_and_that_is_not_said(recording: str) -> None:
    forms = header_forms(study_of(recording, launches=":70"))
    assert all("80 %" not in plain(form) and "1 " in plain(form) for form in forms)


def test_every_code_has_a_word_or_two_for_a_narrow_row() -> None:
    assert set(BRIEFEST) == set(CODES)
    assert all(len(word) <= 12 for word in BRIEFEST.values())


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("NVIDIA H100 80GB HBM3", "H100"),
        ("Tesla V100-SXM2-32GB", "V100"),
        ("NVIDIA A100-PG509-200", "A100"),
        ("NVIDIA GeForce RTX 3090", "RTX 3090"),
        ("AMD Instinct MI300X VF", "MI300X"),
        ("AMD Radeon Graphics", "Radeon"),
        ("GPU", "GPU"),
    ],
)
def test_the_gpu_stands_before_all_at_80_columns(recording: str, name: str, model: str) -> None:
    study = study_of(recording, (WARNING,))
    facts = replace(study.profile.facts, devices=(Device(0, name),))
    study.profile.facts = facts
    assert plain(header_forms(study)[0]).startswith(f"{name}: 100 launches, 100 us, ")
    assert at(header_forms(study), 80).startswith(f"{model}: 100 launches")
