"""Names of a list in little room: which of their words are shown, and which of those are kept first.

Words are divided into atoms. Those are kept first that tell a name from others of the list, then tiles and
what is computed; a mark stands for what is left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from sampling.profile.names import name_parts, readable_name, short_name

Words = tuple[str, ...]

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


def kind_of(word: str) -> Kind:
    """Return how much a word tells."""
    if _STOCK.fullmatch(word):
        return Kind.STOCK
    if word[0].isdigit() or word[0] == "-" or word in ("true", "false"):
        return Kind.NUMBER
    return Kind.PLAIN_TYPE if _PLAIN.fullmatch(word) else Kind.TELLING


class KernelName(NamedTuple):
    """What a kernel's name consists of beside the function's own name."""

    #: Of its template arguments, in their order: names without scopes, numbers, tiles as 128x128x32.
    words: Words
    scopes: Words
    parameters: str


@lru_cache(maxsize=8192)
def kernel_name(full: str) -> KernelName:
    """Return a name in parts; of one that does not parse there are none."""
    parts = name_parts(readable_name(full).replace("<unnamed>::", ""))
    return KernelName(
        _words(parts.arguments), (*parts.scopes, *_words(parts.scope_arguments)), parts.parameters
    )


@lru_cache(maxsize=8192)
def _words(text: str) -> Words:
    """Return the words of template arguments or parameters, without casts and scopes."""
    text = _CAST.sub("", text.replace("(anonymous namespace)::", ""))
    # A list of numbers alone is a tile.
    text = _NUMBERS.sub(lambda found: f"<{_BLANKS.sub('x', found[1])}>", text)
    return tuple(_TOKEN.findall(_SCOPE.sub("", text)))


# Which words tell a few things apart: as few as needed, the most telling first.


def tell_apart(things: Sequence[str], stages: Sequence[Callable[[str], Words]]) -> list[Words]:
    """Return the words of each thing that tell it from the others.

    Parameters
    ----------
    stages : the words of a thing, those of the next stage for things that the one before does not tell apart.
        Words that all have in common are left out.
    """
    needed: list[list[str]] = [[] for _ in things]
    alike = [list(range(len(things)))] if len(things) > 1 else []
    for words_of in stages:
        alike = [
            left
            for members in alike
            for left in _divided(_own_words([words_of(things[each]) for each in members]), members, needed)
        ]
    return [tuple(dict.fromkeys(words)) for words in needed]


def _own_words(lists: Sequence[Words]) -> Sequence[Words]:
    """Return the lists without the words that all have equally often; whole where no others differ."""
    among: Counter[tuple[str, int]] = Counter()
    for words in lists:
        among.update(Counter(words).items())
    common = {word for (word, _), number in among.items() if number == len(lists)}
    own = [tuple(word for word in words if word not in common) for words in lists]
    return own if len(set(own)) > 1 else lists


def _divided(lists: Sequence[Words], members: Sequence[int], needed: list[list[str]]) -> list[list[int]]:
    """Add to each member's words those where it parts from others; return the members that stay alike."""
    alike: list[list[int]] = []
    waiting = [(list(range(len(lists))), 0)]
    while waiting:
        together, at = waiting.pop()
        parts: dict[str | None, list[int]] = {}
        for each in together:
            parts.setdefault(lists[each][at] if at < len(lists[each]) else None, []).append(each)
        if set(parts) == {None}:
            alike.append([members[each] for each in together])
            continue
        for word, part in parts.items():
            if word is not None and len(parts) > 1:
                for each in part:
                    needed[members[each]].append(word)
            if len(part) > 1:
                waiting.append((part, at + 1))
    return alike


# At `_`, and between a word and a tile; in names without `_` at capitals too.
_BORDER = re.compile(r"(?<=[^_])(_+)(?=[^_])|(?<=[a-z]{4})(?=\d+x\d)")
_CAPITAL = re.compile(r"(?<=[a-z0-9])()(?=[A-Z])|(?<=[a-z]{4})(?=\d+x\d)")
_SIZES, _DIGIT = re.compile(r"\d+x\d+"), re.compile(r"\d")


def atoms_of(word: str) -> list[tuple[str, str]]:
    """Return what a long word is made of: (what stands before it, atom), divided at `_`, else at capitals.

    >>> atoms_of("sgemm_tilesize128x64_tn"), atoms_of("RadixSort")
    ([('', 'sgemm'), ('_', 'tilesize'), ('', '128x64'), ('_', 'tn')], [('', 'Radix'), ('', 'Sort')])
    """
    parts = (_BORDER if "_" in word.strip("_") else _CAPITAL).split(word)
    return [("", parts[0]), *((parts[at] or "", parts[at + 1]) for at in range(1, len(parts), 2))]


