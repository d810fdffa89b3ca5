"""View 5's questions without an app: a number changed, the TOML and back, what is predicted and shown."""

from __future__ import annotations

import io
import os
import shlex
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import OptionError, ProfileError
from scalemodel.inputs import ScaleQuestion
from scalemodel.measurements import MpkiUnit, Scaling, collect_measurements
from scalemodel.predict import predict
from scalemodel.rules import RULES
from tui import cli
from tui.options.command_line import command_line
from tui.options.files import sample_scale_question
from tui.options.scale import ScalePredictOptions
from tui.output.writer import Canvas
from tui.scale.answers import ipc_text, predict_benchmarks
from tui.scale.questions import (
    CELLS,
    GAP,
    OpenQuestion,
    OpenQuestions,
    ScaleAnswer,
    answer,
    answer_lines,
    answer_question,
    chart_title,
    made_up_questions,
    open_questions,
    questions_from,
    size_columns,
    status_lines,
    table_title,
    words_title,
)

# dct of the paper: the numbers of its artifact.
DCT = ScaleQuestion(
    collect_measurements(
        [(8, 112.7), (16, 226.4)], [(8, 6.17), (16, 6.18), (32, 6.16), (64, 5.52), (128, 0.1)], [(16, 0.52)]
    ),
    (8, 16),
    (32, 64, 128),
)
CANVAS = Canvas(80, color=False)
MADE_UP = made_up_questions()


def printed(line: str, width: int = 80) -> str:
    """What a command line prints on stdout in a terminal of this width."""
    program, *words = shlex.split(line)
    assert program == "kernelpoint"
    out, err = io.StringIO(), io.StringIO()
    with (
        redirect_stdout(out),
        redirect_stderr(err),
        patch.dict(os.environ, {"COLUMNS": str(width), "LANG": "en_US.UTF-8", "TERM": "xterm"}, clear=True),
    ):
        assert cli.run(words) == 0, err.getvalue()
    return out.getvalue()


def changed(question: ScaleQuestion) -> OpenQuestion:
    """A question that is another than the one of its file."""
    return OpenQuestion(question, MADE_UP.shown.original, "file.toml")


def answer_to(question: ScaleQuestion, **changes: Any) -> ScaleAnswer:
    return answer_question(OpenQuestions((changed(question),), **changes))


def test_dct_is_asked_as_its_command_line_asks_it() -> None:
    dct = answer_to(DCT)
    assert command_line("scale predict", dct.command) == (
        "kernelpoint scale predict --ipc 8=112.7,16=226.4 --mpki 8=6.17,16=6.18,32=6.16,64=5.52,128=0.1 "
        "--f-mem 0.52 --target 32,64,128"
    )
    # Additive: eff (1 + M (1 - 1/C)), and 1/(1 - f_mem) at the cliff.
    gain = 1 - 1 / (226.4 / 112.7 / 2)
    assert [each.ipc for each in dct.outcome.predictions] == pytest.approx(
        [226.4 / 16 * size * factor for size, factor in ((32, 1 + gain), (64, 1 + 3 * gain))]
        + [226.4 / 16 * 128 * (1 + 6 * gain) / 0.48]
    )


def test_a_cliff_alone_makes_use_of_f_mem() -> None:
    flat = answer_to(DCT.with_value(128, "mpki", 5.5))
    assert flat.command.f_mem is None
    assert "f-mem-unused" not in {each.code for each in flat.outcome.findings}
    weak = DCT._replace(measurements=replace(DCT.measurements, scaling=Scaling.WEAK))
    assert answer_to(weak, assume_f_mem=True).command.assume_f_mem is False
    unknown = DCT.with_value(16, "f_mem", None)
    assert answer_to(unknown).outcome.predictions[-1].ipc is None
    assert answer_to(unknown, assume_f_mem=True).outcome.predictions[-1].ipc is not None


# -- a number is changed -----------------------------------------------------------------------------------


def test_a_number_is_changed_and_an_empty_cell_is_not_known() -> None:
    question = (
        changed(DCT).with_cell(16, "ipc", "230").with_cell(64, "mpki", " ").with_cell(128, "size", "256")
    )
    assert question.measurements.ipc == {8: 112.7, 16: 230}
    assert question.measurements.mpki == {8: 6.17, 16: 6.18, 32: 6.16, 256: 0.1}
    assert question.question.targets == (32, 64, 256)
    assert question.cell_text(64, "mpki") == ""
    assert changed(DCT).with_cell(32, "ipc", "443.2").role(32) == "measured"


