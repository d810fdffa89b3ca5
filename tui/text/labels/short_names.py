"""Names of a list in little room: which of their words are shown, and which of those are kept first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from sampling.profile.names import name_parts, readable_name, short_name
from tui.text.labels.squeezed import Atom, Word, beginning, squeezed, whole
from tui.text.labels.telling_apart import atoms_of, tell_apart, telling_atoms

# `(int)128` of Nsight Systems and `int=128` of nvprof are both 128.
_CAST = re.compile(r"\([a-z_][a-z_0-9 ]*\)(?=-?\d)|\b\w+=(?=-?\d)")
_NUMBERS = re.compile(r"<\s*(-?\d+(?:\s*,\s*-?\d+)+)\s*>")
_SCOPE = re.compile(r"\b\w+::(?![{\[(]|operator\b)")
_TOKEN = re.compile(r"#?-?\d[\w.]*|[^\W\d]\w*")
_BLANKS = re.compile(r"[\s,]+")
_PLAIN = re.compile(
    r"(?:float|double|half|int|long|short|char|bool|unsigned|signed|void|size_t|u?int\d+(?:_t)?|__half|half_t|"
    r"Half|BFloat16|bfloat16(?:_t)?|__nv_bfloat16|__hip_bfloat16|float\d+_t|tfloat32_t|float_e\w+|nullptr_t)[234]?"
)
# What wraps the function that matters in PyTorch, CUB, Thrust and CUTLASS, and what C++ itself adds.
_STOCK = re.compile(
    "const|volatile|lambda|operator|instance|auto|decltype|enum|struct|class|typename|unnamed|std|detail|"
    "gpu_kernel_impl(?:_nocast)?|BinaryFunctor|UnaryFunctor|func_wrapper_t|ReduceOp|[Aa]rray|vector|tuple|"
    "TensorIterator(?:Base)?|(?:Trivial)?OffsetCalculator|(?:Load|Store)With(?:out)?Cast|TensorListMetadata|"
    "TensorInfo|Params|integral_constant|C|_|#.*"
)


class Kind(IntEnum):
    """How much a word tells of what a kernel does, the most first."""

    TELLING = 0
    NUMBER = 1
    PLAIN_TYPE = 2
    STOCK = 3


@dataclass(frozen=True, slots=True)
class KernelName:
    """A kernel's name in parts.

    Attributes
    ----------
    base : the function's own name.
    words : of its template arguments, in their order: names without scopes, numbers, tiles as 128x128x32.
    scopes : what the function stands in.
    parameters : the words of its parameter list.
    """

    base: str
    words: tuple[str, ...]
    scopes: tuple[str, ...]
    parameters: str

    @property
    def parameter_words(self) -> tuple[str, ...]:
        """The words of its parameter list."""
        return _words(self.parameters)


@lru_cache(maxsize=8192)
def kernel_name(full: str) -> KernelName:
    """Return a name in parts; of one that does not parse, the base is what there is."""
    parts = name_parts(readable_name(full).replace("<unnamed>::", ""))
    scopes = (*parts.scopes, *_words(parts.scope_arguments))
    return KernelName(parts.own, _words(parts.arguments), scopes, parts.parameters)


def kind_of(word: str) -> Kind:
    """Return how much a word tells."""
    if _STOCK.fullmatch(word):
        return Kind.STOCK
    if word[0].isdigit() or word[0] == "-" or word in ("true", "false"):
        return Kind.NUMBER
    return Kind.PLAIN_TYPE if _PLAIN.fullmatch(word) else Kind.TELLING


@lru_cache(maxsize=8192)
def _words(text: str) -> tuple[str, ...]:
    """Return the words of template arguments or parameters, without casts and scopes."""
    text = _CAST.sub("", text.replace("(anonymous namespace)::", ""))
    # A list of numbers alone is a tile.
    text = _NUMBERS.sub(lambda found: f"<{_BLANKS.sub('x', found[1])}>", text)
    return tuple(_TOKEN.findall(_SCOPE.sub("", text)))


# So many names are compared with each other, those of the largest groups first.
_MOST_COMPARED = 1_000
# Names that have so many letters in common at their beginning are compared.
_ALIKE = 4

# Tiles, and what is computed.
_FIGURE = re.compile(
    r"\d+x\d|gemm|gemv|conv|wgrad|dgrad|fprop|attn|attention|fmha|softmax|norm|sort|all_?reduce|all_?gather|"
    "reduce_?scatter|send_?recv",
    re.IGNORECASE,
)
# A function whose name has no other words says little: its template arguments say what it works on.
_GENERAL = re.compile(
    "kernels?|kentry|device|global|entry|main|run|launch|impl|function|wrapper|generic|agent|core|static|"
    "elementwise|vectorized|unrolled|legacy|manual|unroll|index|reduce|multi|tensor|apply|transform|parallel|for|"
    "with|cuda|hip|gpu|execute",
    re.IGNORECASE,
)
_HEAD = 6
# What is kept first where there is little room.
_BASE, _TELLING, _BASE_TELLING, _TILE, _WORD, _LAST_OF_BASE, _REST, _EXTRA, _GENERAL_ATOM, _LAST = range(10)


def _words_by_kind(name: str) -> tuple[str, ...]:
    return tuple(sorted(dict.fromkeys(kernel_name(name).words), key=kind_of))


# What may tell a name from others of its function, the most telling first.
_STAGES: tuple[Callable[[str], tuple[str, ...]], ...] = (
    _words_by_kind,
    lambda name: kernel_name(name).words,
    lambda name: kernel_name(name).scopes,
    lambda name: kernel_name(name).parameter_words,
)


class ShortNames:
    """The names of a list, each short when it is asked for.

    Parameters
    ----------
    names : all of the list, distinct.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._alike = _families((name, short_name(name)) for name in names)
        bases = dict.fromkeys(base for base, _ in self._alike.values())
        self._families = _families((base, base[:_ALIKE]) for base in bases)
        self._atoms: dict[str, Mapping[str, int]] = {}
        self._details: dict[str, tuple[Word, ...]] = {}
        self._texts: dict[tuple[str, int | None, str], str] = {}

    def text(self, name: str, room: int | None, mark: str) -> str:
        """Return a name in at most `room` columns, in as many as it takes if None.

        Parameters
        ----------
        mark : what stands for what is left out of a word.
        """
        key = (name, room, mark)
        text = self._texts.get(key)
        if text is None:
            base = self._alike[name][0]
            details = self._details_of(name, base)
            words = (_base_word(base, self._atoms_of(base), bool(details)), *details)
            text = self._texts[key] = whole(words) if room is None else squeezed(words, room, mark)
        return text

    def _atoms_of(self, base: str) -> Mapping[str, int]:
        """Return what tells a function's name from those that begin alike."""
        if base not in self._atoms:
            compared = self._families[base][1]
            self._atoms |= zip(compared, telling_atoms(compared), strict=True)
        return self._atoms[base]

    def _details_of(self, name: str, base: str) -> tuple[Word, ...]:
        """Return the template arguments that tell a name from the others of its function."""
        if name not in self._details:
            compared = self._alike[name][1]
            telling = tell_apart(compared, _STAGES)
            atoms = _atoms_of_families({word for words in telling for word in words})
            for each, words in zip(compared, telling, strict=True):
                self._details[each] = _details(each, base, words, atoms)
        return self._details[name]