def telling_atoms(words: Sequence[str]) -> dict[str, Mapping[str, int]]:
    """Return the atoms that tell each distinct word from the others, by rank: tiles and numbers first."""
    atoms = {word: tuple(atom for _, atom in atoms_of(word)) for word in words}

    def by_weight(word: str) -> Words:
        def weight(atom: str) -> int:
            return 0 if _SIZES.search(atom) else 1 if _DIGIT.search(atom) else 2

        return tuple(sorted(dict.fromkeys(atoms[word]), key=weight))

    found = tell_apart(words, (by_weight, atoms.__getitem__))
    return {
        word: {atom: rank for rank, atom in enumerate(each)} for word, each in zip(words, found, strict=True)
    }


# Words in little room: of each as many atoms as fit, important ones first.

# Fewer letters of a piece that is cut say nothing, and only long pieces are cut within a part.
_LEAST_LETTERS, _LONG = 4, 8
_PART = re.compile(r"(?<=[a-z])(?=[A-Z])")


class Atom(NamedTuple):
    """A piece of a word."""

    #: What parts it from the piece before.
    before: str
    text: str
    #: Pieces of less weight are kept first.
    weight: float


Word = tuple[Atom, ...]


def squeezed(words: Sequence[Word], room: int, mark: str) -> str:
    """Return the words in at most `room` columns.

    A word of which nothing has room is left out without a mark. Of the first atom without room its beginning
    is shown.
    """
    kept = [[len(atom.text) for atom in word] for word in words]
    text = _shown(words, kept, mark)
    if len(text) <= room:
        return text
    kept = [[0] * len(word) for word in words]
    left = room
    places = [(at, place) for at, word in enumerate(words) for place in range(len(word))]
    places.sort(key=lambda where: words[where[0]][where[1]].weight)
    for at, place in places:
        taken = _taken(words[at], kept[at], place, len(mark)) + (1 if at and not any(kept[at]) else 0)
        if taken <= left:
            kept[at][place] = len(words[at][place].text)
            left -= taken
    if not kept[0][0]:
        return cut(text, room, mark)
    for at, place in places:
        letters = words[at][place].text
        # At best it takes the place of a mark.
        if not kept[at][place] and beginning(letters, left + len(mark)):
            kept[at][place] = 1
            kept[at][place] = beginning(letters, room - len(_shown(words, kept, mark)) + 1)
            if kept[at][place]:
                break
    return _shown(words, kept, mark)


def beginning(text: str, most: int) -> int:
    """Return how many letters of a word to show, best to the end of a part; 0 where they say nothing."""
    if most < _LEAST_LETTERS or not text.isalpha():
        return 0
    in_part = most if len(text) >= _LONG else 0
    return max((end.start() for end in _PART.finditer(text, _LEAST_LETTERS, most + 1)), default=in_part)


def cut(text: str, room: int, mark: str) -> str:
    """Return a text with its middle left out."""
    if len(text) <= room:
        return text
    tail = max(room - len(mark), 2) // 2
    head = max(room - len(mark), 2) - tail
    return (text[:head] + mark + text[len(text) - tail :])[:room]


def _taken(word: Word, kept: Sequence[int], place: int, mark: int) -> int:
    """Return how much longer a word becomes if one more of its atoms is kept."""
    last = len(word) - 1
    gaps = (place > 0 and not kept[place - 1]) + (place < last and not kept[place + 1])
    # What is left out here becomes two gaps, one or none.
    taken = len(word[place].text) + mark * (gaps - any(kept))
    if place > 0 and kept[place - 1]:
        taken += len(word[place].before)
    if place < last and kept[place + 1]:
        taken += len(word[place + 1].before)
    return taken


def _shown(words: Sequence[Word], kept: Sequence[Sequence[int]], mark: str) -> str:
    """Return a name and the words that tell it apart, with as many letters of each atom as are kept."""
    texts = []
    for word, letters_of in zip(words, kept, strict=True):
        text, is_cut = "", False
        for atom, letters in zip(word, letters_of, strict=True):
            if letters:
                text += ("" if is_cut else atom.before) + atom.text[:letters]
                is_cut = False
            if letters < len(atom.text) and not is_cut:
                text += mark
                is_cut = True
        texts.append(text if any(letters_of) else "")
    details = ",".join(text for text in texts[1:] if text)
    return f"{texts[0]} {details}" if details else texts[0]


