"""Typer commands made from the option classes: one parameter a field; what a shell offers for its value."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import Field, fields
from functools import cache, partial
from inspect import Parameter, Signature
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer
from typer.main import get_command

from sampling.errors import OptionError
from sampling.plan import request
from sampling.text import NumberKind, why_no_number
from tui.options.files import check_places, input_files, reading
from tui.options.shared import OUTPUT_PANEL, PANELS, READING_PANEL, SELECTION_PANEL
from tui.registry import COMMANDS, FAMILIES, Command, versions
from tui.terminal import interruption

EXIT_CODES = (
    "Exit codes: 0 done, 1 the analysis failed, 2 usage, 3 unreadable or invalid input, "
    "4 nothing left after filtering or a check failed, 130 interrupted."
)

_LAST_PANELS = (SELECTION_PANEL, READING_PANEL, OUTPUT_PANEL)

FIRST_STEPS = """\
kernelpoint demo                         the app on sample data; --run: the loop
kernelpoint FILE                         look at a profile: nsys, PyTorch, ROCm
kernelpoint sample FILE -o plan.json     the launches to simulate, and how sure
kernelpoint export plan.json --to TOOL   hand them to a simulator
kernelpoint run plan.json --simulator .. simulate them until the total is known
kernelpoint estimate plan.json RESULTS   what the whole run takes, from results
kernelpoint diff BEFORE AFTER            what changed between two recordings
kernelpoint scale predict --run 8=LOG .. a big GPU from two small; all: --help"""


@cache
def build_parser(command: str | None = None) -> Callable[..., Any]:
    """Return what takes the arguments and runs the command; built once, also if a process runs several.

    `command`: the one command to build, by its name in the registry; None: all, without their options, for a
    help or a completion that lists them, and for words that name none.
    """
    return get_command(_application(command))


def _application(command: str | None) -> typer.Typer:
    app = typer.Typer(
        name="kernelpoint",
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
        context_settings={"help_option_names": ["-h", "--help"]},
        help="Choose which GPU kernel launches to simulate, and say how wrong the answer can be.\n\n"
        "`kernelpoint PROFILE` opens the app.",
        epilog=EXIT_CODES,
    )
    app.callback(invoke_without_command=True)(_without_command)
    names = COMMANDS if command is None else (command,)
    places = {"": app}
    for family, text in FAMILIES.items():
        if any(name.startswith(f"{family} ") for name in names):
            # Its name alone prints the help of its commands.
            places[family] = typer.Typer(name=family, help=text, rich_markup_mode="markdown")
            places[family].callback(invoke_without_command=True)(_help_without_command)
            app.add_typer(places[family], epilog=EXIT_CODES, rich_help_panel="Other")
    for name in names:
        family, _, last = name.rpartition(" ")
        described = COMMANDS[name]
        panel = None if family else described.panel
        text = described.help
        if described.example:
            text += f"\n\nFor example: `kernelpoint {described.example}`"
        add = places[family].command(last, help=text, epilog=EXIT_CODES, rich_help_panel=panel)
        add(_help_without_command if command is None else _callback(described))
    return app


def _without_command(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the versions and exit.", is_eager=True)
    ] = False,
) -> None:
    if version:
        typer.echo(versions())
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(FIRST_STEPS)
        raise typer.Exit(2)


def _help_without_command(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)


def _callback(command: Command) -> Callable[..., None]:
    """Return a function with one parameter a field, which makes the options and runs the command."""
    hints = get_type_hints(command.options)

    def run(**values: Any) -> None:
        arguments = {
            name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
        }
        options_type: Any = command.options
        requested = {name: arguments.pop(name) for name in options_type.request_names}
        # A flag turns what it is of around.
        requested |= {
            name: typed is not request.default(name)
            for name, typed in requested.items()
            if request.is_switch(name)
        }
        for option in fields(options_type):
            if option.name in arguments:
                _check_range(option, arguments[option.name])
        options = options_type(**arguments).with_request(**requested)
        with reading(input_files(options)):
            # Said before a long reading; the writer of files asks again, for each.
            check_places(options)
            run_it = command.run
            interruption.work()
            run_it(options)

    parameters: list[Parameter] = []
    for option in fields(command.options):
        if option.metadata.get("request"):
            parameters += [
                _asked(name, getattr(option.default, name), command.options.request_help.get(name))
                for name in command.options.request_names
            ]
        else:
            parameters.append(_parameter(option, hints[option.name]))
    # Arguments, which have no default, come first; a panel of the help stands where its first option does.
    parameters.sort(key=lambda parameter: (parameter.default is not Parameter.empty, _panel_rank(parameter)))
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _panel_rank(parameter: Parameter) -> int:
    """Return the place of a parameter's panel in the help: what every command has stands last."""
    panel = getattr(get_args(parameter.annotation)[1], "rich_help_panel", None)
    return _LAST_PANELS.index(panel) + 1 if panel in _LAST_PANELS else 0