def _families(members: Iterable[tuple[str, str]]) -> dict[str, tuple[str, list[str]]]:
    """Return of each member what its family is called, and those that it is compared with: it is one of them.

    Parameters
    ----------
    members : each with what its family is called.
    """
    family_of: dict[str, tuple[str, list[str]]] = {}
    open_families: dict[str, tuple[str, list[str]]] = {}
    for member, name in members:
        family = open_families.get(name)
        if family is None or len(family[1]) == _MOST_COMPARED:
            family = open_families[name] = (name, [])
        family[1].append(member)
        family_of[member] = family
    return family_of


def _atoms_of_families(words: Iterable[str]) -> dict[str, Mapping[str, int]]:
    """Return of each word what tells it from those that begin alike."""
    families: dict[str, list[str]] = {}
    for word in sorted(words):
        families.setdefault(word[:_ALIKE], []).append(word)
    atoms: dict[str, Mapping[str, int]] = {}
    for family in families.values():
        atoms |= zip(family, telling_atoms(family), strict=True)
    return atoms


def _details(
    name: str, base: str, telling: Sequence[str], atoms: Mapping[str, Mapping[str, int]]
) -> tuple[Word, ...]:
    """Return the template arguments to show.

    Parameters
    ----------
    telling : those that tell it apart, the most telling first.
    atoms : of each of these, what tells it from those of other names that begin alike.
    """
    words = kernel_name(name).words
    extra = () if _says_what_it_does(base) else _extra_words(words, telling)
    shown = _in_order(telling, words)
    return (*map(_extra, extra), *(_detail(word, atoms[word], telling.index(word)) for word in shown))


