"""Labels of kernel groups: short names that keep what tells the groups of one list apart.

A label is the function's own name, those of its template arguments that tell it from others of the name, the
grid, the block where groups differ in it alone, and the device where there are several. Words consist of
atoms; in little room tiles, numbers and what differs are kept first, and a mark stands for what is left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from sampling.plan.plan_file import PlannedLaunch
from sampling.profile.names import name_parts, readable_name, short_name
from sampling.reduction.grouping import KernelGroup
from sampling.text import counted
from tui.terminal.printable import is_ascii, printable, shortened

Words = tuple[str, ...]
Dimensions = tuple[int, int, int]
Place = tuple[int | None, int | None]
"""A process and a device."""
Labelled = KernelGroup | PlannedLaunch
RowLabel = Callable[[int, int], str]
"""Makes the label of a row in at most so many columns."""


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


# How much a word tells of what a kernel does, the most first.
_TELLS, _NUMBER, _PLAIN_TYPE, _STOCK_WORD = range(4)


def _kind_of(word: str) -> int:
    if _STOCK.fullmatch(word):
        return _STOCK_WORD
    if word[0].isdigit() or word[0] == "-" or word in ("true", "false"):
        return _NUMBER
    return _PLAIN_TYPE if _PLAIN.fullmatch(word) else _TELLS


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

    `stages`: the words of a thing, those of the next stage where the one before does not tell things apart.
    Words that all have in common are left out.
    """
    needed: list[list[str]] = [[] for _ in things]
    alike = [list(range(len(things)))] if len(things) > 1 else []
    for words_of in stages:
        waiting = [(members, _own_words([words_of(things[at]) for at in members]), 0) for members in alike]
        alike = []
        while waiting:
            members, lists, at = waiting.pop()
            parts: dict[str | None, list[int]] = {}
            for each, words in enumerate(lists):
                parts.setdefault(words[at] if at < len(words) else None, []).append(each)
            for word, part in parts.items():
                together = [members[each] for each in part]
                if word is not None and len(parts) > 1:
                    for member in together:
                        needed[member].append(word)
                if word is None and len(parts) == 1:
                    alike.append(together)
                elif len(part) > 1:
                    waiting.append((together, [lists[each] for each in part], at + 1))
    return [tuple(dict.fromkeys(words)) for words in needed]


def _own_words(lists: Sequence[Words]) -> Sequence[Words]:
    """Return the lists without the words that all have equally often; whole where no others differ."""
    among = Counter(pair for words in lists for pair in Counter(words).items())
    common = {word for (word, _), number in among.items() if number == len(lists)}
    own = [tuple(word for word in words if word not in common) for words in lists]
    return own if len(set(own)) > 1 else lists


# At `_`, and between a word and a tile; in names without `_` at capitals too.
_BORDER = re.compile(r"(?<=[^_])(_+)(?=[^_])|(?<=[a-z]{4})(?=\d+x\d)")
_CAPITAL = re.compile(r"(?<=[a-z0-9])()(?=[A-Z])|(?<=[a-z]{4})(?=\d+x\d)")
_SIZES, _DIGIT = re.compile(r"\d+x\d+"), re.compile(r"\d")
# Names that have so many letters in common at their beginning are compared.
_ALIKE = 4


def atoms_of(word: str) -> list[tuple[str, str]]:
    """Return what a long word is made of: (what stands before it, atom), divided at `_`, else at capitals.

    >>> atoms_of("sgemm_tilesize128x64_tn"), atoms_of("RadixSort")
    ([('', 'sgemm'), ('_', 'tilesize'), ('', '128x64'), ('_', 'tn')], [('', 'Radix'), ('', 'Sort')])
    """
    parts = (_BORDER if "_" in word.strip("_") else _CAPITAL).split(word)
    return [("", parts[0]), *((parts[at] or "", parts[at + 1]) for at in range(1, len(parts), 2))]


