"""What is said of a profile in one row, at every width, and rows of words with tones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.plan.draft import Draft
from sampling.plan.findings import Finding
from sampling.profile.profile import Device
from tui.app.planning import load_draft
from tui.options.plan import SampleOptions
from tui.output.blocks import Phrase, Phrases, Tone, joined, shortened_to, toned, without_tones
from tui.terminal.printable import ascii_within
from tui.text.plan import verdict
from tui.text.profile import header_forms, kind_bars

NOTE = Finding("coarse-clock", "note", "clock ticks of 1 us", "", "")
WARNING = Finding("one-launch-dominates", "warning", "one launch is 62.0 % of the time", "", "")
ROWS = st.lists(st.builds(Phrase, st.text("ab !", max_size=5), st.sampled_from(Tone)), max_size=5).map(tuple)


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> str:
    """70 launches of one kernel, which hold 70 % of the time, and thirty of three others."""
    path: Path = tmp_path_factory.mktemp("header") / "run.csv"
    names = ["most"] * 70 + ["b"] * 15 + ["c"] * 10 + ["d"] * 5
    path.write_text("name,duration_ns\n" + "".join(f"{name},1000\n" for name in names))
    return str(path)


def draft_of(recording: str, findings: tuple[Finding, ...] = (), **filters: object) -> Draft:
    options = SampleOptions(profiles=(recording,)).with_request(**filters)
    return replace(load_draft(options, {}, lambda *_: None), findings=findings)


def at(forms: list[Phrases], width: int) -> str:
    """What a row of this width shows."""
    return next(text for text in map(without_tones, forms) if len(text) <= width)


def test_a_row_keeps_what_matters_and_marks_have_tones(recording: str) -> None:
    forms = header_forms(draft_of(recording, (NOTE, WARNING)))
    assert without_tones(forms[0]) == (
        "100 launches, 100 us, 4 kernel groups, 2 hold 80 % of the time  "
        "[f] ! one launch is 62.0 % of the time, i clock ticks of 1 us"
    )
    assert at(forms, 96).startswith("100 launches, 100 us, 4 groups, 2 hold 80 %  [f] ! one launch is 62.0 %")
    assert at(forms, 80) == "100 launches, 100 us, 4 groups, 2 hold 80 %  [f] ! one launch dominates"
    assert at(forms, 60) == "100 launches 100 us 2/4 groups 80 %  [f] 1 warning +1"
    assert at(forms, 50) == "100 launches 100 us 2/4 groups 80 %  [f] !1 i1"
    notes = header_forms(draft_of(recording, (NOTE, NOTE)))
    assert at(notes, 60).endswith("  [f] 2 notes"), "what it is, in a word"
    for form in forms:
        first, *others = [(phrase.text, phrase.tone) for phrase in form if phrase.tone is not Tone.PLAIN]
        assert first[0] in {"!", "!1", "1 warning"}
        assert first[1] is Tone.WARNING
        assert set(others) <= {("i", Tone.NOTE), ("i1", Tone.NOTE)}
    none = header_forms(draft_of(recording, launches=":70"))
    assert all(without_tones(form).endswith("  [f] no findings") for form in none)
    assert all("80 %" not in without_tones(form) for form in none), "one group holds all"


def test_filters_are_said_at_every_width_and_in_a_tone_of_their_own(recording: str) -> None:
    forms = header_forms(draft_of(recording, (NOTE,), launches=":80"))
    said = "[F] 80 of 100 launches (--launches :80), 80.0 us, 2"
    assert without_tones(forms[0]).startswith(f"{said} kernel groups, ")
    assert at(forms, 110).startswith(f"{said} groups, 1 holds 80 %")
    for form in forms:
        assert form[0].tone is Tone.PART
        assert form[0].text == "[F] 80 of 100 launches"


KINDS = (("implicit_convolve", 50), ("sgemm", 30), ("add_elementwise", 13), ("layer_norm", 4), ("softmax", 3))


@pytest.mark.parametrize("ascii_only", [False, True])
@pytest.mark.parametrize(
    ("width", "shares"),
    [
        (120, ["convolution 50", "gemm 30", "elementwise 13", "normalisation 4", "attention 3"]),
        (80, ["convolution 50", "gemm 30", "elementwise 13", "rest 7"]),
        (60, ["convolution 50", "gemm 30", "rest 20"]),
        (40, ["convolution 50", "rest 50"]),
    ],
)
def test_kinds_of_work_are_bars_at_every_width_and_the_smallest_are_the_rest(
    tmp_path: Path, width: int, shares: list[str], ascii_only: bool
) -> None:
    path = tmp_path / "kinds.csv"
    path.write_text("name,duration_ns\n" + "".join(f"{name},{share}000\n" for name, share in KINDS))
    with ascii_within(ascii_only):
        forms = kind_bars(draft_of(str(path)))
    row = next(form for form in forms if len(without_tones(form)) <= width)
    words = "".join(phrase.text for phrase in row if phrase.tone is Tone.PLAIN).split(" %")
    assert [" ".join(text.split()) for text in words if text] == shares
    bars = [phrase.text for phrase in row if phrase.tone is Tone.NOTE]
    full = len(bars[0].rstrip("\u258f\u258e\u258d\u258c\u258b\u258a\u2589"))
    assert full >= 5, "half of all time is half of ten cells at least"
    assert all(bar for bar, text in zip(bars, shares, strict=True) if int(text.split()[-1]) >= 13)


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
    draft = draft_of(recording, (WARNING,))
    draft.profile.facts = replace(draft.profile.facts, devices=(Device(0, name),))
    assert without_tones(header_forms(draft)[0]).startswith(f"{name}: 100 launches, 100 us, ")
    assert at(header_forms(draft), 80).startswith(f"{model}: 100 launches")


@given(st.text("abc", max_size=12), st.text("abc", min_size=1, max_size=3))
def test_a_tone_is_that_of_the_first_occurrence_alone(text: str, phrase: str) -> None:
    row = toned(text, phrase, Tone.BAD)
    assert without_tones(row) == text
    bad = [number for number, part in enumerate(row) if part.tone is Tone.BAD]
    assert len(bad) == (phrase in text)
    if bad:
        assert len(without_tones(row[: bad[0]])) == text.index(phrase)


@given(ROWS, ROWS, st.integers(0, 30))
def test_rows_are_cut_and_joined_as_text_is(row: Phrases, other: Phrases, most: int) -> None:
    text = without_tones(row)[:most]
    cut = shortened_to(row, text)
    tones = [phrase.tone for phrase in row for _ in phrase.text]
    assert [(letter, phrase.tone) for phrase in cut for letter in phrase.text] == [
        *zip(text, tones, strict=False)
    ]
    assert without_tones(joined([row, other], ", ")) == ", ".join(map(without_tones, (row, other)))
    assert shortened_to((Phrase("ab", Tone.BAD),), "ab...") == (Phrase("ab", Tone.BAD), Phrase("..."))


@pytest.mark.parametrize(
    ("promised", "said"),
    [
        (0.05, ("met", Tone.GOOD)),
        (0.0501, ("not met", Tone.BAD)),
        (None, ("no bound", Tone.WARNING)),
    ],
)
def test_a_promise_is_met_where_it_is_within_epsilon(promised: float | None, said: tuple[str, Tone]) -> None:
    design: Any = SimpleNamespace(
        promise=None if promised is None else SimpleNamespace(error=promised),
        target=SimpleNamespace(epsilon=0.05),
    )
    assert verdict(design) == said