def _says_what_it_does(base: str) -> bool:
    return not all(_GENERAL.fullmatch(atom.strip("_0123456789")) for _, atom in atoms_of(base))


def _extra_words(words: Sequence[str], telling: Sequence[str]) -> tuple[str, ...]:
    """Return the word that says most of what a general function does; none where it is shown anyway."""
    if any(kind_of(word) is Kind.TELLING for word in telling):
        return ()
    return next(((word,) for word in words if kind_of(word) is Kind.TELLING), ())


def _in_order(telling: Sequence[str], words: Sequence[str]) -> list[str]:
    """Return names by how much they tell, then types and numbers as they stand in the name."""
    place = {word: at for at, word in reversed(list(enumerate(words)))}
    names = [word for word in telling if kind_of(word) is Kind.TELLING]
    others = [word for word in telling if kind_of(word) is not Kind.TELLING]
    return [*names, *sorted(others, key=lambda word: place.get(word, len(words)))]


def _base_word(base: str, telling: Mapping[str, int], has_details: bool) -> Word:
    (_, first), *atoms = atoms_of(base)
    # Names differ at their ends: the last atom comes before those in the middle.
    weights = [_weight(text, telling, _BASE_TELLING, _REST) for _, text in atoms]
    if weights and weights[-1] == _REST:
        weights[-1] = _LAST_OF_BASE
    rest = tuple(Atom(before, text, weight) for (before, text), weight in zip(atoms, weights, strict=True))
    # The end of a long beginning gives way to what tells more.
    head = (beginning(first, _HEAD) or _HEAD) if len(first) > _HEAD + 1 else len(first)
    end = (Atom("", first[head:], (_TILE if has_details else _REST) - 0.5),) if first[head:] else ()
    return (Atom("", first[:head], _BASE), *end, *rest)


def _detail(word: str, telling: Mapping[str, int], rank: int) -> Word:
    """Return a template argument.

    Parameters
    ----------
    telling : its atoms that tell it from others that begin alike.
    rank : how many words tell more.
    """
    atoms = atoms_of(word)
    needed = telling or {atoms[0][1]: 0}
    part = rank / (rank + 1)
    return tuple(Atom(before, text, _weight(text, needed, _TELLING + part, _WORD)) for before, text in atoms)


def _extra(word: str) -> Word:
    """Return a template argument that nothing is told apart by: what it computes and its tiles first."""
    return tuple(
        Atom(before, text, _EXTRA if _FIGURE.search(text) or not place else _LAST)
        for place, (before, text) in enumerate(atoms_of(word))
    )


def _weight(text: str, telling: Mapping[str, int], if_telling: float, otherwise: int) -> float:
    if text in telling:
        return if_telling + telling[text] / 1_000
    if _FIGURE.search(text):
        return _TILE
    return _GENERAL_ATOM if _GENERAL.fullmatch(text) else otherwise