def _check_range(option: Field[Any], value: Any) -> None:
    """Refuse a number outside the range that the option's metadata names; None is not given."""
    if value is None or option.metadata.get("argument"):
        return
    flag, low, high = option.metadata["flags"][0], option.metadata["least"], option.metadata["most"]
    if low is not None and value < low:
        raise OptionError(f"{flag} is {low} or more, not {value}")
    if high is not None and value > high:
        raise OptionError(f"{flag} is at most {high:,}, not {value}", remedy="give a smaller number")
    if option.metadata["fraction"] and not 0 <= value < 1:
        meant = f"did you mean {value / 100:g}?" if 1 <= value < 100 else None
        raise OptionError(f"{flag} is a fraction from 0 up to 1, not {value:g}", remedy=meant)


def _number_parser(kind: NumberKind) -> Callable[[str | float], float]:
    """Return what takes a number as typed, and says of any other text what is meant."""

    def parsed(text: str | float) -> float:
        try:
            return float(text)
        except ValueError as error:
            raise typer.BadParameter(why_no_number(str(text), kind)) from error

    return parsed


def _with_simulators(text: str) -> str:
    """Return a help with the names of the simulators that have what stands there: ``<run traces>``."""

    def names(match: re.Match[str]) -> str:
        from sampling.simulators.registry import names_with

        return ", ".join(sorted(names_with(*match[1].split())))

    return re.sub(r"<([a-z_ ]+)>", names, text)


def _parameter(option: Field[Any], hint: Any) -> Parameter:
    metadata, several = option.metadata, get_origin(hint) is tuple
    kind: Any = list[str] if several else hint
    default: Any = [] if several else option.default
    declared: Any
    if metadata.get("argument"):
        declared = typer.Argument(help=_with_simulators(metadata["help"]), metavar=metadata["metavar"])
        default = Parameter.empty if metadata["required"] else default
    else:
        is_number = float in {kind, *get_args(kind)}
        declared = typer.Option(
            *metadata["flags"],
            help=_with_simulators(metadata["help"]),
            metavar=metadata["metavar"] or ("<float>" if is_number else None),
            parser=_number_parser(metadata["kind"]) if is_number else None,
            # A column to sort by is typed as the table's head has it: CoV.
            case_sensitive=False,
            rich_help_panel=metadata["panel"],
            show_default=option.default not in (None, (), False),
            autocompletion=_OFFERS.get(option.name),
        )
    annotation = Annotated[kind, declared]
    return Parameter(option.name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _asked(name: str, unset: Any, text: str | None) -> Parameter:
    """Return the parameter of an option of a plan's request; a number is read as the request reads it.

    `unset`: its value where it is not typed. A flag is typed or not, whatever it then stands for.
    `text`: its help; the option's own if None.
    """
    about, kind = request.option(name), request.value_type(name)
    is_number = bool({int, float} & {kind, *get_args(kind)}) and not request.is_repeated(name)
    default = False if request.is_switch(name) else unset
    if request.is_repeated(name):
        kind, default = list[str], list(unset)
    declared = typer.Option(
        *request.flags(name),
        help=text or about.help,
        metavar=about.metavar or (("N" if kind is int else "X") if is_number else None),
        parser=partial(_number, name) if is_number else None,
        case_sensitive=False,
        rich_help_panel=PANELS[about.part],
        show_default=default not in (None, []) and not request.is_switch(name),
        autocompletion=_OFFERS.get(name),
    )
    annotation: Any = Annotated[kind, declared]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _number(name: str, text: str | float) -> Any:
    """Return what a text means; a default is a number already."""
    return request.parse_value(name, text) if isinstance(text, str) else text


# What a shell offers at the cursor: methods and their options, exporters.


# Typer tells the parameters of what it calls by these names.
def _methods(incomplete: str) -> list[str]:
    from sampling.methods.registry import method_names

    return [name for name in method_names() if name.startswith(incomplete)]


def _list_of_methods(incomplete: str) -> list[str]:
    """Return the methods that may be the last of a list with commas."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in _methods(last) if name not in before.split(",")]


def _settings(ctx: Any, incomplete: str) -> list[str]:
    """Return the options of the method that is named, of all methods where none is."""
    from sampling.methods.registry import method_named, method_names

    names, method = method_names(), incomplete.partition(".")[0]
    methods = [method] if method in names else [name for name in names if name.startswith(method)]
    typed_method = ctx.params.get("method")
    if not incomplete and typed_method in names and fields(method_named(typed_method).options_type):
        methods = [typed_method]
    options = ((name, option.name) for name in methods for option in fields(method_named(name).options_type))
    settings = (f"{name}.{option}=" for name, option in options)
    return [setting for setting in settings if setting.startswith(incomplete)]


def _exporters(incomplete: str) -> list[str]:
    from sampling.simulators.registry import exporter_names

    return [name for name in exporter_names() if name.startswith(incomplete)]


_OFFERS = dict[str, Callable[..., Any]](
    method=_methods, methods=_list_of_methods, set=_settings, to=_exporters
)
