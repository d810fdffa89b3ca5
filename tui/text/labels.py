"""Labels of kernel groups: short names that keep what tells the groups of one list apart.

A label is the function's own name, those of its template arguments that tell it from others of the name, the
grid, the block where groups differ in it alone, and the device where there are several. Words consist of
atoms; in little room tiles, numbers and what differs are kept first, and a mark stands for what is left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple, Protocol

from sampling.profile.names import name_parts, readable_name, short_name
from sampling.reduction.grouping import KernelGroup
from sampling.text import counted
from tui.terminal.printable import is_ascii, printable, shortened

Words = tuple[str, ...]
Dimensions = tuple[int, int, int] | None
Place = tuple[int | None, int | None]
"""A process and a device."""


# The words of a name.

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


@lru_cache(maxsize=8192)
def _parts_of(full: str) -> tuple[Words, Words, Words]:
    """Return the words of a name's template arguments, scopes and parameters; none where it does not parse.

    Casts and scopes are left out of the arguments, and a list of numbers alone is a tile, 128x128x32.
    """
    parts = name_parts(readable_name(full).replace("<unnamed>::", ""))
    return _words(parts.arguments), (*parts.scopes, *_words(parts.scope_arguments)), _words(parts.parameters)


def _words(text: str) -> Words:
    text = _CAST.sub("", text.replace("(anonymous namespace)::", ""))
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

# So many names of a list are compared with each other, beginning with those of the largest groups.
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
    lambda name: tuple(sorted(dict.fromkeys(_parts_of(name)[0]), key=kind_of)),
    lambda name: _parts_of(name)[0],
    lambda name: _parts_of(name)[1],
    lambda name: _parts_of(name)[2],
)


def words_of_names(names: Iterable[str]) -> dict[str, tuple[Word, ...]]:
    """Return the words to show of each name: the function's own, and what tells it from others of it."""
    of_base = _grouped((short_name(name), name) for name in names)
    telling = _telling_by_beginning(of_base)
    shown = {}
    for base, alike in of_base.items():
        details = _details_of(base, alike)
        for name in alike:
            shown[name] = (_base_word(base, telling[base], bool(details[name])), *details[name])
    return shown


