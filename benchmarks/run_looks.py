"""How often the interval of `run` holds, looked at after every launch or after every round.

    python benchmarks/run_looks.py TABLE WHOLE [--draws 60]

TABLE and WHOLE are tables of one program's launches (name, duration_ns, cycles) on two configurations: the
first is the profile, the second what a simulator would say of each launch. No process is started.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from pathlib import Path

import numpy as np

import sampling
from sampling.plan.plan_file import read_plan
from sampling.profile.profile import Profile
from sampling.running.loop import Loop
from sampling.running.request import RunRequest


class TableLoop(Loop):
    """A run whose launches have the cycles of a table at once."""

    cycles: list[float]
    looks_at_each = True

    def simulate(self) -> None:
        """Give one launch after the other its cycles until the target holds."""
        for job in self.pending():
            job.result.parent.mkdir(exist_ok=True)
            job.result.write_text(f"id,cycles,caches\n{job.id},{self.cycles[job.id]},cold\n")
            job.read_state()
            if self.is_met():
                return

    def is_met(self) -> bool:
        return (self.looks_at_each or not self.pending()) and super().is_met()


def simulate(profile: Profile, seed: int, target: float) -> tuple[float, float, int]:
    """Return the total, its half-width and the launches of one run."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plan.json"
        sampling.write_plan(sampling.make_plan(profile, sampling.PlanRequest(seed=seed)), path)
        request = RunRequest(read_plan(str(path)), Path(folder) / "run", "csv", "true {id}", target)
        with TableLoop(request, lambda _: None).opened() as loop:
            loop.run()
            assert loop.estimate is not None
            main = loop.estimate.main
            return main.total, main.half_width or 0.0, len(loop.estimate.results.ids)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("whole", type=Path)
    parser.add_argument("--draws", type=int, default=60)
    options = parser.parse_args()
    TableLoop.cycles = [float(row["cycles"]) for row in csv.DictReader(options.whole.open())]
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as own:
        rows = [(row["name"], row["duration_ns"]) for row in csv.DictReader(options.table.open())]
        csv.writer(own).writerows([("name", "duration_ns"), *rows])
        own.flush()
        profile = sampling.read_profile(own.name)
        print("target  looks  held   mean |error|  launches")
        for target in (0.05, 0.03, 0.02):
            for TableLoop.looks_at_each in (True, False):
                runs = np.array([simulate(profile, seed, target) for seed in range(options.draws)])
                error = runs[:, 0] - sum(TableLoop.cycles)
                held = np.mean(np.abs(error) <= runs[:, 1] * (1 + 1e-9))
                mean = np.mean(np.abs(error)) / sum(TableLoop.cycles)
                looks = "each" if TableLoop.looks_at_each else "round"
                print(f"{target:6.2f}  {looks:5}  {held:.3f}  {100 * mean:9.2f} %  {runs[:, 2].mean():9.1f}")


if __name__ == "__main__":
    main()
