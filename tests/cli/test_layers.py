"""From the layers of a recording to a plan of some, what a simulator's tracer takes of them, and a total."""

from __future__ import annotations

import csv
import json
import shlex
from itertools import product
from pathlib import Path

import pytest

from tests.cli.conftest import JSON, Kernelpoint, cycles_of, drawn_of


@pytest.fixture(name="named")
def named_fixture(tmp_path: Path) -> Path:
    """Return a trace of a network whose modules have names: eight layers of four kernels, in three steps."""
    return _network(tmp_path / "named.json", "model.layers")


def _network(path: Path, *modules: str) -> Path:
    """Write a trace of eight layers of four kernels of some modules, one after the other, in three steps."""
    events, time = [], 0
    for step in range(3):
        begin = time
        for module, number in product(modules, range(-1, 9)):
            started = time
            for kernel in range(4 if 0 <= number < 8 else 2):
                # Layers grow longer, so that no two have the same launches.
                arguments = {"correlation": len(events) + 1, "device": 0, "stream": 7}
                of_call = {"cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "dur": 1}
                lasts = 10 * (kernel + 1) + max(number, 0)
                of_kernel = {"cat": "kernel", "name": f"{module}{kernel}_{number}", "pid": 0, "dur": lasts}
                common = {"ph": "X", "tid": 9, "ts": time, "args": arguments}
                events += [{**of_call, **common}, {**of_kernel, **common}]
                time += 100
            if 0 <= number < 8:
                events.append(_range(f"{module}.{number}", started, time))
        events.append(_range(f"ProfilerStep#{step}", begin, time))
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return path


def _range(name: str, begin: int, end: int) -> dict[str, object]:
    place = {"cat": "user_annotation", "ph": "X", "pid": 9, "tid": 9}
    return {**place, "name": name, "ts": begin, "dur": end - begin - 1, "args": {}}


def test_the_bundled_transformer_has_its_eight_layers(kernelpoint: Kernelpoint, gpt2: Path) -> None:
    results = kernelpoint("layers", gpt2, *JSON).results
    (family,) = results["families"]
    assert (results["source"], results["iterations"], results["iteration_name"]) == (
        "launches",
        87,
        "ProfilerStep#*",
    )
    assert (family["layers"], family["all_layers"], family["launches"]) == (8, 696, 19)
    assert results["all_launches"] - results["launches_outside"] == 696 * 19
    shown = " ".join(kernelpoint("layers", gpt2, "--draw", "5").out.split())
    assert shown.startswith("8 layers of 19 launches in each of 87 iterations ProfilerStep#*, told by")
    assert "5 layers drawn at random" in shown
    assert shown.endswith("-o plan.json --layers 5")


def test_iterations_in_which_nothing_repeats_are_called_so(kernelpoint: Kernelpoint, resnet: Path) -> None:
    shown = " ".join(kernelpoint("layers", resnet).out.split())
    assert shown.startswith("100 iterations of 56 launches in the run, told by the order of the launches")
    assert "One iteration times 100 is off by 0.5 % in the mean, 7.5 % at worst" in shown


def test_without_layers_that_is_said(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text("name,duration_ns\n" + "".join(f"k{row},5\n" for row in range(40)))
    run = kernelpoint("layers", path, *JSON)
    assert (run.results["source"], run.results["families"]) == (None, [])
    assert "no layers" in run.err
    assert "there are no layers to draw" in kernelpoint("sample", path, "--layers", "3").failed(1)
    other = kernelpoint("sample", path, "--layers", "3", "--method", "root").failed(2)
    assert "--layers" in other
    assert "--method" in other


def test_from_names_to_what_the_hook_takes_and_a_total(
    kernelpoint: Kernelpoint, named: Path, tmp_path: Path
) -> None:
    shown = " ".join(kernelpoint("layers", named).out.split())
    assert shown.startswith(
        "8 layers of 4 launches in each of 3 iterations ProfilerStep#*, told by the names"
    )
    plan, folder, results = tmp_path / "plan.json", tmp_path / "chosen", tmp_path / "cycles.csv"
    sampled = kernelpoint("sample", named, "--layers", "3", "-o", plan).out
    stratum = json.loads(plan.read_text())["strata"][0]
    layers = stratum["layers"]
    assert [layer["launches"] for layer in layers] == [4, 4, 4]
    places = [f"{layer['name']} of iteration {layer['step']}" for layer in layers]
    assert f"Of 24 layers {places[0]}, {places[1]} and {places[2]} are drawn" in " ".join(sampled.split())

    assert kernelpoint("export", plan, "--to", "accel-sim", "-o", folder).code == 0
    page = (folder / "README.txt").read_text()
    names = sorted({layer["name"] for layer in layers}, key=lambda name: int(name.rpartition(".")[2]))
    assert f"for layer in [{', '.join(json.dumps(name) for name in names)}]:" in page
    assert "hook_nvbit_to_layer(wrapper, layer)" in page
    assert "names no modules" not in page

    with results.open("w") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "cycles"])
        for of in json.loads(plan.read_text())["strata"]:
            writer.writerows((launch["id"], 3 * launch["duration_ns"]) for launch in of["launches"])
    total_ns = json.loads(plan.read_text())["profile"]["total_duration_ns"]
    (metric,) = kernelpoint("estimate", plan, results, *JSON).results["metrics"]
    assert metric["total"] == pytest.approx(3 * total_ns)
    assert metric["low"] < metric["total"] < metric["high"]
    assert " (layers, family 1)\n" in kernelpoint("estimate", plan, results, "--groups").out


