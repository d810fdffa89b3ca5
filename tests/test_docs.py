"""What the pages name is there: sections that code cites, and files that pages name."""

from __future__ import annotations

import ast
import io
import re
import shlex
import tokenize
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from sampling.plan import request
from tui import __version__
from tui.program import run
from tui.registry import ALIASES, COMMANDS, FIRST_WORDS, command_named

PROJECT = Path(__file__).resolve().parent.parent
METHODS_PAGE = PROJECT / "docs" / "methods.md"
README = PROJECT / "README.md"
CONTRIBUTING = PROJECT / "CONTRIBUTING.md"
CHANGELOG = PROJECT / "CHANGELOG.md"
GUIDE = [README, *sorted((PROJECT / "docs" / "guide").glob("*.md"))]
PACKAGES = ("sampling", "scalemodel", "tui")
FOLDERS = (*PACKAGES, "tests", "benchmarks", "sample_data", "docs")

CODE = sorted(
    path for folder in FOLDERS for path in (PROJECT / folder).rglob("*.py") if path != Path(__file__)
)
PAGES = sorted(
    [*PROJECT.glob("*.md"), *(path for folder in FOLDERS for path in (PROJECT / folder).rglob("*.md"))]
)

_SECTION = re.compile(r"^## (\d+) (.+)$", re.MULTILINE)
_CITATION = re.compile(r"docs/methods\.md, (\w.{0,50})")
# A line break within a docstring or a comment.
_LINE_BREAK = re.compile(r"\s*\n\s*(?:# ?)?")
_PATH = re.compile(rf"(?<![\w./-])(?:{'|'.join(FOLDERS)})/[\w./-]*")
# Of the tools that profiles come from and plans go to, and of what every program has.
_FLAGS_OF_OTHERS = {
    *("--csv", "--trace", "--type", "--cuda-graph-trace", "--print-gpu-trace", "--disable-pip-version-check"),
    *("--kernel-id", "--launch-skip", "--launch-count", "--kernel-include-regex", "--kernel-iteration-range"),
    *("--skip-until-gpu-kernel", "--exit-after-gpu-kernel", "--debug-at-gpu-kernel", "--exit-at-gpu-kernel"),
    *("--help", "--version", "--install-completion", "--constraints", "--venv", "--chrome-kernel-logging"),
    *("--import", "--page", "--cache-control", "--clock-control"),
}
# Pages that this project's text once cited and never had.
_NOT_OURS = re.compile(r"\b(?:METHODS|FORMATS|DESIGN|STYLE)\b")


def sections() -> list[str]:
    """Return the numbered headings of the page of methods, as they are cited."""
    return [f"{number} {title}" for number, title in _SECTION.findall(METHODS_PAGE.read_text())]


def is_section(cited: str) -> bool:
    """Return whether a text begins with a whole section heading."""
    return any(cited.startswith(each) and not cited[len(each) :][:1].isalnum() for each in sections())


def comments(path: Path) -> Iterator[str]:
    """Yield the docstrings and comments of a module."""
    source = path.read_text()
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, documented):
            yield ast.get_docstring(node) or ""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string


def named(path: Path) -> str:
    """Return a path as it is named in this project."""
    return path.relative_to(PROJECT).as_posix()


def test_sections_are_numbered_from_one() -> None:
    numbers = [int(section.split()[0]) for section in sections()]
    assert numbers == list(range(1, len(numbers) + 1))
    assert numbers


def test_cited_sections_exist() -> None:
    texts = [(named(path), _LINE_BREAK.sub(" ", path.read_text())) for path in (*CODE, *PAGES)]
    cited = [(path, citation) for path, text in texts for citation in _CITATION.findall(text)]
    assert [(path, citation) for path, citation in cited if not is_section(citation)] == []
    assert cited


@pytest.mark.parametrize("page", [METHODS_PAGE, README, CONTRIBUTING], ids=named)
def test_paths_named_in_a_page_exist(page: Path) -> None:
    paths = {found.rstrip(".") for found in _PATH.findall(page.read_text())}
    assert sorted(path for path in paths if not (PROJECT / path).exists()) == []
    assert paths


def test_files_and_classes_that_contributing_names_exist() -> None:
    words = set(re.findall(r"`([\w./]+)`", CONTRIBUTING.read_text()))
    places = [PROJECT, *(PROJECT / package for package in PACKAGES), *PROJECT.glob("sampling/*/")]
    files = {word for word in words if word.endswith((".py", "/"))}
    assert {file for file in files if not any((place / file).exists() for place in places)} == set()
    classes = {word for word in words if re.fullmatch(r"(?:[A-Z][a-z]+)+", word)}
    code = "\n".join(path.read_text() for path in CODE if path.relative_to(PROJECT).parts[0] in PACKAGES)
    assert {name for name in classes if not re.search(rf"^class {name}\b", code, re.MULTILINE)} == set()
    assert files
    assert classes


@pytest.mark.parametrize("package", PACKAGES)
def test_contributing_lists_folders_in_the_order_of_the_import_contracts(package: str) -> None:
    _, _, table = CONTRIBUTING.read_text().partition(f"`{package}/`, ")
    rows = table.partition("\n\n")[0].splitlines()[2:]
    names = [Path(word).stem for row in rows for word in re.findall(r"`([\w./]+)`", row.split("|")[1])]
    contracts = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (layers,) = (contract["layers"] for contract in contracts if contract.get("containers") == [package])
    height = {name: floor for floor, layer in enumerate(layers) for name in re.findall(r"\w+", layer)}
    assert sorted(names) == sorted(height)
    assert names == sorted(names, key=height.__getitem__, reverse=True)


