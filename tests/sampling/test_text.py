"""JSON as plans and answers are written: the same data as any JSON, one line for each item of a list."""

from __future__ import annotations

import json
import math
from types import MappingProxyType
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sampling.text import json_rows_text, json_text

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


def without_special(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: without_special(item) for key, item in value.items()}
    return [without_special(item) for item in value] if isinstance(value, list) else value


@given(document=st.dictionaries(st.text(), VALUES, max_size=4))
def test_every_form_holds_the_same_data(document: dict[str, Any]) -> None:
    texts = [json_text(document), json_text(document, indent=None), json_rows_text(document)]
    assert [json.loads(text) for text in texts] == 3 * [without_special(document)]


def test_an_item_of_a_list_is_a_line_whether_it_is_there_or_made_as_it_is_written() -> None:
    strata = [{"mean_ns": 0.1, "std_ns": math.nan, "launches": [{"id": 1, "grid": [8, 1, 1]}]}, {}]
    document = {"kind": "plan", "options": MappingProxyType({"device": (1, 2)}), "nothing": {}, "none": []}
    expected = [
        "{",
        ' "kind": "plan",',
        ' "options": {',
        '  "device": [',
        "   1,",
        "   2",
        "  ]",
        " },",
        ' "nothing": {},',
        ' "none": [],',
        ' "strata": [',
        '  {"mean_ns":0.1,"std_ns":null,"launches":[{"id":1,"grid":[8,1,1]}]},',
        "  {}",
        " ]",
        "}",
    ]
    for rows in (strata, iter(strata)):
        assert json_rows_text({**document, "strata": rows}).split("\n") == expected