def test_an_export_of_single_launches_says_nothing_of_the_hook(
    kernelpoint: Kernelpoint, gpt2: Path, tmp_path: Path
) -> None:
    kernelpoint("sample", gpt2, "-o", tmp_path / "plan.json")
    kernelpoint("export", tmp_path / "plan.json", "--to", "accel-sim", "-o", tmp_path / "chosen")
    assert "torch_hook" not in (tmp_path / "chosen" / "README.txt").read_text()


def test_where_layers_are_too_few_more_are_planned_and_nothing_was_in_vain(
    kernelpoint: Kernelpoint, named: Path, here: Path
) -> None:
    kernelpoint("sample", named, "--layers", "3", "-o", "plan.json")
    plan, rounds = Path("plan.json"), 0
    table = cycles_of(plan, Path("cycles.csv"))
    while (estimate := kernelpoint("estimate", plan, table, "--target", "0.03")).code and rounds < 9:
        assert "--top-up" not in estimate.out
        command = shlex.split(estimate.out.partition("Next: kernelpoint ")[2])
        assert command[0] == "sample"
        assert kernelpoint(*command).code == 0
        before, plan = plan, Path(command[command.index("-o") + 1])
        assert {launch["id"] for launch in drawn_of(before)} < {launch["id"] for launch in drawn_of(plan)}
        table, rounds = cycles_of(plan, table), rounds + 1
    assert (estimate.code, rounds > 0) == (0, True)
    refused = kernelpoint("estimate", "plan.json", table, "--target", "0.001", "--top-up", "m.json")
    assert "cannot be topped up" in refused.failed(1)


def test_a_run_of_layers_goes_on_until_all_are_whole(
    kernelpoint: Kernelpoint, named: Path, here: Path
) -> None:
    kernelpoint("sample", named, "--layers", "3", "-o", "plan.json")
    words = ("run", "plan.json", "--to", "csv", "--simulator", "expr {id} % 7 + 1000", "--accept-cold")
    shown = " ".join(kernelpoint(*words, "-o", "run", "--target", "0.001").out.split())
    assert f"from {len(drawn_of(here / 'plan.json'))} of " in shown
    assert "no more launches were drawn: a plan of layers or of clusters cannot be topped up" in shown
    # What a run without a target is to reach is not offered to `run`, which cannot draw more.
    assert "Next: kernelpoint sample " in kernelpoint(*words, "-o", "whole").out


def test_a_study_of_layers_goes_on_until_all_are_whole(
    kernelpoint: Kernelpoint, named: Path, here: Path
) -> None:
    kernelpoint("sample", named, "--layers", "3", "-o", "plan.json")
    simulator = 'simulator = "expr {id} % 7 + 1000"\nto = "csv"\n'
    configurations = "".join(f"[configurations.{name}]\n{simulator}" for name in ("one", "two"))
    text = f'[study]\nbase = "one"\n{configurations}[programs.network]\nplan = "plan.json"\n'
    (here / "study.toml").write_text(text)
    run = kernelpoint("run", "study.toml", "--target", "0.5", "--accept-cold", *JSON)
    assert run.code == 0, run.err
    assert run.results["target_met"]
    # A comparison counts launches, of which a layer has four.
    table = cycles_of(Path("plan.json"), Path("cycles.csv"))
    speedup = kernelpoint("speedup", "plan.json", f"one={table}", f"two={table}", *JSON)
    (program,) = speedup.results["programs"]
    assert {cell["launches"] for cell in program["cells"]} == {program["drawn"]}


def test_the_hook_takes_the_layers_of_all_families_that_have_names(
    kernelpoint: Kernelpoint, here: Path
) -> None:
    network = _network(here / "two.json", "encoder.layers", "decoder.layers")
    kernelpoint("sample", network, "--layers", "2", "-o", "plan.json")
    names = {
        layer["name"]
        for stratum in json.loads(Path("plan.json").read_text())["strata"]
        for layer in stratum.get("layers", ())
    }
    assert len({name.partition(".")[0] for name in names}) == 2
    kernelpoint("export", "plan.json", "--to", "accel-sim", "-o", "chosen")
    (line,) = [line for line in (here / "chosen/README.txt").read_text().splitlines() if " in [" in line]
    assert set(json.loads(line.partition(" in ")[2].rstrip(":"))) == names
