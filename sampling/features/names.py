"""One kernel under two spellings: mangled and demangled names, and those of different demanglers.

Nsight Systems writes ``foo<(int)4, const T *, <unnamed>::S>(T1)``, older Nsight Compute ``foo<int=4, ...>``,
the demanglers of GNU and LLVM ``foo<4, T const*, (anonymous namespace)::S>(S)``. All are brought to one form,
from which what tells kernels apart (scope, template arguments) is never dropped.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from sampling.arrays import BoolArray, IntArray
from sampling.profile.names import MANGLED, NameTable, demangled, readable_name

_REWRITTEN = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\s*\[clone [^\]]*\]|\.kd$", ""),
        (r"\(anonymous namespace\)|<unnamed>|\{anonymous\}|\b_GLOBAL__N_\w*", "@unnamed"),
        # [lambda(float) (instance 1)] and {lambda(float)#1}
        (r"\[lambda", "{lambda"),
        (r"\s*\(instance (\d+)\)\]", r"#\1}"),
        # (int)4, int=4, 4u and 4ul are 4; true is 1.
        (r"\((?:[A-Za-z_@][\w:@ ]*)\)(?=-?\d)", ""),
        (r"(?<=[<,])\s*[A-Za-z_][\w: ]*=(?=-?\d)", ""),
        (r"\b(\d+)(?:[uU]?[lL]{0,2})\b", r"\1"),
        (r"\btrue\b", "1"),
        (r"\bfalse\b", "0"),
        (r"\bstd::__\d+::|\bstd::__cxx11::", "std::"),
    )
)
# Of these names brackets are a part.
_OPERATOR = re.compile(r"operator\s*(\(\s*\)|<=>|->|<<|>>|[<>])")
_PIECE = re.compile(r"[A-Za-z_@~$][\w@$.~]*|\d[\w.]*|::|\S")
_CLOSING = {"<": ">", "(": ")", "[": "]", "{": "}"}
_QUALIFIERS = {"const", "volatile"}


def reconcile_names(
    names: NameTable, used: BoolArray, printed_names: Sequence[str]
) -> tuple[IntArray, tuple[str, ...]]:
    """Find the kernel of a profile that each name of a file means.

    A name is looked for as it is, then as a mangled name, then in the common spelling, last in the bare one:
    demanglers differ in whether they write parameters of templates as T1 or in full. A spelling is taken only
    where one kernel alone has it on either side; nothing is guessed.

    Returns (n,) codes of the profile's names for n distinct names of the file, -1 where none or not one alone
    fits, and the names that fit several kernels. ``used``, (names,), tells which have launches.
    """
    codes = np.flatnonzero(used).tolist()
    code_of_mangled = {mangled: code for code in codes if (mangled := names.mangled(code))}
    code_of_mangled |= {names.full(code): code for code in codes}
    codes_found = [code_of_mangled.get(name, -1) for name in printed_names]
    unclear: set[str] = set()
    if -1 in codes_found:
        # A kernel of the profile may be spelt as recorded, and as its mangled name reads.
        spellings = [(code, readable_name(names.full(code))) for code in codes]
        spellings += [(code, text) for code in codes if (text := demangled(names.mangled(code) or ""))]
        readable = [readable_name(name) for name in printed_names]
        for form in (common_spelling, bare_spelling):
            owners, sharing = defaultdict[str, set[int]](set), defaultdict[str, set[str]](set)
            for code, name in spellings:
                owners[form(name)].add(code)
            # Two names of one demangler are two kernels. Two mangled names may be one kernel to a profile:
            # functions of unnamed namespaces in two sources read the same.
            for name, text in zip(printed_names, readable, strict=True):
                sharing[form(text)].add(name if text == name else common_spelling(text))
            for place, text in enumerate(readable):
                key = form(text)
                if codes_found[place] < 0 and key in owners:
                    if len(owners[key]) == len(sharing[key]) == 1:
                        (codes_found[place],) = owners[key]
                        unclear.discard(printed_names[place])
                    else:
                        unclear.add(printed_names[place])
    return np.array(codes_found, dtype=np.int64), tuple(name for name in printed_names if name in unclear)


@lru_cache(maxsize=1 << 14)
def common_spelling(name: str) -> str:
    """Return a demangled name in the form that every demangler's spelling of it is brought to.

    >>> common_spelling("void f<(int)4, const T *>(<unnamed>::S)")
    'void f <4,T const *> (@unnamed :: S)'
    >>> common_spelling("void f<4, T const*>((anonymous namespace)::S)")
    'void f <4,T const *> (@unnamed :: S)'
    """
    return _spelling(name, is_bare=False)


@lru_cache(maxsize=1 << 14)
def bare_spelling(name: str) -> str:
    """Return the common spelling without return types and parameter lists: scope, name, template arguments.

    >>> bare_spelling("void ns::f<(int)4, void g<T>(T1)::[lambda() (instance 1)]>(T2)")
    'ns :: f <4,g <T> :: {lambda () # 1}>'
    """
    return _spelling(name, is_bare=True)


def _spelling(name: str, *, is_bare: bool) -> str:
    if name.startswith(MANGLED):
        return name
    name = _OPERATOR.sub(lambda match: f"operator@{match[1].replace(' ', '').encode().hex()}", name)
    for pattern, replacement in _REWRITTEN:
        name = pattern.sub(replacement, name)
    # The open brackets, each with the comma-separated parts inside of it as pieces; a closed one is a piece.
    # A stack and no recursion: names of template libraries nest without bound.
    stack: list[tuple[str, list[list[str]]]] = [("", [[]])]

    def close() -> None:
        opening, parts = stack.pop()
        arguments = [_with_qualifiers_behind(part) for part in parts]
        if is_bare:
            arguments = [_without_parameters(part) for part in arguments]
        stack[-1][1][-1].append(f"{opening}{','.join(map(' '.join, arguments))}{_CLOSING[opening]}")

    for piece in _PIECE.findall(name):
        opening, parts = stack[-1]
        if piece in _CLOSING:
            stack.append((piece, [[]]))
        elif piece == "," and opening:
            parts.append([])
        elif piece == _CLOSING.get(opening):
            close()
        else:
            parts[-1].append(piece)
    while len(stack) > 1:
        close()
    ((_, (pieces,)),) = stack
    return " ".join(_without_parameters(pieces, is_whole=True) if is_bare else pieces)


def _with_qualifiers_behind(pieces: list[str]) -> list[str]:
    """Return ``const T *`` as ``T const *``, with leading qualifiers moved behind their type."""
    start = next((place for place, piece in enumerate(pieces) if piece not in _QUALIFIERS), len(pieces))
    rest = pieces[start:]
    end = next((place for place, piece in enumerate(rest) if piece[0] in "*&(["), len(rest))
    return [*rest[:end], *pieces[:start], *rest[end:]]


def _without_parameters(pieces: list[str], *, is_whole: bool = False) -> list[str]:
    """Return ``void f (T1) :: {lambda}`` as ``f :: {lambda}``; of a whole name, ``void f (T1)`` as ``f``."""
    follows = [pieces[place + 1 : place + 3] for place in range(len(pieces))]
    is_scope = [after[:1] == ["::"] or after == ["const", "::"] for after in follows]
    lists = [place for place, piece in enumerate(pieces) if piece[0] == "(" and is_scope[place]]
    if lists:
        start = _name_start(pieces[: lists[0]])
        dropped = {*lists, *(place + 1 for place in lists if pieces[place + 1] == "const")}
        pieces = [piece for place, piece in enumerate(pieces) if place >= start and place not in dropped]
    if is_whole:
        end = next((place for place, piece in enumerate(pieces) if piece[0] == "("), len(pieces))
        pieces = pieces[_name_start(pieces[:end]) : end]
    return pieces


def _name_start(pieces: list[str]) -> int:
    """Return where the qualified name at the end starts, after a return type."""
    for place in range(len(pieces) - 1, 0, -1):
        is_joined = pieces[place] == "::" or pieces[place - 1] == "::" or pieces[place][0] in "<{["
        if not is_joined:
            return place
    return 0
