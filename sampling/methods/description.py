"""The methods as records: where each is from, what it needs, its options."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sampling.methods.method import AboutOption, about_options
from sampling.methods.registry import DEFAULT_METHOD, method_named, method_names, method_options
from sampling.record import Record
from sampling.reduction import GroupBy


class MethodDescription(Record, frozen=True):
    """A method of choosing launches."""

    name: str
    #: The paper that it is from.
    source: str
    #: Features of the launches that it looks at.
    needs: list[str]
    #: Their defaults, as `--set METHOD.NAME=VALUE` changes them.
    options: dict[str, Any]
    about_options: list[AboutOption]
    #: By what the paper groups launches.
    published_group_by: GroupBy
    default: bool


def describe_methods() -> list[MethodDescription]:
    """Return all methods, in the order of the registry."""
    descriptions = []
    for name in method_names():
        method = method_named(name)
        descriptions.append(
            MethodDescription(
                name=name,
                source=method.source,
                needs=list(method.needs),
                options=asdict(method_options(name)),
                about_options=list(about_options(method.options_type)),
                published_group_by=method.published_grouping,
                default=name == DEFAULT_METHOD,
            )
        )
    return descriptions