@pytest.mark.parametrize(
    ("size", "cell", "text", "why"),
    [
        (8, "size", "eight", "'eight' is no whole number"),
        (8, "size", "0", "a size is a whole number from 1"),
        (32, "size", "16", "size 16 is there already"),
        (16, "ipc", "1,5", "'1,5' is not a number; write it with a decimal point"),
        (16, "ipc", "nan", "an IPC is a number above 0"),
        (64, "mpki", "-1", "an MPKI is 0 or more"),
        (16, "f_mem", "52", "as a fraction 52 % is 0.52"),
    ],
)
def test_what_is_no_number_of_its_kind_is_refused(size: int, cell: str, text: str, why: str) -> None:
    with pytest.raises(OptionError) as refused:
        changed(DCT).with_cell(size, cell, text)
    assert why in str(refused.value)


@pytest.mark.parametrize(
    ("question", "why"),
    [
        (DCT._replace(simulated=(16,)), "one size alone is simulated"),
        (DCT._replace(targets=()), "no target is given"),
        (DCT.with_value(16, "ipc", None), "there is no IPC at size 16"),
        (DCT.with_size(128, 12), "12 SMs are below the largest scale model, 16 SMs"),
    ],
)
def test_what_is_wrong_with_the_whole_is_said(question: ScaleQuestion, why: str) -> None:
    questions = OpenQuestions((changed(question),))
    wrong = answer(questions)
    assert not isinstance(wrong, ScaleAnswer)
    assert why in str(wrong)
    assert wrong.remedy is not None
    assert why in status_lines(questions, wrong)[0]
    assert why in " ".join(" ".join(answer_lines(wrong, 80)).split())
    assert chart_title(questions, None)[0].endswith("no prediction")


# -- files --------------------------------------------------------------------------------------------------


def test_the_bundled_numbers_are_asked_as_their_file_until_they_are_changed() -> None:
    command = ScalePredictOptions(files=(str(sample_scale_question()),))
    assert answer_question(MADE_UP).command == command
    edited = typed(16, "ipc", "190")
    assert answer_question(edited).command.files == ()
    assert answer_question(typed(16, "ipc", "199", edited)).command == command


def test_every_benchmark_of_a_table_is_a_question(sample_data: Path) -> None:
    questions = questions_from(open_questions([str(sample_data / "scale-model-example.csv")]))
    names = ["made-up linear", "made-up congested", "made-up cliff"]
    assert [question.benchmark for question in questions.questions] == names
    for name in names:
        found = answer_question(questions)
        text = found.text(found.command, CANVAS) + "\n"
        assert text.startswith(f"{name}: ")
        assert printed(command_line("scale predict", found.command)) == text
        questions = questions.with_next_benchmark()
    assert questions.place == 0


IPC = st.floats(1e-3, 1e6)
VALUES = st.tuples(
    st.none() | IPC, st.none() | st.floats(0, 100), st.none() | st.floats(0, 1, exclude_max=True)
)
SIZES = st.sampled_from([1, 2, 3, 4, 8, 12, 16, 32, 64, 100, 128])


@st.composite
def any_question(draw: Any) -> ScaleQuestion:
    """Questions as files ask them: models with an IPC, targets from the largest on, anything beside."""
    by_size = draw(st.dictionaries(SIZES, VALUES, min_size=2, max_size=8))
    models = sorted(draw(st.lists(st.sampled_from(sorted(by_size)), min_size=2, max_size=4, unique=True)))
    for size in models:
        _, mpki, f_mem = by_size[size]
        by_size[size] = (draw(IPC), mpki, f_mem)
    scaling = draw(st.sampled_from(Scaling))
    measurements = collect_measurements(
        *(
            [(size, values[column]) for size, values in by_size.items() if values[column] is not None]
            for column in range(3)
        ),
        name=draw(st.text(st.characters(codec="utf-8"), max_size=8)),
        peak_ipc_per_sm=draw(st.none() | st.just(1e7)) if scaling is not Scaling.CHIPLET else None,
        mpki_unit=draw(st.sampled_from(MpkiUnit)),
        scaling=scaling,
    )
    targets = st.sets(SIZES.filter(lambda size: size >= models[-1]) | st.just(256), min_size=1, max_size=4)
    return ScaleQuestion(measurements, tuple(models), tuple(sorted(draw(targets))))


HOWS = st.fixed_dictionaries(
    {
        "chosen_rule": st.sampled_from([*RULES, "all"]),
        "confidence": st.sampled_from([0.8, 0.9, 0.95]),
        "assume_f_mem": st.booleans(),
    }
)


@given(any_question())
def test_a_question_reads_back_from_its_toml(question: ScaleQuestion) -> None:
    largest = question.simulated[-1]
    f_mem = {size: value for size, value in question.measurements.f_mem.items() if size == largest}
    read = changed(question).with_text(question.toml())
    assert read.question == question._replace(measurements=replace(question.measurements, f_mem=f_mem))