# The names of a list.

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

# What may tell a name from others of its function, the most telling first.
_STAGES: tuple[Callable[[str], Words], ...] = (
    lambda name: tuple(sorted(dict.fromkeys(kernel_name(name).words), key=kind_of)),
    lambda name: kernel_name(name).words,
    lambda name: kernel_name(name).scopes,
    lambda name: _words(kernel_name(name).parameters),
)


class ShortNames:
    """The names of a list, distinct, each short when it is asked for."""

    def __init__(self, names: Iterable[str]) -> None:
        self._alike = _families((name, short_name(name)) for name in names)
        bases = dict.fromkeys(base for base, _ in self._alike.values())
        self._families = _families((base, base[:_ALIKE]) for base in bases)
        self._atoms: dict[str, Mapping[str, int]] = {}
        self._details: dict[str, tuple[Word, ...]] = {}
        self._texts: dict[tuple[str, int, str], str] = {}

    def text(self, name: str, room: int | None, mark: str) -> str:
        """Return a name in at most `room` columns, in as many as it takes if None.

        Parameters
        ----------
        mark : what stands for what is left out of a word.
        """
        key = (name, 1_000_000 if room is None else room, mark)
        if key not in self._texts:
            base, alike = self._alike[name]
            if name not in self._details:
                self._details |= _details_of(base, alike)
            if base not in self._atoms:
                self._atoms |= telling_atoms(self._families[base][1])
            details = self._details[name]
            words = (_base_word(base, self._atoms[base], bool(details)), *details)
            self._texts[key] = squeezed(words, key[1], mark)
        return self._texts[key]


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


def _details_of(base: str, names: Sequence[str]) -> dict[str, tuple[Word, ...]]:
    """Return the template arguments to show of each name of a function."""
    found = tell_apart(names, _STAGES)
    families: dict[str, list[str]] = {}
    for word in sorted({word for words in found for word in words}):
        families.setdefault(word[:_ALIKE], []).append(word)
    atoms: dict[str, Mapping[str, int]] = {}
    for family in families.values():
        atoms |= telling_atoms(family)
    is_general = all(_GENERAL.fullmatch(atom.strip("_0123456789")) for _, atom in atoms_of(base))
    details = {}
    for name, telling in zip(names, found, strict=True):
        words = kernel_name(name).words
        shown: list[Word] = []
        if is_general and not any(kind_of(word) is Kind.TELLING for word in telling):
            # The word that says most of what a general function does.
            extra = next((word for word in words if kind_of(word) is Kind.TELLING), None)
            shown += [] if extra is None else [_extra(extra)]
        # Names by how much they tell, then types and numbers as they stand in the name.
        place = {word: at for at, word in reversed(list(enumerate(words)))}
        order = sorted(
            telling, key=lambda word: -1 if kind_of(word) is Kind.TELLING else place.get(word, len(words))
        )
        shown += [_detail(word, atoms[word], telling.index(word)) for word in order]
        details[name] = tuple(shown)
    return details


def _base_word(base: str, telling: Mapping[str, int], has_details: bool) -> Word:
    (_, first), *atoms = atoms_of(base)
    # Names differ at their ends: the last atom comes before those in the middle.
    weights = [_weight(text, telling, _BASE_TELLING, _REST) for _, text in atoms]
    if weights and weights[-1] == _REST:
        weights[-1] = _LAST_OF_BASE
    rest = (Atom(before, text, weight) for (before, text), weight in zip(atoms, weights, strict=True))
    # The end of a long beginning gives way to what tells more.
    head = (beginning(first, _HEAD) or _HEAD) if len(first) > _HEAD + 1 else len(first)
    end = (Atom("", first[head:], (_TILE if has_details else _REST) - 0.5),) if first[head:] else ()
    return (Atom("", first[:head], _BASE), *end, *rest)


def _detail(word: str, telling: Mapping[str, int], rank: int) -> Word:
    """Return a template argument with the atoms that tell it from others that begin alike, and its rank."""
    atoms = atoms_of(word)
    weight_if_telling = _TELLING + rank / (rank + 1)
    needed = telling or {atoms[0][1]: 0}
    return tuple(
        Atom(before, text, _weight(text, needed, weight_if_telling, _WORD)) for before, text in atoms
    )


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
