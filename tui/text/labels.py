"""Labels of kernel groups: short names that keep what tells the groups of one list apart.

A label is the function's own name, the template arguments that tell it from others of the name, the grid,
the block where groups differ in it alone, and the device where there are several. Where there is little room,
first the word that names the work stays (gemm, attention), then its tile, the beginning, and what the fewest
names of the list have; a mark stands for what is left out.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice, pairwise
from typing import NamedTuple

from sampling.plan.plan_file import PlannedLaunch
from sampling.profile.names import name_parts, readable_name, short_name
from sampling.reduction.grouping import KernelGroup
from sampling.text import counted
from tui.terminal.printable import beginning, cell_width, is_ascii, printable, shortened

Dimensions = tuple[int, int, int]
Place = tuple[int | None, int | None]
"""A process and a device."""
Labelled = KernelGroup | PlannedLaunch
RowLabel = Callable[[int, int], str]
"""Makes the label of a row in at most so many columns."""


# The words of a name: its template arguments, scopes and parameters, without what all code has.

# `(int)128` of Nsight Systems and `int=128` of nvprof are both 128; a list of numbers alone is a tile, 64x8.
_CAST = re.compile(r"\([a-z_][a-z_0-9 ]*\)(?=-?\d)|\b\w+=(?=-?\d)")
_NUMBERS = re.compile(r"<\s*(-?\d+(?:\s*,\s*-?\d+)+)\s*>")
_SCOPE = re.compile(r"\b\w+::(?![{\[(]|operator\b)")
_TOKEN = re.compile(r"#?-?\d[\w.]*|[^\W\d]\w*")
_BLANKS = re.compile(r"[\s,]+")
# Types of numbers, what wraps the function that matters in PyTorch, CUB, Thrust and CUTLASS, C++ itself.
_STOCK = re.compile(
    r"(?:float|double|half|int|long|short|char|bool|unsigned|signed|void|size_t|u?int\d+(?:_t)?|__half|half_t|"
    r"Half|BFloat16|bfloat16(?:_t)?|__nv_bfloat16|__hip_bfloat16|float\d+_t|tfloat32_t|float_e\w+|nullptr_t)[234]?|"
    "const|volatile|lambda|operator|instance|auto|decltype|enum|struct|class|typename|unnamed|std|detail|"
    "gpu_kernel_impl(?:_nocast)?|BinaryFunctor|[AB]?UnaryFunctor|func_wrapper_t|ReduceOp|[Aa]rray|vector|tuple|"
    "TensorIterator(?:Base)?|(?:Trivial)?OffsetCalculator|(?:Load|Store)With(?:out)?Cast|TensorListMetadata|"
    "TensorInfo|Params|integral_constant|C|_|#.*"
)
# How much a word tells of what a kernel does, the most first.
_NAME, _NUMBER, _COMMON = range(3)


class Word(NamedTuple):
    """A word of a name that may tell it from others."""

    #: Arguments, the same by where they stand, scopes, parameters.
    stage: int
    kind: int
    position: int
    text: str
    #: Equal words tell nothing.
    key: str


@lru_cache(maxsize=8192)
def _list_words(name: str) -> tuple[Word, ...]:
    parts = name_parts(readable_name(name).replace("<unnamed>::", ""))
    arguments = _split_words(parts.arguments)
    scopes = (*parts.scopes, *_split_words(parts.scope_arguments))
    words = {
        f"{stage} {position if stage == 1 else ''} {text}": (stage, position, text)
        for stage, texts in enumerate((arguments, arguments, scopes, _split_words(parts.parameters)))
        for position, text in reversed([*enumerate(texts)])
    }
    return tuple(
        Word(stage, _word_kind(text), position, text, key) for key, (stage, position, text) in words.items()
    )


def _split_words(text: str) -> list[str]:
    text = _CAST.sub("", text.replace("(anonymous namespace)::", ""))
    text = _NUMBERS.sub(lambda match: f"<{_BLANKS.sub('x', match[1])}>", text)
    return [printable(word) for word in _TOKEN.findall(_SCOPE.sub("", text))]


def _word_kind(word: str) -> int:
    if word[0].isdigit() or word[0] == "-" or word in ("true", "false"):
        return _NUMBER
    return _COMMON if _STOCK.fullmatch(word) else _NAME


def _in_order(words: Iterable[Word]) -> list[Word]:
    """Return names, then numbers and types, each as they stand."""
    return sorted(words, key=lambda word: (word.kind != _NAME, word.stage // 2, word.position))


def differing_words(names: Sequence[str]) -> list[list[Word]]:
    """Return the words of each name that tell it from the others, in the order of the name.

    Of a group of names that are not yet told apart each takes the word that says most, the rarest of these;
    those with the same word are the next group. Words that a whole group has tell nothing.
    """
    words = [_list_words(name) for name in names]
    telling_words: list[list[Word]] = [[] for _ in names]
    groups: list[Sequence[int]] = [range(len(names))] if len(names) > 1 else []
    while groups:
        members = groups.pop()
        counts = Counter(word.key for member in members for word in words[member])
        subgroups: dict[str, list[int]] = {}
        for member in members:
            words[member] = tuple(word for word in words[member] if counts[word.key] < len(members))
            if words[member]:
                best = min(words[member], key=lambda word: (*word[:2], counts[word.key], word.position))
                telling_words[member].append(best)
                subgroups.setdefault(best.key, []).append(member)
        groups += [subgroup for subgroup in subgroups.values() if len(subgroup) > 1]
    return [_in_order(telling) for telling in telling_words]


# A name as pieces, of which as many are shown as have room.

# What kernels compute, in their makers' words, with what is said of it in front: s1688gemm.
_WORK = re.compile(
    r"(?:(?<![a-z])[a-z]?\d*)?"
    r"(?i:gemm|gemv|nvjet|cijk|matmul|spmm|spmv|(?<![a-z])(?:add|b|badd)?mm(?![a-z])|"
    r"conv(?:olve|olution|\dd)?(?!er)|winograd|[wd]grad|fprop|attention|attn|fmha|flash|(?<![a-z])mla(?![a-z])|soft_?max|(?:layer|batch|group|rms)_?norm|"
    r"norm(?!al)|sort|scan(?!ner)|all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|send_?recv|broadcast|"
    r"embedding|rotary|top_?k|transpose|copy|memset|dropout|gelu|silu|relu|cross_?entropy|adam|histogram|fft)"
)
# What they compute element by element, or gather, where none of these is said: AddFunctor, splitKreduce.
_PLAIN_WORK = (
    "add|sub|mul|div|neg|abs|pow|exp|(?:log_?)?sigmoid|log|r?sqrt|sin|cos|(?:hard)?tanh|fill|where|compare|"
    "clamp|sum|mean|reduce|cat|gather|scatter|(?:max_?|avg_?)?pool|loss|arange"
)
_ELEMENTWISE = re.compile(f"(?:(?<![a-z])(?:{_PLAIN_WORK})|(?=[A-Z])(?i:{_PLAIN_WORK}))(?![a-z])")
# Parted at `_`, at capitals, and before a tile.
_PIECE = re.compile(r"(_*)([A-Z]*[a-z]{4,}(?=\d+x\d)|[A-Z]*[^A-Z_]+|[A-Z]+|_+$)")
# Fewer letters of a piece that is cut say nothing.
_LEAST_LETTERS = 4
_TILE = re.compile(r"\d+x\d")
# Columns beside the word that names the work.
_MARKS = 2
_IS_WORK, _IS_TILE, _IS_FIRST, _IS_DETAIL, _IS_OTHER = range(5)


class Piece(NamedTuple):
    """A part of a name that is shown or left out."""

    #: What parts it from the piece before.
    before: str
    text: str
    #: Pieces of lower rank are shown first, among them those that come first.
    rank: tuple[int, int] = (0, 0)


def _least_room(pieces: Sequence[Piece]) -> int:
    """Return the columns of the word that names the work, with a mark on both sides."""
    works = (cell_width(piece.text) + _MARKS for piece in pieces if piece.rank[0] == _IS_WORK)
    return max(works, default=0)


def _find_work(word: str) -> re.Match[str] | None:
    return _WORK.search(word) or _ELEMENTWISE.search(word)


def _divide(word: str, before: str) -> list[Piece]:
    """Return the pieces of a word, what names the work one of them; `before`: what stands before it."""
    if match := _find_work(word):
        head = word[: match.start()].rstrip("_")
        work = (word[len(head) : match.start()], match[0])
        texts = [*_PIECE.findall(head), work, *_PIECE.findall(word[match.end() :])]
    else:
        texts = _PIECE.findall(word) or [("", word)]
    (_, first), *rest = texts
    return [Piece(before + texts[0][0], first), *(Piece(parting, text) for parting, text in rest)]


# An operator with the shapes and types of its tensors, as `--group-by operator` has it.
_OPERATOR = re.compile(r"(?:aten::)?(\S+) (\[\[.*\]\])((?: \S+)*)")
_SHAPE = re.compile(r"\[([\d, ]+)\]")


def name_pieces(names: Iterable[str]) -> dict[str, list[Piece]]:
    """Return the pieces of each name: of the function's own, and of what tells it from others of it.

    An operator's are its own name, its shapes and its types.
    """
    details: dict[str, tuple[str, list[str]]] = {}
    functions: dict[str, list[str]] = {}
    for name in names:
        if operator := _OPERATOR.fullmatch(name):
            shapes = [_BLANKS.sub("x", shape) for shape in _SHAPE.findall(operator[2])]
            details[name] = operator[1], [*shapes, *operator[3].split()]
        else:
            functions.setdefault(short_name(name), []).append(name)
    for function, members in functions.items():
        for name, words in zip(members, differing_words(members), strict=True):
            details[name] = printable(function), _add_work(function, name, words)
    pieces = {name: _label_pieces(*detail) for name, detail in details.items()}
    _rank_pieces(pieces.values())
    return pieces


def _rank_pieces(labels: Iterable[list[Piece]]) -> None:
    """Rank pieces of a kind by how many labels that begin alike have them; what all have comes last."""
    families: dict[str, list[list[Piece]]] = {}
    for pieces in labels:
        families.setdefault(pieces[0].text, []).append(pieces)
    for family in families.values():
        counts = Counter(text for pieces in family for text in {piece.text for piece in pieces})
        for pieces in family:
            for index, piece in enumerate(pieces):
                kind, number = piece.rank[0], counts[piece.text]
                if kind in (_IS_TILE, _IS_DETAIL) and 1 < number == len(family):
                    kind = _IS_OTHER
                pieces[index] = piece._replace(rank=(kind, number))


def _add_work(function: str, name: str, words: Sequence[Word]) -> list[str]:
    """Return the texts of the words to show; of a function that does not name its work, what does."""
    if not _WORK.search(function):
        arguments = [word for word in _list_words(name) if word.stage == 0 and word.kind == _NAME]
        arguments.sort(
            key=lambda word: (*(not work.search(word.text) for work in (_WORK, _ELEMENTWISE)), word.position)
        )
        is_told = any(word.kind == _NAME for word in words)
        if arguments and (not is_told or _find_work(arguments[0].text)):
            words = _in_order({*words, arguments[0]})
    return [*dict.fromkeys(word.text for word in words)]


def _label_pieces(function: str, details: Sequence[str]) -> list[Piece]:
    """Return the pieces of a function's own name and of further words, with their ranks."""
    pieces = _divide(function, "")
    ranks = [_IS_FIRST, *[_IS_OTHER] * (len(pieces) - 1)]
    for position, word in enumerate(details):
        pieces += _divide(word, "," if position else " ")
        ranks += [_IS_DETAIL] * (len(pieces) - len(ranks))
    # The first tile alone: further ones are steps of the work within it.
    for kind, patterns in ((_IS_TILE, (_TILE,)), (_IS_WORK, (_WORK, _ELEMENTWISE))):
        places = (
            index for pattern in patterns for index, piece in enumerate(pieces) if pattern.search(piece.text)
        )
        if (place := next(places, None)) is not None:
            ranks[place] = kind
    return [piece._replace(rank=(rank, 0)) for piece, rank in zip(pieces, ranks, strict=True)]