def _telling_atoms(words: Iterable[str]) -> dict[str, Mapping[str, int]]:
    """Return the atoms that tell each word from those that begin alike, by rank: tiles and numbers first."""

    def in_order(word: str) -> Words:
        return tuple(atom for _, atom in atoms_of(word))

    def by_weight(word: str) -> Words:
        atoms = dict.fromkeys(in_order(word))
        return tuple(
            sorted(atoms, key=lambda atom: 0 if _SIZES.search(atom) else 1 if _DIGIT.search(atom) else 2)
        )

    telling: dict[str, Mapping[str, int]] = {}
    for family in _grouped((word[:_ALIKE], word) for word in words).values():
        for word, atoms in zip(family, tell_apart(family, (by_weight, in_order)), strict=True):
            telling[word] = {atom: rank for rank, atom in enumerate(atoms)}
    return telling


def _grouped(members: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for key, member in members:
        groups.setdefault(key, []).append(member)
    return groups


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
    text = _shown(words, [[len(atom.text) for atom in word] for word in words], mark)
    if len(text) <= room:
        return text
    kept, left = [[0] * len(word) for word in words], room
    places = [(at, place) for at, word in enumerate(words) for place in range(len(word))]
    places.sort(key=lambda where: words[where[0]][where[1]].weight)
    for at, place in places:
        before = len(_word_shown(words[at], kept[at], mark))
        kept[at][place] = len(words[at][place].text)
        # The first of a further word takes what parts it from the word before too.
        taken = len(_word_shown(words[at], kept[at], mark)) - before + (1 if at and not before else 0)
        if taken <= left:
            left -= taken
        else:
            kept[at][place] = 0
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


def _shown(words: Sequence[Word], kept: Sequence[Sequence[int]], mark: str) -> str:
    """Return a name and the words that tell it apart, with as many letters of each atom as are kept."""
    name, *details = (_word_shown(word, letters, mark) for word, letters in zip(words, kept, strict=True))
    rest = ",".join(filter(None, details))
    return f"{name} {rest}" if rest else name


def _word_shown(word: Word, kept: Sequence[int], mark: str) -> str:
    if not any(kept):
        return ""
    text, is_cut = "", False
    for atom, letters in zip(word, kept, strict=True):
        if letters:
            text += ("" if is_cut else atom.before) + atom.text[:letters]
            is_cut = False
        if letters < len(atom.text) and not is_cut:
            text += mark
            is_cut = True
    return text


# The names of a list.

# So many names of a list are compared with each other, beginning with those of the largest groups.
_MOST_COMPARED = 1_000

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

# An operator with the shapes and types of its tensors, as `--group-by operator` has it.
_OPERATOR = re.compile(r"(?:aten::)?(\S+) (\[\[.*\]\])((?: \S+)*)")
_SHAPE = re.compile(r"\[([\d, ]+)\]")

# What may tell a name from others of its function, the most telling first.
_STAGES: tuple[Callable[[str], Words], ...] = (
    lambda name: tuple(sorted(dict.fromkeys(_parts_of(name)[0]), key=_kind_of)),
    lambda name: _parts_of(name)[0],
    lambda name: _parts_of(name)[1],
    lambda name: _parts_of(name)[2],
)


def words_of_names(names: Iterable[str]) -> dict[str, tuple[Word, ...]]:
    """Return the words to show of each name: the function's own, and what tells it from others of it.

    An operator's are its own name, its shapes and its types.
    """
    operators = {name: found for name in names if (found := _OPERATOR.fullmatch(name))}
    of_base = _grouped((short_name(name), name) for name in names if name not in operators)
    telling = _telling_atoms(of_base)
    return {name: _operator_words(*found.groups()) for name, found in operators.items()} | {
        name: (_base_word(base, telling[base], bool(details)), *details)
        for base, alike in of_base.items()
        for name, details in _details_of(base, alike)
    }


def _operator_words(name: str, shapes: str, types: str) -> tuple[Word, ...]:
    sizes = [_BLANKS.sub("x", shape) for shape in _SHAPE.findall(shapes)]
    return tuple(
        (Atom("", word, _BASE + place),) for place, word in enumerate([name, *sizes, *types.split()])
    )


def _details_of(base: str, names: Sequence[str]) -> Iterator[tuple[str, list[Word]]]:
    """Yield each name of a function with the template arguments to show of it."""
    found = tell_apart(names, _STAGES)
    atoms = _telling_atoms(sorted({word for words in found for word in words}))
    is_general = all(_GENERAL.fullmatch(atom.strip("_0123456789")) for _, atom in atoms_of(base))
    for name, telling in zip(names, found, strict=True):
        words = _parts_of(name)[0]
        shown: list[Word] = []
        if is_general and all(_kind_of(word) != _TELLS for word in telling):
            # The word that says most of what a general function does: what it computes and its tiles first.
            extra = next((atoms_of(word) for word in words if _kind_of(word) == _TELLS), None)
            if extra is not None:
                first, *others = (Atom(*atom, _EXTRA if _FIGURE.search(atom[1]) else _LAST) for atom in extra)
                shown.append((first._replace(weight=_EXTRA), *others))
        # Names by how much they tell, then types and numbers as they stand in the name.
        place = {word: at for at, word in reversed(list(enumerate(words)))}
        for word in sorted(
            telling, key=lambda word: -1 if _kind_of(word) == _TELLS else place.get(word, len(words))
        ):
            rank, needed = telling.index(word), atoms[word] or {atoms_of(word)[0][1]: 0}
            if_needed = _TELLING + rank / (rank + 1)
            atoms_shown = (Atom(*atom, _weight(atom[1], needed, if_needed, _WORD)) for atom in atoms_of(word))
            shown.append(tuple(atoms_shown))
        yield name, shown


def _base_word(base: str, telling: Mapping[str, int], has_details: bool) -> Word:
    (_, first), *atoms = atoms_of(base)
    rest = [Atom(*atom, _weight(atom[1], telling, _BASE_TELLING, _REST)) for atom in atoms]
    if rest and rest[-1].weight == _REST:
        # Names differ at their ends: the last atom comes before those in the middle.
        rest[-1] = rest[-1]._replace(weight=_LAST_OF_BASE)
    # The end of a long beginning gives way to what tells more.
    head = (beginning(first, _HEAD) or _HEAD) if len(first) > _HEAD + 1 else len(first)
    end = [Atom("", first[head:], (_TILE if has_details else _REST) - 0.5)] if first[head:] else []
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
_KEY = re.compile(
    r"(.*?)(?: <<<([\dx?]+), ([\dx?]+)>>>)?(?: (?:process|rank) (\d+) device (\d+))?", re.DOTALL
)


class KernelLabels:
    """The labels of all groups of a list, which they tell apart; each is made when it is asked for.

    `places`: what a process and device are called; nothing where there is only one.
    """

    def __init__(self, groups: Sequence[Labelled], places: Mapping[Place, str]) -> None:
        self._groups, self._places = groups, places
        self._names = {name: place for place, name in enumerate(dict.fromkeys(each.name for each in groups))}
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
        # As it is mostly written: 256, 32x8.
        sizes = "x".join(map(str, group.block or ())).removesuffix("x1").removesuffix("x1")
        block = f" [{sizes}]" if sizes else ""
        place = self._places.get((group.process, group.device), "")
        device = f" {place}" if place else ""
        # The block stands there where grids are alike, else where other blocks occur and it fits.
        is_needed = len(self._blocks[group.name, group.grid, group.process, group.device]) > 1
        rest, more = grid + (block if is_needed else "") + device, grid + block + device
        if group.name not in self._words:
            first = self._names[group.name] // _MOST_COMPARED * _MOST_COMPARED
            self._words |= words_of_names([*islice(self._names, first, first + _MOST_COMPARED)])
        left = _NO_LIMIT if room is None else max(room - len(rest), _LEAST_NAME)
        name = squeezed(self._words[group.name], left, ELLIPSIS[is_ascii()])
        has_room = room is None or len(name + more) <= room
        return name, more if len(self._blocks[group.name]) > 1 and has_room else rest


def _fitted(parts: tuple[str, str], room: int | None) -> str:
    label = printable("".join(parts))
    return label if room is None else cut(label, room, ELLIPSIS[is_ascii()])


def _numbered(parts: list[tuple[str, str]], room: int | None) -> list[tuple[str, str]]:
    """Return the (name, rest) of labels; to the name of each that is there before a number is added."""
    taken, numbered = set(parts), list[tuple[str, str]]()
    seen = dict.fromkeys(taken, 0)
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


def place_names(places: Iterable[Place], *, ranks: bool) -> dict[Place, str]:
    """Return a short name for every (process, device), none where there is only one.

    It is the number of the device, or of the process, where that alone tells them apart; of ranks, by which
    people call the processes of a distributed run, always theirs.

    >>> place_names([(111, 0), (112, 1)], ranks=False), place_names([(0, 0), (1, 0)], ranks=False)
    ({(111, 0): 'gpu0', (112, 1): 'gpu1'}, {(0, 0): 'p0', (1, 0): 'p1'})
    >>> place_names([(0, 0), (1, 1)], ranks=True), place_names([(0, 0), (0, 1)], ranks=True)
    ({(0, 0): 'rank 0', (1, 1): 'rank 1'}, {(0, 0): 'rank 0 gpu0', (0, 1): 'rank 0 gpu1'})
    """
    known = sorted({(one, other) for one, other in places if one is not None and other is not None})
    if len(known) < 2:
        return {}
    if len({device for _, device in known}) == len(known) and not ranks:
        return {place: f"gpu{place[1]}" for place in known}
    word = "rank " if ranks else "p"
    if len({process for process, _ in known}) == len(known):
        return {place: f"{word}{place[0]}" for place in known}
    return {place: f"{word}{place[0]} gpu{place[1]}" for place in known}


def places_of_groups(groups: Sequence[KernelGroup]) -> dict[Place, str]:
    """Return the same of the processes and devices of kernel groups."""
    ranks = any(group.place.startswith("rank") for group in groups)
    return place_names(((group.process, group.device) for group in groups), ranks=ranks)


def place_lines(names: Mapping[Place, str], devices: Mapping[Place, str | None] | None = None) -> list[str]:
    """Return what each name stands for and the model of the GPU where it is known, the first few of many."""
    lines = []
    for place, name in names.items():
        model = (devices or {}).get(place)
        # What a rank is called says all but its GPU.
        said = [] if name.startswith("rank") else [f"process {place[0]}, device {place[1]}"]
        if said := said + ([model] if model else []):
            lines.append(f"{name}: {', '.join(said)}")
    more = len(lines) - _MOST_LINES
    if more > 1:
        lines[_MOST_LINES:] = [f"and {counted(more, 'more device')}: `kernelpoint info`"]
    return lines


def labels_of_rows(kernels: KernelLabels, rows: Sequence[tuple[str, int | None]]) -> RowLabel:
    """Return what makes the label of a row: its beginning, and the kernel that follows, None for none."""

    def label(number: int, room: int) -> str:
        text, kernel = rows[number]
        follows = "" if kernel is None else kernels.label(kernel, max(room - len(text), 1))
        return shortened(text + follows, room)

    return label


def labels_of(kernels: Iterable[Labelled], places: Mapping[Place, str]) -> RowLabel:
    """Return what makes the labels of rows that are kernels, the same for equal ones."""
    listed = [KernelGroup("", of.name, of.grid, of.block, of.process, of.device) for of in kernels]
    index = {key: number for number, key in enumerate(dict.fromkeys(listed))}
    return labels_of_rows(KernelLabels(list(index), places), [("", index[key]) for key in listed])


def group_title(text: str, groups: Sequence[KernelGroup], index: int, width: int) -> str:
    """Return a text and a group's key in a row; where the key is too long, the group's label."""
    whole = printable(f"{text} {groups[index].key}")
    if len(whole) <= width:
        return whole
    labels = KernelLabels(groups, places_of_groups(groups))
    return shortened(f"{text} {labels.label(index, max(width - len(text) - 1, 1))}", width)


def key_parts(key: str) -> KernelGroup:
    """Return the kernel group that a key is of; what it does not say is None.

    >>> key_parts("f(int) <<<8x1x1, 64x1x1>>> process 0 device 1").block
    (64, 1, 1)
    """
    found = _KEY.fullmatch(key)
    name, grid, block, process, device = found.groups() if found else (key, None, None, None, None)
    place = (None, None) if process is None or device is None else (int(process), int(device))
    return KernelGroup(key, str(name), _sizes(grid), _sizes(block), *place)


def _sizes(text: str | None) -> Dimensions | None:
    parts = () if text is None or "?" in text else tuple(map(int, text.split("x")))
    return (parts[0], parts[1], parts[2]) if len(parts) == 3 else None
