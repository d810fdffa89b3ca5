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
from sampling import running
from sampling.plan.plan_file import read_plan
from sampling.profile.profile import Profile
from sampling.simulators.measured_run import MeasuredRun


class Told(running.Loop):
    """A run whose launches are told at once from a table of cycles."""

    cycles: list[float]
    each = True

    def simulate(self) -> None:
        """Tell one launch after the other until the target holds."""
        for job in self.left():
            cycles = {"cycles": np.array([self.cycles[each] for each in job.ids.tolist()])}
            job.measured, job.is_put_away = MeasuredRun("table", job.ids, None, cycles), True
            if self.is_met():
                return

    def is_met(self) -> bool:
        return (self.each or not self.left()) and super().is_met()


def drawn(profile: Profile, seed: int, target: float) -> tuple[float, float, int]:
    """Return the total, its half-width and the launches of one run."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plan.json"
        sampling.write_plan(sampling.make_plan(profile, sampling.PlanRequest(seed=seed)), path)
        asked = running.RunRequest(read_plan(str(path)), Path(folder) / "run", "csv", "true {id}", target)
        with Told.begun(asked, lambda _: None) as told:
            while not told.is_met():
                told.simulate()
                if told.is_met() or not told.grow():
                    break
            assert told.found is not None
            main = told.found.main
            return main.total, main.half_width or 0.0, len(told.found.results.ids)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("whole", type=Path)
    parser.add_argument("--draws", type=int, default=60)
    asked = parser.parse_args()
    Told.cycles = [float(row["cycles"]) for row in csv.DictReader(asked.whole.open())]
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as own:
        rows = [(row["name"], row["duration_ns"]) for row in csv.DictReader(asked.table.open())]
        csv.writer(own).writerows([("name", "duration_ns"), *rows])
        own.flush()
        profile = sampling.read_profile(own.name)
        print("target  looks  held   mean |error|  launches")
        for target in (0.05, 0.03, 0.02):
            for Told.each in (True, False):
                found = np.array([drawn(profile, seed, target) for seed in range(asked.draws)])
                error = found[:, 0] - sum(Told.cycles)
                held = np.mean(np.abs(error) <= found[:, 1] * (1 + 1e-9))
                mean = np.mean(np.abs(error)) / sum(Told.cycles)
                looks = "each" if Told.each else "round"
                print(f"{target:6.2f}  {looks:5}  {held:.3f}  {100 * mean:9.2f} %  {found[:, 2].mean():9.1f}")


if __name__ == "__main__":
    main()