def fit_pieces(pieces: Sequence[Piece], room: int) -> str:
    """Return the pieces in at most `room` columns: as many of low rank as fit, one more cut at its end."""
    full_name = "".join(piece.before + piece.text for piece in pieces)
    if cell_width(full_name) <= room:
        return full_name
    mark, texts, cut = ELLIPSIS[is_ascii()], {-1: "", len(pieces): ""}, -1
    # The pieces that are shown, between the two ends.
    indices, left = [-1, len(pieces)], room - len(mark)

    def join(first: int, second: int) -> str:
        """Return what stands between two that are shown: what parts them, or a mark."""
        if second > first + 1 or first == cut >= 0:
            return mark
        return pieces[second].before if second < len(pieces) else ""

    for index in sorted(range(len(pieces)), key=lambda index: pieces[index].rank):
        place = bisect(indices, index)
        first, second = indices[place - 1], indices[place]
        text = pieces[index].text
        room_now = left + len(join(first, second)) - len(join(first, index))
        if cell_width(text) + len(join(index, second)) > room_now:
            letters = min(room_now - len(mark), cell_width(text) - 1)
            if pieces[index].rank[0] == _IS_WORK:
                # In ASCII one mark may have room; else nothing of the name has.
                has_room = cell_width(text) + _MARKS <= room
                return beginning(f"{mark}{text}{mark}", room) if has_room else shortened(full_name, room)
            if cut >= 0 or letters < _LEAST_LETTERS or not text.isalpha():
                continue
            text, cut = beginning(text, letters), index
        texts[index], left = text, room_now - cell_width(text) - len(join(index, second))
        indices.insert(place, index)
    if len(indices) == 2:
        return shortened(full_name, room)
    return "".join(join(*pair) + texts[pair[1]] for pair in pairwise(indices))