def test_the_changelog_has_this_version_and_what_followed() -> None:
    versions = re.findall(r"^## \[(.+?)\](?: - \d{4}-\d\d-\d\d)?$", CHANGELOG.read_text(), re.MULTILINE)
    assert versions[:2] == ["Unreleased", __version__]


def test_no_page_is_cited_that_is_not_here() -> None:
    suspects = [path for path in CODE if _NOT_OURS.search(path.read_text())]
    texts = [(named(path), text) for path in suspects for text in comments(path)]
    texts += [(named(path), line) for path in PAGES for line in path.read_text().splitlines()]
    assert [(path, text) for path, text in texts if _NOT_OURS.search(text)] == []


def test_the_readme_is_short() -> None:
    assert len(README.read_text().splitlines()) <= 200


@pytest.mark.parametrize("page", GUIDE, ids=named)
def test_files_in_commands_are_there_or_said_to_be_the_readers_own(page: Path) -> None:
    text = page.read_text()
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    named_files = {
        word
        for block in blocks
        for word in re.findall(
            r"(?<=\s)[\w./-]+\.(?:sqlite|csv|toml|log|traceg)(?:\.gz|\.xz)?(?![\w.])", block
        )
    }
    missing = {name for name in named_files if not (PROJECT / name).exists()}
    assert not any(name.startswith("sample_data/") for name in missing), missing
    first = min((text.index(f" {name}") for name in missing), default=len(text))
    assert not missing or text.index("stand for your own") < first


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_to_files_and_headings_that_are_there(page: Path) -> None:
    text = page.read_text()
    headings = {
        re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        for title in re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    }
    for place, heading in re.findall(r"\]\(([^)#\s]*)(?:#([^)]*))?\)", text):
        if place.startswith("http"):
            continue
        assert (page.parent / place).exists(), place
        assert place or heading in headings, heading


def commands_shown() -> list[str]:
    """Return the command lines of the pages and of `--help` that run this program, without comments."""
    blocks = re.findall(r"```sh\n(.*?)```", "\n".join(page.read_text() for page in GUIDE), re.DOTALL)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    found = (re.search(r"(?:^|/| )kernelpoint +(\S.*?)(?:\s{2,}#|\s# |$)", line) for line in lines)
    examples = [command.example for command in COMMANDS.values() if command.example]
    return [*(each[1] for each in found if each is not None), *examples]


def flags_of(command: str) -> set[str]:
    """All flags of a command, those of a plan's request among them."""
    kind = COMMANDS[command].options
    own = {flag for option in fields(kind) for flag in option.metadata.get("flags", ())}
    return own.union(*map(request.flags, kind.request_names))


@pytest.mark.parametrize("line", commands_shown())
def test_commands_of_the_pages_have_options_that_there_are(line: str) -> None:
    words = shlex.split(line)
    words = [ALIASES.get(words[0], words[0]), *words[1:]]
    if words[0] not in FIRST_WORDS:
        assert "." in words[0], "neither a command nor a file"
        words = ["open", *words]
    command = command_named(words)
    assert command is not None
    known = flags_of(command)
    assert [word for word in words if re.match(r"--?[a-z]", word) and word not in known] == []


def test_flags_that_pages_name_are_some_commands() -> None:
    known = set[str]().union(*map(flags_of, COMMANDS))
    for page in (*GUIDE, CHANGELOG):
        named_flags = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", page.read_text()))
        assert named_flags - known - _FLAGS_OF_OTHERS == set()


def test_the_output_in_the_readme_is_what_its_command_prints(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = re.search(r"<!-- end -->\n\n```\n(.*?)```", README.read_text(), re.DOTALL)
    assert shown is not None
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    profile = str(PROJECT / "sample_data" / "resnet50-like.sqlite")
    assert run(["sample", profile, "-o", "plan.json", "--quiet"]) == 0
    assert capfd.readouterr().out == shown[1]


def test_what_the_guide_says_makes_a_plan_faster_is_what_its_command_prints(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (PROJECT / "docs" / "guide" / "plans.md").read_text()
    example = re.search(r"`kernelpoint (summary [^`]+)` says\n\n```\n(.*?)```", page, re.DOTALL)
    assert example is not None
    monkeypatch.chdir(PROJECT)
    monkeypatch.setenv("COLUMNS", "100")
    assert run(shlex.split(example[1])) == 0
    assert example[2] in capfd.readouterr().out


def test_examples_in_docstrings_are_run_with_the_tests(pytestconfig: pytest.Config) -> None:
    assert pytestconfig.getoption("doctestmodules")
    assert set(PACKAGES) <= set(pytestconfig.getini("testpaths"))


def test_views_and_keys_of_the_guide_are_those_of_the_app() -> None:
    from tui.app.views import VIEWS

    page = (PROJECT / "docs" / "guide" / "app.md").read_text()
    rows = re.findall(r"^\| `(\d)` \[([^\]]+)\].* \| ([^|]+) \|$", page, re.MULTILINE)
    assert [(key, name) for key, name, _ in rows] == [(view.key, view.name) for view in VIEWS]
    for view, (_, _, words) in zip(VIEWS, rows, strict=True):
        actions = [action for scope in view.screen.SCOPES for action in scope]
        view_keys = {key for action in actions for key in action._replace(label="").display.split()}
        keys = set(re.findall(r"`(\S|enter|esc|space|tab)`", words))
        assert keys
        assert keys - view_keys == set(), view.name
