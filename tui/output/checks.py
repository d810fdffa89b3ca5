"""Checks as continuous integration reads them: JUnit's XML, and annotations of GitHub's workflows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from xml.etree import ElementTree as ET

from tui.terminal.diagnostics import PROGRAM
from tui.terminal.printable import printable


class Check(NamedTuple):
    """What was looked at, what there is to say of it, and whether it fails."""

    name: str
    said: str
    fails: bool


def junit_text(suite: str, checks: Sequence[Check]) -> str:
    """Return the checks as a suite of tests, in the XML of Ant's JUnit task, which all CI servers read."""
    name, failures = f"{PROGRAM} {suite}", str(sum(check.fails for check in checks))
    counts = {"tests": str(len(checks)), "failures": failures, "errors": "0", "skipped": "0"}
    root = ET.Element("testsuites", {"name": name, **counts})
    parent = ET.SubElement(root, "testsuite", {"name": name, **counts})
    for check in checks:
        case = ET.SubElement(
            parent,
            "testcase",
            {"classname": f"{PROGRAM}.{suite}", "name": printable(check.name), "time": "0"},
        )
        if check.fails:
            ET.SubElement(case, "failure", {"message": printable(check.said)})
        else:
            ET.SubElement(case, "system-out").text = printable(check.said)
    ET.indent(root)
    return f"{ET.tostring(root, encoding='unicode', xml_declaration=True)}\n"


def github_text(checks: Sequence[Check]) -> str:
    """Return the checks as workflow commands: an error for each that fails, a notice for each other."""
    lines = []
    for check in checks:
        level = "error" if check.fails else "notice"
        lines.append(f"::{level} title={_escaped(check.name, ':,')}::{_escaped(check.said)}\n")
    return "".join(lines)


def _escaped(text: str, more: str = "") -> str:
    return "".join(
        f"%{ord(letter):02X}" if letter in f"%\r\n{more}" else letter for letter in printable(text)
    )
