"""`scale open`: the app on a table of sizes; what `scale predict` prints where there is no terminal."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from sampling.errors import OptionError
from tui.commands import scale_predict
from tui.options.command_line import options_of
from tui.options.commands import SampleOptions
from tui.options.scale import ScaleOpenOptions, ScalePredictOptions
from tui.scale.sheet import default_targets, read_sheets, tables_of
from tui.terminal import tty as terminal
from tui.terminal.diagnostics import note


def run(options: ScaleOpenOptions) -> None:
    """Open the app if a person can see and steer it, else predict.

    Raises
    ------
    OptionError : there is no terminal, and `--app` is given or no file is.
    """
    if terminal.is_interactive():
        _open_app(options)
        return
    why, remedy = terminal.why_no_app()
    if options.app:
        raise OptionError(f"--app: {why}", remedy=remedy)
    if not options.files:
        raise OptionError(f"{why}, and no file to predict from", remedy=f"give one, or {remedy}")
    asked = options_of(ScalePredictOptions, options)
    from tui.scale.runs import is_run, read_runs

    if all(map(is_run, options.files)):
        targets = default_targets([run.size for run in read_runs(options.files)])
        asked = replace(asked, files=(), run=options.files, target=(",".join(map(str, targets)),))
    scale_predict.run(asked)
    note(terminal.instead_of_app("prediction", "a file by its name"), quiet=options.quiet)


def _open_app(options: ScaleOpenOptions) -> None:
    from tui.app.running import ascii_wanted, run_app
    from tui.app.scale import ScaleScreen
    from tui.app.state import Session

    # Read before the app takes the terminal, so that errors are seen.
    sources = read_sheets(options.files, options.benchmark, partial(note, quiet=options.quiet))
    session = Session(
        options_of(SampleOptions, options),
        ascii_only=ascii_wanted(options),
        scale=tables_of(sources) if sources else None,
    )
    run_app(session, mouse=not options.no_mouse, view=ScaleScreen.NAME, theme=options.theme)