# Labels of all groups of a list.

ELLIPSIS = "…", ".."
"""What stands for what is left out; the second in ASCII."""
_LEAST_NAME, _NO_LIMIT = 6, 1_000_000
# So many names of a list are compared with each other, beginning with those of the largest groups.
_MOST_COMPARED = 1_000
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
        self._names = {
            name: number for number, name in enumerate(dict.fromkeys(group.name for group in groups))
        }
        self._pieces: dict[str, list[Piece]] = {}
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
        columns = _NO_LIMIT if room is None else room
        if len(self) > _MOST_TOGETHER:
            return self._make(index, columns)
        key = (room, is_ascii())
        if key not in self._together:
            self._together[key] = self._make_all(columns)
        return self._together[key][index]

    def _make_all(self, room: int) -> list[str]:
        """Return the labels of all groups; where a name comes again, a number stands behind it."""
        labels = [self._make(index, room) for index in range(len(self))]
        labels_in_use, numbers = set(labels), Counter[str]()
        for index, label in enumerate(labels):
            numbers[label] += 1
            numbered = label
            while numbers[label] > 1 and numbered in labels_in_use:
                numbered = self._make(index, room, f"~{numbers[label]}")
                if numbered == label:
                    break
                numbers[label] += numbered in labels_in_use
            labels[index] = numbered
            labels_in_use.add(numbered)
        return labels

    def _make(self, index: int, room: int, number: str = "") -> str:
        """Return the label of a group: its name, a number where that has room, grid, block and device."""
        group = self._groups[index]
        pieces = self._name_pieces(group.name)
        grid = "" if group.grid is None else f" {'x'.join(map(str, group.grid))}"
        # As it is mostly written: 256, 32x8.
        sizes = "x".join(map(str, group.block or ())).removesuffix("x1").removesuffix("x1")
        block = f" [{sizes}]" if sizes else ""
        place = self._places.get((group.process, group.device), "")
        device = f" {place}" if place else ""
        # The block stands there where grids are alike, else where other blocks occur and it fits.
        is_needed = len(self._blocks[group.name, group.grid, group.process, group.device]) > 1
        width = sum(cell_width(piece.before + piece.text) for piece in pieces)
        if not is_needed and len(self._blocks[group.name]) > 1:
            is_needed = width + len(number + grid + block + device) <= room
        least_width = min(max(_least_room(pieces), _LEAST_NAME), width)
        number = number if least_width + len(number) <= room else ""
        # The grid keeps its digits: what stands behind it gives way as a whole.
        forms = f"{grid}{block if is_needed else ''}{device}", f"{grid}{device}", grid
        room_behind = room - least_width - len(number)
        behind = next((form for form in forms if len(form) <= room_behind), grid)
        name = fit_pieces(pieces, min(max(room - len(behind) - len(number), least_width), room)) + number
        return name + shortened(behind, room - cell_width(name))

    def _name_pieces(self, name: str) -> Sequence[Piece]:
        if name not in self._pieces:
            first = self._names[name] // _MOST_COMPARED * _MOST_COMPARED
            self._pieces |= name_pieces([*islice(self._names, first, first + _MOST_COMPARED)])
        return self._pieces[name]


