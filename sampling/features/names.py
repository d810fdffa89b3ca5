"""One kernel under two spellings: mangled and demangled names, and those of different demanglers.

Nsight Systems writes ``foo<(int)4, const T *, <unnamed>::S>(T1)``, older Nsight Compute ``foo<int=4, ...>``,
the demanglers of GNU and LLVM ``foo<4, T const*, (anonymous namespace)::S>(S)``. Such spellings are brought
to one form; what tells kernels apart (scope, template arguments) is never dropped from it. Where two kernels
still share a form, a name that could be either is left unmatched: nothing is guessed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sampling.arrays import BoolArray, IntArray
from sampling.profile.names import MANGLED, NameTable, demangled, readable_name

_UNNAMED = "@unnamed"
_REWRITTEN: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\s*\[clone [^\]]*\]", ""),
        (r"\.kd$", ""),
        (r"\(anonymous namespace\)|<unnamed>|\{anonymous\}|\b_GLOBAL__N_\w*", _UNNAMED),
        # [lambda(float) (instance 1)] and {lambda(float)#1}
        (r"\[lambda", "{lambda"),
        (r"\s*\(instance (\d+)\)\]", r"#\1}"),
        (r"operator\s*\(\s*\)", "operator@call"),
        (r"operator\s*<=>", "operator@order"),
        (r"operator\s*->", "operator@arrow"),
        (r"operator\s*<<", "operator@left"),
        (r"operator\s*>>", "operator@right"),
        (r"operator\s*<", "operator@less"),
        (r"operator\s*>", "operator@more"),
        # (int)4, int=4, 4u and 4ul are 4; true is 1.
        (r"\((?:[A-Za-z_@][\w:@ ]*)\)(?=-?\d)", ""),
        (r"(?<=[<,])\s*[A-Za-z_][\w: ]*=(?=-?\d)", ""),
        (r"\b(\d+)(?:[uU]?[lL]{0,2})\b", r"\1"),
        (r"\btrue\b", "1"),
        (r"\bfalse\b", "0"),
        (r"\bstd::__\d+::|\bstd::__cxx11::", "std::"),
    )
)
_TOKEN = re.compile(r"[A-Za-z_@~$][\w@$.~]*|\d[\w.]*|::|\S")
_CLOSING = {"<": ">", "(": ")", "[": "]", "{": "}"}
_QUALIFIERS = ("const", "volatile")


@dataclass(frozen=True, slots=True)
class ReconciledNames:
    """Which kernel of a profile each name of a file is."""

    code: IntArray  #: (n,) name code of the profile, -1 where none or not one alone fits
    respelt: int  #: how many names were found under another spelling
    ambiguous: tuple[str, ...]  #: names that could be any of several kernels


def reconcile_names(names: NameTable, used: BoolArray, others: Sequence[str]) -> ReconciledNames:
    """Find the kernel of a profile that each of some names means.

    A name is looked for as it is, then as a mangled name, then in the common spelling, last without return
    type and parameters: demanglers differ in whether they write parameters of templates as T1 or in full. A
    spelling is taken only where one kernel alone has it on either side.

    Parameters
    ----------
    names : the profile's names.
    used : (names,) which of them have launches.
    others : the distinct names of the file.
    """
    codes = np.flatnonzero(used).tolist()
    found = dict.fromkeys(range(len(others)), -1)
    exact = {names.full(code): code for code in codes}
    recorded = {mangled: code for code in codes if (mangled := names.mangled(code)) is not None}
    for place, name in enumerate(others):
        found[place] = exact.get(name, recorded.get(name, -1))
    respelt = [place for place, code in found.items() if code < 0]
    if not respelt:
        return ReconciledNames(np.array(list(found.values()), dtype=np.int64), 0, ())
    # How a kernel of the profile may be spelt: as recorded, and as its mangled name reads.
    spelt = {code: (readable_name(names.full(code)), demangled(names.mangled(code) or "")) for code in codes}
    of_file = [readable_name(name) for name in others]
    unclear: set[int] = set()
    for form in (common_spelling, bare_spelling):
        owners, sharing = defaultdict[str, set[int]](set), defaultdict[str, set[str]](set)
        for code, spellings in spelt.items():
            for spelling in filter(None, spellings):
                owners[form(spelling)].add(code)
        # Two names of one demangler are two kernels. Two mangled names may be one kernel to a profile:
        # functions of unnamed namespaces in two sources read the same.
        for name, readable in zip(others, of_file, strict=True):
            sharing[form(readable)].add(name if readable == name else common_spelling(readable))
        for place in respelt:
            key = form(of_file[place])
            fitting = owners.get(key, set())
            if found[place] < 0 and len(fitting) == len(sharing[key]) == 1:
                found[place] = next(iter(fitting))
                unclear.discard(place)
            elif found[place] < 0 and fitting:
                unclear.add(place)
    return ReconciledNames(
        code=np.array(list(found.values()), dtype=np.int64),
        respelt=sum(found[place] >= 0 for place in respelt),
        ambiguous=tuple(others[place] for place in sorted(unclear)),
    )


@lru_cache(maxsize=1 << 14)
def common_spelling(name: str) -> str:
    """Return a demangled name in the form that every demangler's spelling of it is brought to.

    >>> common_spelling("void f<(int)4, const T *>(<unnamed>::S)")
    'void f<4,T const*>(@unnamed::S)'
    >>> common_spelling("void f<4, T const*>((anonymous namespace)::S)")
    'void f<4,T const*>(@unnamed::S)'
    """
    return _text(_arguments(name, lambda pieces: pieces))


@lru_cache(maxsize=1 << 14)
def bare_spelling(name: str) -> str:
    """Return the common spelling without return types and parameter lists: scope, name, template arguments.

    >>> bare_spelling("void ns::f<(int)4, void g<T>(T1)::[lambda() (instance 1)]>(T2)")
    'ns::f<4,g<T>::{lambda()#1}>'
    """
    return _text(_function_alone(pieces) for pieces in _arguments(name, _local_function_alone))


def _arguments(name: str, finish: Callable[[list[str]], list[str]]) -> list[list[str]]:
    """Return the comma-separated parts of a name, each as pieces; brackets are one piece, finished inside.

    A stack and no recursion: names of template libraries nest without bound.
    """
    if name.startswith(MANGLED):
        return [[name]]
    for pattern, replacement in _REWRITTEN:
        name = pattern.sub(replacement, name)
    stack: list[tuple[str, list[list[str]]]] = [("", [[]])]

    def close() -> None:
        opening, parts = stack.pop()
        inside = _text(finish(_with_qualifiers_behind(part)) for part in parts)
        stack[-1][1][-1].append(f"{opening}{inside}{_CLOSING[opening]}")

    for piece in _TOKEN.findall(name):
        if piece in _CLOSING:
            stack.append((piece, [[]]))
        elif piece == "," and len(stack) > 1:
            stack[-1][1].append([])
        elif piece == _CLOSING.get(stack[-1][0]):
            close()
        else:
            stack[-1][1][-1].append(piece)
    while len(stack) > 1:
        close()
    return stack[0][1]


def _with_qualifiers_behind(pieces: list[str]) -> list[str]:
    """Return ``const T *`` as ``T const *``, with leading qualifiers moved behind their type."""
    leading = 0
    while leading < len(pieces) and pieces[leading] in _QUALIFIERS:
        leading += 1
    if not leading:
        return pieces
    rest = pieces[leading:]
    end = next((place for place, piece in enumerate(rest) if piece[0] in "*&(["), len(rest))
    return [*rest[:end], *pieces[:leading], *rest[end:]]


def _local_function_alone(pieces: list[str]) -> list[str]:
    """Return ``void f(T1)::{lambda()#1}`` as ``f::{lambda()#1}``; what is inside no function stays."""
    lists = [place for place, piece in enumerate(pieces) if piece[0] == "(" and _scope_follows(pieces, place)]
    if not lists:
        return pieces
    start = _name_start(pieces[: lists[0]])
    return [
        piece
        for place, piece in enumerate(pieces)
        if place >= start and place not in lists and not (piece == "const" and place - 1 in lists)
    ]


def _function_alone(pieces: list[str]) -> list[str]:
    """Return a whole name without its return type and its parameters."""
    pieces = _local_function_alone(pieces)
    end = next((place for place, piece in enumerate(pieces) if piece[0] == "("), len(pieces))
    return pieces[_name_start(pieces[:end]) : end]


def _scope_follows(pieces: list[str], place: int) -> bool:
    after = pieces[place + 1 : place + 3]
    return after[:1] == ["::"] or after == ["const", "::"]


def _name_start(pieces: list[str]) -> int:
    """Return where the qualified name at the end of ``pieces`` starts, after a return type."""
    for place in range(len(pieces) - 1, 0, -1):
        joined = pieces[place] == "::" or pieces[place - 1] == "::" or pieces[place][0] in "<{["
        if not joined:
            return place
    return 0


def _text(parts: Iterable[list[str]]) -> str:
    return ",".join(map(_joined, parts))


def _joined(pieces: list[str]) -> str:
    text = ""
    for piece in pieces:
        apart = (
            text and (text[-1].isalnum() or text[-1] in "_>)") and (piece[0].isalnum() or piece[0] in "_@")
        )
        text += f" {piece}" if apart else piece
    return text
