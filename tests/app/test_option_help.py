"""Each option of the plan is explained where the cursor is, in the words of the command line's help."""

from __future__ import annotations

from dataclasses import fields

import pytest

from tests.app.driving import opened, screen_text, wait_for
from tests.app.plan_driving import form_of
from tui.app.option_form import OPTION_FIELDS, OptionField
from tui.options.plan import SampleOptions


@pytest.mark.parametrize("field", OPTION_FIELDS, ids=lambda field: field.name)
def test_an_option_has_the_help_of_its_flag_and_it_fits_80_columns(field: OptionField) -> None:
    (option,) = (each for each in fields(SampleOptions) if each.name == field.name)
    assert field.help == option.metadata["help"]
    assert 10 < len(field.help) <= 80
    assert field.help.endswith(".")


async def test_the_sentence_follows_the_cursor_at_80_by_24(gpt: str) -> None:
    async with opened(gpt, view="Plan") as (app, pilot):
        for key in ("", "j", "j", "j", "G", "k"):
            if key:
                await pilot.press(key)
            field = form_of(app).field
            await wait_for(pilot, lambda: field.help in screen_text(app).splitlines(), field.name)  # noqa: B023
        lines = screen_text(app).splitlines()
        assert lines.index(field.help) > max(row for row, line in enumerate(lines) if "> seed " in line)
        assert "[t] Trade-off" in lines[lines.index(field.help) + 1], "it stands between the panes"