def place_names(places: Iterable[Place], *, ranks: bool) -> dict[Place, str]:
    """Return a short name for every (process, device), none where there is only one.

    It is the number of the device, or of the process, where that alone tells them apart; of ranks, by which
    people call the processes of a distributed run, always theirs.

    >>> place_names([(111, 0), (112, 1)], ranks=False), place_names([(0, 0), (1, 0)], ranks=False)
    ({(111, 0): 'gpu0', (112, 1): 'gpu1'}, {(0, 0): 'p0', (1, 0): 'p1'})
    >>> place_names([(0, 0), (1, 1)], ranks=True), place_names([(0, 0), (0, 1)], ranks=True)
    ({(0, 0): 'rank 0', (1, 1): 'rank 1'}, {(0, 0): 'rank 0 gpu0', (0, 1): 'rank 0 gpu1'})
    """
    full_places = sorted(
        {(process, device) for process, device in places if process is not None and device is not None}
    )
    if len(full_places) < 2:
        return {}
    if len({device for _, device in full_places}) == len(full_places) and not ranks:
        return {place: f"gpu{place[1]}" for place in full_places}
    word = "rank " if ranks else "p"
    if len({process for process, _ in full_places}) == len(full_places):
        return {place: f"{word}{place[0]}" for place in full_places}
    return {place: f"{word}{place[0]} gpu{place[1]}" for place in full_places}


