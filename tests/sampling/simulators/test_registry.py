"""The table of simulators: each line leads to the record of that name, and what it has is found by it."""

from __future__ import annotations

import pytest

from sampling.errors import OptionError
from sampling.simulators import registry
from sampling.simulators.registry import find_exporter, find_run_rules, names_with, simulators, warm_caches


def test_each_line_leads_to_the_record_of_its_name() -> None:
    assert [simulator.name for simulator in simulators()] == list(registry._SIMULATORS)


@pytest.mark.parametrize(
    ("features", "names"),
    [
        (("run",), ("csv", "accel-sim", "macsim")),
        (("run", "traces"), ("accel-sim", "macsim")),
        (("fills",), ("accel-sim",)),
        (("trace_list",), ("accel-sim", "macsim")),
        (("exporter", "runs_program"), ("gem5", "ncu", "nvbit", "rocprof-compute", "rocprofv3")),
        (("no such thing",), ()),
    ],
)
def test_those_that_have_all_of_some_features(features: tuple[str, ...], names: tuple[str, ...]) -> None:
    assert names_with(*features) == names


def test_what_one_does_not_do_is_refused_with_what_to_do() -> None:
    with pytest.raises(OptionError, match="no exporter 'gpgpu-sim'; export for accel-sim, the same"):
        find_exporter("gpgpu-sim")
    with pytest.raises(OptionError, match="no exporter 'macsin'; did you mean 'macsim'"):
        find_exporter("macsin")
    with pytest.raises(OptionError, match="nothing runs ncu here: there is csv, accel-sim, macsim"):
        find_run_rules("ncu")


@pytest.mark.parametrize(
    ("name", "caches"), [("accel-sim", "warm"), ("macsim", "after:16"), ("csv", None), ("gpgpu-sim", None)]
)
def test_how_launches_are_made_to_find_warm_caches(name: str, caches: str | None) -> None:
    assert warm_caches(name) == caches
