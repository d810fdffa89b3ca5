"""Texts of the engine name its parameters; here each is replaced by its flag on the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import Field, fields, replace
from typing import TYPE_CHECKING, Any

from sampling.errors import SamplingError
from sampling.text import Wording
from tui.options.shared import OutputOptions

if TYPE_CHECKING:
    # The findings need numpy; an error message must not wait for its import.
    from sampling.plan.findings import Finding


def with_flags(text: str, *, quote: str = "") -> str:
    """Return a text of the engine with the flags of the options for its parameters.

    Parameters
    ----------
    quote : what to put around a flag and its value.
    """
    return text.renamed(flags_of_parameters(), quote) if isinstance(text, Wording) else text


def error_text(error: BaseException) -> str:
    """Return what an error says, with the flags of the options for the engine's parameters."""
    return with_flags(error.text) if isinstance(error, SamplingError) else str(error)


def findings_with_flags(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return findings with the flags of the options, in backticks, for the engine's parameters."""
    return tuple(
        replace(each, message=with_flags(each.message, quote="`"), remedy=with_flags(each.remedy, quote="`"))
        for each in findings
    )


def flags_of_parameters() -> dict[str, str]:
    """Return what is typed for each parameter of the engine that an option of a command gives."""
    return {
        parameter: words
        for options in _with_those_below(OutputOptions)
        for option in fields(options)
        for parameter, words in parameters_of(option).items()
    }


def parameters_of(option: Field[Any]) -> Mapping[str, str]:
    """Return the parameters that an option gives, and what is typed for each."""
    if option.metadata.get("argument"):
        return {}
    long = next(flag for flag in option.metadata["flags"] if flag.startswith("--"))
    return option.metadata["parameters"] or {option.name: long}


def _with_those_below(options: type[OutputOptions]) -> Iterator[type[OutputOptions]]:
    yield options
    for each in options.__subclasses__():
        yield from _with_those_below(each)