def _grouped(members: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for key, member in members:
        groups.setdefault(key, []).append(member)
    return groups


def _telling_by_beginning(words: Iterable[str]) -> dict[str, Mapping[str, int]]:
    """Return the atoms that tell each word from those that begin alike, by rank."""
    alike = _grouped((word[:_ALIKE], word) for word in words)
    return {word: atoms for family in alike.values() for word, atoms in telling_atoms(family).items()}


def _details_of(base: str, names: Sequence[str]) -> dict[str, tuple[Word, ...]]:
    """Return the template arguments to show of each name of a function."""
    found = tell_apart(names, _STAGES)
    atoms = _telling_by_beginning(sorted({word for words in found for word in words}))
    is_general = all(_GENERAL.fullmatch(atom.strip("_0123456789")) for _, atom in atoms_of(base))
    details = {}
    for name, telling in zip(names, found, strict=True):
        words = _parts_of(name)[0]
        shown: list[Word] = []
        if is_general and not any(kind_of(word) is Kind.TELLING for word in telling):
            # The word that says most of what a general function does: what it computes and its tiles first.
            extra = next((word for word in words if kind_of(word) is Kind.TELLING), "")
            weights = (
                _EXTRA if _FIGURE.search(text) or not at else _LAST
                for at, (_, text) in enumerate(atoms_of(extra))
            )
            shown += [_weighted(extra, weights)] if extra else []
        # Names by how much they tell, then types and numbers as they stand in the name.
        place = {word: at for at, word in reversed(list(enumerate(words)))}
        for word in sorted(
            telling, key=lambda word: -1 if kind_of(word) is Kind.TELLING else place.get(word, len(words))
        ):
            rank, needed = telling.index(word), atoms[word] or {atoms_of(word)[0][1]: 0}
            first = _TELLING + rank / (rank + 1)
            shown.append(_weighted(word, (_weight(text, needed, first, _WORD) for _, text in atoms_of(word))))
        details[name] = tuple(shown)
    return details


def _weighted(word: str, weights: Iterable[float]) -> Word:
    return tuple(Atom(*atom, weight) for atom, weight in zip(atoms_of(word), weights, strict=True))


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


def _weight(text: str, telling: Mapping[str, int], if_telling: float, otherwise: int) -> float:
    if text in telling:
        return if_telling + telling[text] / 1_000
    if _FIGURE.search(text):
        return _TILE
    return _GENERAL_ATOM if _GENERAL.fullmatch(text) else otherwise


# Labels of all groups of a list.

ELLIPSIS = "…", ".."
"""What stands for what is left out; the second in ASCII."""
_LEAST_NAME, _NO_LIMIT = 6, 1_000_000
# Labels of so many are made together, so that none is given twice; of more, each by itself.
_MOST_TOGETHER = 2_000
_MOST_LINES = 8
_KEY = re.compile(r"(.*?)(?: <<<([\dx?]+), ([\dx?]+)>>>)?(?: process (\d+) device (\d+))?", re.DOTALL)


class Labelled(Protocol):
    """What a label tells of: a kernel group, a launch, a kernel of two profiles; None is not known."""

    @property
    def name(self) -> str: ...
    @property
    def grid(self) -> Dimensions: ...
    @property
    def block(self) -> Dimensions: ...
    @property
    def process(self) -> int | None: ...
    @property
    def device(self) -> int | None: ...


class KernelLabels:
    """The labels of all groups of a list; each is made when it is asked for.

    Parameters
    ----------
    groups : all that the labels have to tell apart.
    places : what a process and device are called; nothing where there is only one.
    """

    def __init__(self, groups: Sequence[Labelled], places: Mapping[Place, str]) -> None:
        self._groups = groups
        self._places = places
        self._names = list(dict.fromkeys(group.name for group in groups))
        self._place_of = {name: place for place, name in enumerate(self._names)}
        self._words: dict[str, tuple[Word, ...]] = {}
        # Of each name, and of each shape of grid of a name in its place.
        self._blocks: dict[object, set[Dimensions]] = {}
        for group in groups:
            for key in (group.name, (group.name, group.grid, group.process, group.device)):
                self._blocks.setdefault(key, set()).update([group.block] if group.block else [])
        self._together: dict[tuple[int | None, bool], list[str]] = {}

    def __len__(self) -> int:
        return len(self._groups)

    def label(self, index: int, room: int | None = None) -> str:
        """Return the label of a group in at most `room` columns, in as many as it takes if None.

        Different groups have different labels, unless there are thousands or hardly any room.
        """
        if len(self) > _MOST_TOGETHER:
            return _fitted(self._parts(index, room), room)
        key = (room, is_ascii())
        if key not in self._together:
            parts = [self._parts(each, room) for each in range(len(self))]
            self._together[key] = [_fitted(each, room) for each in _numbered(parts, room)]
        return self._together[key][index]

    def _parts(self, index: int, room: int | None) -> tuple[str, str]:
        """Return the name, shortened, and the rest of the label."""
        group = self._groups[index]
        grid = "" if group.grid is None else f" {'x'.join(map(str, group.grid))}"
        block = ""
        if group.block is not None:
            # As it is mostly written: 256, 32x8.
            block = f" [{'x'.join(map(str, group.block)).removesuffix('x1').removesuffix('x1')}]"
        place = self._places.get((group.process, group.device), "")
        device = f" {place}" if place else ""
        # The block stands there where grids are alike, else where other blocks occur and it fits.
        is_needed = len(self._blocks[group.name, group.grid, group.process, group.device]) > 1
        rest = grid + (block if is_needed else "") + device
        left = _NO_LIMIT if room is None else max(room - len(rest), _LEAST_NAME)
        if group.name not in self._words:
            first = self._place_of[group.name] // _MOST_COMPARED * _MOST_COMPARED
            self._words |= words_of_names(self._names[first : first + _MOST_COMPARED])
        name, more = squeezed(self._words[group.name], left, ELLIPSIS[is_ascii()]), grid + block + device
        if len(self._blocks[group.name]) > 1 and (room is None or len(name + more) <= room):
            rest = more
        return name, rest


def _fitted(parts: tuple[str, str], room: int | None) -> str:
    label = printable("".join(parts))
    return label if room is None else cut(label, room, ELLIPSIS[is_ascii()])


def _numbered(parts: list[tuple[str, str]], room: int | None) -> list[tuple[str, str]]:
    """Return the (name, rest) of labels; to the name of each that is there before a number is added."""
    taken = set(parts)
    if len(taken) == len(parts):
        return parts
    numbered, seen = [], dict.fromkeys(taken, 0)
    for name, rest in parts:
        number = seen[name, rest] = seen[name, rest] + 1
        other = name
        while number > 1 and (other, rest) in taken:
            end = f"~{number}"
            left = len(name) if room is None else room - len(rest) - len(end)
            other = name[: max(left, 1)] + end
            number += 1
        taken.add((other, rest))
        numbered.append((other, rest))
    return numbered


def place_names(places: Iterable[Place]) -> dict[Place, str]:
    """Return a short name for every (process, device), none where there is only one.

    It is the number of the device, or of the process, where that alone tells them apart.

    >>> place_names([(111, 0), (112, 1)]), place_names([(0, 0), (1, 0)])
    ({(111, 0): 'gpu0', (112, 1): 'gpu1'}, {(0, 0): 'p0', (1, 0): 'p1'})
    """
    known = sorted({(one, other) for one, other in places if one is not None and other is not None})
    if len(known) < 2:
        return {}
    if len({device for _, device in known}) == len(known):
        return {place: f"gpu{place[1]}" for place in known}
    if len({process for process, _ in known}) == len(known):
        return {place: f"p{place[0]}" for place in known}
    return {place: f"p{place[0]} gpu{place[1]}" for place in known}


def place_lines(names: Mapping[Place, str], devices: Mapping[Place, str] | None = None) -> list[str]:
    """Return what each name stands for and the model of the GPU where it is known, the first few of many."""
    lines = []
    for place, name in names.items():
        model = (devices or {}).get(place)
        lines.append(f"{name}: process {place[0]}, device {place[1]}" + (f", {model}" if model else ""))
    more = len(lines) - _MOST_LINES
    if more > 1:
        lines[_MOST_LINES:] = [f"and {counted(more, 'more device')}: `kernelpoint info`"]
    return lines


def labels_of_rows(
    kernels: KernelLabels, rows: Sequence[tuple[str, int | None]]
) -> Callable[[int, int], str]:
    """Return what makes the label of a row: its beginning, and the kernel that follows, None for none."""

    def label(number: int, room: int) -> str:
        text, kernel = rows[number]
        follows = "" if kernel is None else kernels.label(kernel, max(room - len(text), 1))
        return shortened(text + follows, room)

    return label


def labels_of(kernels: Iterable[Labelled], places: Mapping[Place, str]) -> Callable[[int, int], str]:
    """Return what makes the labels of rows that are kernels, the same for equal ones."""
    listed = [KeyParts(each.name, each.grid, each.block, each.process, each.device) for each in kernels]
    index = {key: number for number, key in enumerate(dict.fromkeys(listed))}
    return labels_of_rows(KernelLabels(list(index), places), [("", index[key]) for key in listed])


def group_title(text: str, groups: Sequence[KernelGroup], index: int, width: int) -> str:
    """Return a text and a group's key in a row; where the key is too long, the group's label."""
    whole = printable(f"{text} {groups[index].key}")
    if len(whole) <= width:
        return whole
    labels = KernelLabels(groups, place_names((group.process, group.device) for group in groups))
    return shortened(f"{text} {labels.label(index, max(width - len(text) - 1, 1))}", width)


class KeyParts(NamedTuple):
    """What the key of a kernel group says; what it does not say is None."""

    name: str
    grid: Dimensions
    block: Dimensions
    process: int | None
    device: int | None


def key_parts(key: str) -> KeyParts:
    """Return the parts of a kernel group's key.

    >>> key_parts("f(int) <<<8x1x1, 64x1x1>>> process 0 device 1")
    KeyParts(name='f(int)', grid=(8, 1, 1), block=(64, 1, 1), process=0, device=1)
    """
    found = _KEY.fullmatch(key)
    if found is None:
        return KeyParts(key, None, None, None, None)
    name, grid, block, process, device = found.groups()
    place = (None, None) if process is None else (int(process), int(device))
    return KeyParts(name, _sizes(grid), _sizes(block), *place)


def _sizes(text: str | None) -> Dimensions:
    parts = () if text is None or "?" in text else tuple(map(int, text.split("x")))
    return (parts[0], parts[1], parts[2]) if len(parts) == 3 else None