def group_places(groups: Sequence[KernelGroup]) -> dict[Place, str]:
    """Return the same of the processes and devices of kernel groups."""
    ranks = any(group.place.startswith("rank") for group in groups)
    return place_names(((group.process, group.device) for group in groups), ranks=ranks)


def place_lines(names: Mapping[Place, str], devices: Mapping[Place, str | None] | None = None) -> list[str]:
    """Return what each name stands for and the model of the GPU where it is known, the first few of many."""
    lines = []
    for place, name in names.items():
        model = (devices or {}).get(place)
        # What a rank is called says all but its GPU.
        facts = [] if name.startswith("rank") else [f"process {place[0]}, device {place[1]}"]
        if facts := facts + ([model] if model else []):
            lines.append(f"{name}: {', '.join(facts)}")
    hidden = len(lines) - _MOST_LINES
    if hidden > 1:
        lines[_MOST_LINES:] = [f"and {counted(hidden, 'more device')}: `kernelpoint info`"]
    return lines


def label_rows(kernels: KernelLabels, rows: Sequence[tuple[str, int | None]]) -> RowLabel:
    """Return what makes the label of a row: its beginning, and the kernel that follows, None for none."""

    def label(number: int, room: int) -> str:
        text, kernel = rows[number]
        follows = "" if kernel is None else kernels.label(kernel, max(room - cell_width(text), 1))
        return shortened(text + follows, room)

    return label


def label_kernels(kernels: Iterable[Labelled], places: Mapping[Place, str]) -> RowLabel:
    """Return what makes the labels of rows that are kernels, the same for equal ones."""
    listed = [
        KernelGroup("", kernel.name, kernel.grid, kernel.block, kernel.process, kernel.device)
        for kernel in kernels
    ]
    index = {key: number for number, key in enumerate(dict.fromkeys(listed))}
    return label_rows(KernelLabels(list(index), places), [("", index[key]) for key in listed])


def group_title(text: str, groups: Sequence[KernelGroup], index: int, width: int) -> str:
    """Return a text and a group's key in a row; where the key is too long, the group's label."""
    title = printable(f"{text} {groups[index].key}")
    if cell_width(title) <= width:
        return title
    labels = KernelLabels(groups, group_places(groups))
    return shortened(f"{text} {labels.label(index, max(width - cell_width(text) - 1, 1))}", width)


def key_parts(key: str) -> KernelGroup:
    """Return the kernel group that a key is of; what it does not say is None.

    >>> key_parts("f(int) <<<8x1x1, 64x1x1>>> process 0 device 1").block
    (64, 1, 1)
    """
    match = _KEY.fullmatch(key)
    name, grid, block, process, device = match.groups() if match else (key, None, None, None, None)
    place = (None, None) if process is None or device is None else (int(process), int(device))
    return KernelGroup(key, str(name), _sizes(grid), _sizes(block), *place)


def _sizes(text: str | None) -> Dimensions | None:
    parts = () if text is None or "?" in text else tuple(map(int, text.split("x")))
    return (parts[0], parts[1], parts[2]) if len(parts) == 3 else None