def test_what_is_wrong_in_the_toml_is_told_with_its_place() -> None:
    with pytest.raises(ProfileError, match=r"question\.toml, key simulated: size 64 has no IPC"):
        changed(DCT).with_text(DCT.toml().replace("simulated = [8, 16]", "simulated = [8, 64]"))


@given(any_question(), HOWS)
def test_what_is_shown_is_what_the_engine_predicts_and_the_command_prints(
    question: ScaleQuestion, how: dict[str, Any]
) -> None:
    """The oracles are the engine, asked directly, and the command's own way to it."""
    found = answer_to(question, **how)
    assert found.outcome == predict(
        replace(question.measurements, name=""),
        question.targets,
        rules=tuple(RULES) if how["chosen_rule"] == "all" else (how["chosen_rule"],),
        confidence=how["confidence"],
        simulated=question.simulated,
        assume_f_mem=how["assume_f_mem"] and question.measurements.scaling.has_cliffs,
    )
    ((_, outcome),) = predict_benchmarks(found.command)
    assert outcome == found.outcome


@given(any_question(), st.lists(st.tuples(st.integers(0, 12), st.sampled_from(CELLS), st.text(max_size=4))))
def test_whatever_is_typed_is_answered_or_refused_in_words(
    question: ScaleQuestion, typing: list[tuple[int, str, str]]
) -> None:
    shown = changed(question)
    for row, cell, text in typing:
        sizes = shown.question.sizes
        with suppress(OptionError):
            shown = shown.with_cell(sizes[row % len(sizes)], cell, text)
    questions = OpenQuestions((shown,))
    found = answer(questions)
    assert status_lines(questions, found)[0]
    assert answer_lines(found, 80)
    assert size_columns(shown, found if isinstance(found, ScaleAnswer) else None, 80)


# -- what view 5 shows of it -------------------------------------------------------------------------------


def table_text(questions: OpenQuestions, width: int = 80) -> str:
    """The table as the view draws it."""
    columns = size_columns(questions.shown, answer_question(questions), width)
    texts = [[column.fitted(text) for text in (column.heading, *column.cells)] for column in columns]
    return "\n".join((" " * GAP).join(row) for row in zip(*texts, strict=True))


def titles(questions: OpenQuestions, *, has_more: bool = False) -> str:
    """The titles of the three panes."""
    found = answer_question(questions)
    panes = (
        table_title(questions, None),
        chart_title(questions, found),
        words_title(found, has_more=has_more),
    )
    return "\n".join("  ".join(title) for title in panes)


def typed(size: int, cell: str, text: str, questions: OpenQuestions = MADE_UP) -> OpenQuestions:
    return questions.with_shown(questions.shown.with_cell(size, cell, text))


def test_made_up_numbers_are_said_to_be_so() -> None:
    for part in (
        "[5] Made-up numbers, no real GPU",
        "[E] edit, [o] open",
        "cliff 64 to 128 SMs",
        "super-lin",
    ):
        assert part in titles(MADE_UP)
    for part in ("  16  199", "simulated", "784.2", "371.1 to 422.6"):
        assert part in table_text(MADE_UP)
    assert "the working set comes to fit" in "\n".join(answer_lines(answer(MADE_UP), 80))
    assert "j more" in titles(MADE_UP, has_more=True)
    assert "j more" not in titles(MADE_UP)
    assert "Sizes, from made-up numbers" in titles(typed(8, "ipc", "90"))


def test_columns_that_do_not_fit_go_and_numbers_are_rounded_last() -> None:
    measured = typed(32, "ipc", "399.123456789")
    assert "399.1 " in table_text(measured)
    assert "error" in table_text(measured).splitlines()[0]
    heads = [table_text(measured, width).splitlines()[0].split() for width in (80, 60, 40)]
    assert heads[0][-4:] == ["low", "to", "high", "error"]
    assert "low" not in heads[1]
    assert heads[2] == ["size", "IPC", "MPKI", "f_mem", "role"]


def test_the_benchmarks_of_a_file_follow_each_other(sample_data: Path) -> None:
    read = open_questions([str(sample_data / "scale-model-example.csv")])
    questions = MADE_UP.with_next_rule().with_questions(read)
    assert "scale-model-example.csv: made-up linear" in titles(questions)
    assert "[b] 1 of 3" in titles(questions)
    assert questions.rule == "published"
    edited = typed(8, "ipc", "7", questions)
    assert "made-up linear, edited" in titles(edited)
    assert "made-up congested" in titles(edited.with_next_benchmark())


def test_an_ipc_has_four_digits() -> None:
    assert [ipc_text(ipc) for ipc in (0.123456, 9_999.4, 10_000, 123_456.7)] == [
        *("0.1235", "9999", "10,000", "123,457")
    ]
