"""The file of BookSim that a `gpgpusim.config` names for its on-chip network (`-inter_config_file`).

Statements ``name = value;`` with ``//`` comments. A crossbar is a `fly` network of one stage, ``n = 1``,
with a port for each SM cluster and each slice of the last-level cache: ``k`` of them. Each port keeps its
width, so the bandwidth goes as their number. Written from the tool's grammar, not run against it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from scalemodel.errors import InputError, Place

_WHOLE = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)
_COMMENT = re.compile(r"//[^\r\n]*")
_STATEMENT = re.compile(r"([A-Za-z_]\w*)\s*=\s*([^;]*?)\s*;", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Setting:
    value: str
    start: int
    row: int


@dataclass(frozen=True, slots=True)
class BookSimNetwork:
    """A network file: its name as the configuration has it, where it lies, and its text."""

    name: str
    path: str
    text: str

    @property
    def flit_bytes(self) -> int | None:
        """Width of a port; None where the file does not state it."""
        setting = self._settings().get("flit_size")
        return int(setting.value) if setting is not None and _WHOLE.fullmatch(setting.value) else None

    def with_ports(self, old: int, new: int) -> tuple[str, str]:
        """Return the number of ports as stated, and the text with ``new`` of them.

        Parameters
        ----------
        old : how many the target uses; the file may have more.

        Raises
        ------
        InputError : the network is not a crossbar, or has too few ports for the target.
        """
        settings = self._settings()
        self._check_crossbar(settings)
        ports = settings.get("k")
        if ports is None or not _WHOLE.fullmatch(ports.value):
            raise InputError(
                "does not say in k = NUMBER; how many ports the crossbar has",
                Place(self.path, None if ports is None else ports.row),
                remedy=f"set k = {old};",
            )
        if int(ports.value) < old:
            raise InputError(
                f"the crossbar has {ports.value} ports, the target {old} clusters and cache slices",
                Place(self.path, ports.row),
                remedy=f"set k = {old};",
            )
        end = ports.start + len(ports.value)
        return ports.value, f"{self.text[: ports.start]}{new}{self.text[end:]}"

    def _check_crossbar(self, settings: dict[str, _Setting]) -> None:
        # What the file leaves out is BookSim's default: a torus of two dimensions with a map of its nodes.
        for name, wanted in (("topology", "fly"), ("n", "1"), ("use_map", "0")):
            found = settings.get(name)
            if found is None or found.value != wanted:
                state = "is not set" if found is None else f"= {found.value}"
                raise InputError(
                    f"not a crossbar ({name} {state}), and of no other network is it known how to divide the"
                    " bandwidth",
                    Place(self.path, None if found is None else found.row),
                    remedy="use topology = fly; n = 1; use_map = 0; or -network_mode 2 in the configuration",
                )

    def _settings(self) -> dict[str, _Setting]:
        bare = _COMMENT.sub(lambda comment: " " * len(comment[0]), self.text)
        return {
            found[1]: _Setting(found[2], found.start(2), bare.count("\n", 0, found.start(2)) + 1)
            for found in _STATEMENT.finditer(bare)
        }
