"""What `run` says while launches are simulated, and when it ends, in words."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

from sampling.running import Asked, Now, Ran
from sampling.simulators.jobs import Job
from sampling.text import counted
from tui.charts import quantities
from tui.options.simulate import EstimateOptions
from tui.output.writer import Answer, Canvas
from tui.text.estimate import estimate_answer, fitted, missing_text

#: Said before anything is simulated.
COLD = (
    "launches start cold here, and a total of these keeps no --target: --caches after:16 or --cold-check 8 "
    "mends that; --accept-cold, of `run` and `estimate`, takes it as it is"
)


def progress_line(now: Now, target: float | None, width: int | None = None) -> str:
    """Return how far a run is: launches, the total's interval, the time left, what runs; as fits."""
    parts = [f"{now.done:,} of {counted(now.of, 'launch', 'launches')}"]
    if now.total is not None:
        parts.append(_known(now, target))
    if now.seconds_left is not None:
        up_to = "up to " if target is not None else ""
        parts.append(f"{up_to}{quantities.hours(now.seconds_left / 3600)} left")
    if now.running:
        parts.append(f"{now.running:,} running")
    while width is not None and len(parts) > 1 and len("; ".join(parts)) > width:
        parts.pop()
    return "; ".join(parts)


def _known(now: Now, target: float | None) -> str:
    total = now.total
    assert total is not None
    if total.is_incomplete:
        return missing_text(total)
    if total.half_width is None or not total.total:
        return f"{total.metric} {total.total:,.0f}"
    asked = "" if target is None else f", asked {quantities.share(target)}"
    return f"{total.metric} within {quantities.share(total.half_width / total.total)}{asked}"


def news_line(now: Now, target: float | None) -> str | None:
    """Return what just happened; None where nothing did."""
    if now.news is None:
        return None
    if isinstance(now.news, Job):
        what = f"launch {now.news.id} " + (f"failed: {now.news.failure}" if now.news.failure else "done")
        return f"{what}; {progress_line(now, target)}"
    return f"{counted(now.news, 'launch', 'launches')} more drawn; {progress_line(now, target)}"


def run_answer(ran: Ran, asked: Asked, options: EstimateOptions, command: str) -> Answer:
    """Return the answer: that of `estimate`, below it what failed and the job array.

    Parameters
    ----------
    options : of an estimate of the run's folder.
    command : what is typed to go on.
    """
    failed, array = list(_failed_lines(ran)), list(_array_lines(ran, command))

    def said(canvas: Canvas) -> list[str]:
        # What is to be typed stays on its line.
        return [*(fitted(line, canvas.width) for line in failed), *array]

    results: dict[str, Any] = {
        "failed": [asdict(each) for each in ran.failed],
        "job_array": None if ran.job_array is None else str(ran.job_array[0]),
        "begun": [str(place) for place in ran.begun],
        "folder": str(asked.folder),
    }
    if ran.found is None:
        return Answer(
            "run",
            results,
            lambda canvas: "\n".join(said(canvas)),
            rows=[{**results, "failed": len(ran.failed)}],
        )
    goes_on = ran.job_array is None and not ran.begun and asked.target is None
    answer = estimate_answer(ran.found, None, options, f"{command} --target 0.03" if goes_on else "")
    assert isinstance(answer.results, dict)
    human, blocks = answer.human, answer.blocks
    return replace(
        answer,
        command="run",
        results=answer.results | results,
        human=lambda canvas: "\n".join([human(canvas), *said(canvas)]),
        blocks=None if blocks is None else lambda canvas: (*blocks(canvas), *failed, *array),
    )


def _failed_lines(ran: Ran) -> Iterator[str]:
    for each in ran.failed:
        other = "no other" if each.instead is None else f"launch {each.instead}"
        yield f"launch {each.id} failed ({each.why}); {other} of its stratum was simulated for it"


def _array_lines(ran: Ran, command: str) -> Iterator[str]:
    if ran.job_array is not None:
        script, launches = ran.job_array
        yield f"{counted(launches, 'launch', 'launches')} to simulate: sbatch {shlex.quote(str(script))}"
    if ran.begun:
        begun = counted(len(ran.begun), "launch has", "launches have")
        yield f"{begun} begun and not ended; if it was killed, remove its folder: {ran.begun[0]}"
    if ran.job_array is not None or ran.begun:
        yield f"When the array has ended: {command}"
