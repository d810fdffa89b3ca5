"""How a file is broken: blindly in its bytes, or in the values that its format holds."""

from __future__ import annotations

import copy
import gzip
import json
import random
import re
import sqlite3
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

_INTEGERS = (0, 1, 2, 127, 255, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1, 2**64 - 1)
_TEXT_NUMBERS = (
    *("-1", "0", "1e999", "-1e999", "1e30", "1e-320", "nan", "inf", "9223372036854775807", "0.5"),
    *("9223372036854775808", "18446744073709551616", "-9223372036854775809", "1" * 400, "null", "true"),
    *('"x"', "[]", "{}", "[" * 2000, '{"a":' * 2000, "", "0x10", "1_000", "\u0661", "2147483648"),
)
_JSON_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63 - 1, 2**63, 2**64, -(2**63) - 1, 10**30, 0.5, -0.0, 1e308),
    *(float("inf"), float("nan"), "", "x", "1e999", "\ud800", "\x00", [], {}, [None], {"a": 1}, [[1, 2, 3]]),
    *([1, 2], [1, 2, 3, 4], [2**40] * 3, ["a", "b", "c"], [[]], "9" * 5000, [0] * 3),
)
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


def changed(path: Path, rng: random.Random) -> None:
    """Break a file, or one file of a folder, in place."""
    if path.is_dir():
        files = sorted(path.iterdir())
        # The table of kernels is what most of the code reads.
        kernels = [file for file in files if "KERNEL" in file.name or "StringIds" in file.name]
        path = rng.choice(kernels if kernels and rng.random() < 0.6 else files)
    ways: list[Callable[[Path, random.Random], None]] = [_change_bytes]
    suffixes = path.suffixes
    if ".json" in suffixes:
        ways += [_change_json] * 3
    elif ".parquet" in suffixes:
        ways += [_change_column]
    elif ".arrow" in suffixes or ".arrows" in suffixes:
        ways += [_change_integer] * 2
    elif ".sqlite" in suffixes:
        ways += [_change_cell] * 2
    else:
        ways += [_change_number] * 2
    rng.choice(ways)(path, rng)


def _change_bytes(path: Path, rng: random.Random) -> None:
    data = path.read_bytes()
    packed = data[:2] == b"\x1f\x8b" and rng.random() < 0.7
    if packed:
        data = gzip.decompress(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4, 16))):
        data = rng.choice(_OF_BYTES)(bytearray(data), rng)
    path.write_bytes(gzip.compress(data, 1) if packed else data)


def _flipped(data: bytearray, rng: random.Random) -> bytes:
    if data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def _byte_set(data: bytearray, rng: random.Random) -> bytes:
    if data:
        data[rng.randrange(len(data))] = rng.choice(
            (0, 1, 0x7F, 0x80, 0xFF, 10, 13, 34, 44, rng.randrange(256))
        )
    return bytes(data)


def _cut(data: bytearray, rng: random.Random) -> bytes:
    return bytes(data[: rng.randrange(len(data) + 1)])


def _length_set(data: bytearray, rng: random.Random) -> bytes:
    """Overwrite what may be a length or an offset: an aligned integer."""
    size = rng.choice((1, 2, 4, 8))
    if len(data) >= size:
        place = rng.randrange(len(data) // size) * size
        order = rng.choice(("little", "big"))
        data[place : place + size] = (rng.choice(_INTEGERS) % (1 << 8 * size)).to_bytes(size, order)
    return bytes(data)


def _part_gone(data: bytearray, rng: random.Random) -> bytes:
    start = rng.randrange(len(data) + 1)
    del data[start : start + rng.choice((1, 4, 64, 1000))]
    return bytes(data)


def _part_twice(data: bytearray, rng: random.Random) -> bytes:
    start = rng.randrange(len(data) + 1)
    data[start:start] = data[start : start + rng.choice((1, 4, 64, 1000))]
    return bytes(data)


_OF_BYTES = (_flipped, _byte_set, _byte_set, _length_set, _length_set, _cut, _part_gone, _part_twice)


def _change_integer(path: Path, rng: random.Random) -> None:
    """Overwrite four or eight bytes that hold a small integer: in Arrow these are lengths and offsets."""
    data = bytearray(path.read_bytes())
    size = rng.choice((4, 8))
    places = [
        at
        for at in range(0, len(data) - size + 1, size)
        if 0 < int.from_bytes(data[at : at + size], "little") < 100_000
    ]
    for place in rng.sample(places, min(len(places), rng.choice((1, 1, 2, 8)))):
        before = int.from_bytes(data[place : place + size], "little")
        value = rng.choice((*_INTEGERS, before + 1, before - 1, before * 1000, -before, before + 2**20))
        data[place : place + size] = (value % (1 << 8 * size)).to_bytes(size, "little")
    path.write_bytes(data)


def _change_number(path: Path, rng: random.Random) -> None:
    data = path.read_bytes()
    packed = data[:2] == b"\x1f\x8b"
    if packed:
        data = gzip.decompress(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        found = list(_NUMBER.finditer(data))
        if not found:
            break
        place = rng.choice(found)
        data = data[: place.start()] + rng.choice(_TEXT_NUMBERS).encode() + data[place.end() :]
    path.write_bytes(gzip.compress(data, 1) if packed else data)


def _change_json(path: Path, rng: random.Random) -> None:
    if rng.random() < 0.3:
        _change_number(path, rng)
        return
    data = path.read_bytes()
    packed = data[:2] == b"\x1f\x8b"
    document = json.loads(gzip.decompress(data) if packed else data)
    for _ in range(rng.choice((1, 1, 2))):
        _change_value(document, rng)
    text = json.dumps(document).encode()
    path.write_bytes(gzip.compress(text, 1) if packed else text)


def _change_value(value: Any, rng: random.Random) -> None:
    """Walk down a document at random, and replace, remove or repeat what is there."""
    while value:
        key = rng.choice(list(value)) if isinstance(value, dict) else rng.randrange(len(value))
        child = value[key]
        if isinstance(child, dict | list) and child and rng.random() < 0.85:
            value = child
            continue
        deed = rng.random()
        if deed < 0.15:
            del value[key]
        elif deed < 0.2 and isinstance(value, list):
            value.append(copy.deepcopy(child))
        elif deed < 0.25:
            deep: Any = 1
            for _ in range(900):
                deep = [deep]
            value[key] = deep
        else:
            # A copy: what is put in twice may be changed, even by being put into itself.
            value[key] = copy.deepcopy(rng.choice(_JSON_VALUES))
        return


def _change_cell(path: Path, rng: random.Random) -> None:
    connection = sqlite3.connect(path)
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for _ in range(rng.choice((1, 1, 2, 4))):
        table = rng.choice([*tables, *(name for name in tables if "KERNEL" in name or name == "StringIds")])
        columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
        rows = [rowid for (rowid,) in connection.execute(f'SELECT rowid FROM "{table}"')]
        row = rng.choice(rows) if rows else None
        some = "" if rng.random() < 0.4 or row is None else f" WHERE rowid = {row}"
        values = (None, 0, -1, 2**63 - 1, -(2**63), 1.5, float("inf"), "x", "", b"\xff\x00", b"", "9" * 300)
        try:
            connection.execute(
                f'UPDATE "{table}" SET "{rng.choice(columns)}" = ?{some}', (rng.choice(values),)
            )
        except sqlite3.IntegrityError:
            continue
    connection.commit()
    connection.close()


def _change_column(path: Path, rng: random.Random) -> None:
    """Write a column of a Parquet file again with another type, or with values that nobody expects."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(path, memory_map=False, use_threads=False)
    rows = table.num_rows
    place = rng.randrange(table.num_columns)
    name = table.column_names[place]
    column = rng.choice(_COLUMNS)(rows, rng, pa)
    compression = rng.choice(("none", "snappy", "gzip", "zstd"))
    version = rng.choice(("1.0", "2.4", "2.6"))
    try:
        table = table.set_column(place, name, column)
        if rng.random() < 0.1:
            table = table.append_column(name, column)
        sink = pa.BufferOutputStream()
        pq.write_table(
            table,
            sink,
            compression=compression,
            version=version,
            use_dictionary=rng.random() < 0.5,
            store_schema=rng.random() < 0.7,
        )
        path.write_bytes(sink.getvalue())
    except (pa.ArrowException, TypeError, OverflowError):
        _change_bytes(path, rng)


def _of_type(kind: str, *values: Any) -> Callable[[int, random.Random, Any], Any]:
    def column(rows: int, rng: random.Random, pa: Any) -> Any:
        types = {
            "decimal128(38, 2)": pa.decimal128(38, 2),
            "decimal128(20, 0)": pa.decimal128(20, 0),
            "decimal256(70, 0)": pa.decimal256(70, 0),
            "list": pa.list_(pa.int64()),
            "struct": pa.struct([("a", pa.int64()), ("name", pa.string())]),
            "map": pa.map_(pa.string(), pa.int64()),
            "lists": pa.list_(pa.list_(pa.string())),
            "timestamp": pa.timestamp("ns"),
            "zoned": pa.timestamp("us", tz="UTC"),
            "duration": pa.duration("ns"),
        }
        chosen = types[kind] if kind in types else getattr(pa, kind)()
        return pa.array([rng.choice(values) for _ in range(rows)], type=chosen)

    return column


def _dictionary(values: tuple[Any, ...]) -> Callable[[int, random.Random, Any], Any]:
    return lambda rows, rng, pa: pa.array([rng.choice(values) for _ in range(rows)]).dictionary_encode()


_COLUMNS = (
    _of_type("decimal128(38, 2)", Decimal("1.50"), Decimal(10) ** 30, None),
    _of_type("decimal128(20, 0)", Decimal(5), Decimal(7)),
    _of_type("decimal256(70, 0)", Decimal(10) ** 60, Decimal(3)),
    _of_type("list", [1, 2], [], None),
    _of_type("struct", {"a": 1, "name": "x"}, None),
    _of_type("map", [("a", 1)], []),
    _of_type("lists", [["a"], []], None),
    _of_type("timestamp", 1, 2**62, None),
    _of_type("zoned", 1, 5),
    _of_type("duration", 1, 2**40),
    _of_type("float64", 1.0, float("inf"), float("-inf"), float("nan")),
    _of_type("float64", 1e300, 3.0, 1e19),
    _of_type("float32", 1.0, float("inf"), 9e18),
    _of_type("float16", 1.0, 2.0, float("inf")),
    _of_type("uint64", 1, 2**63, 2**64 - 1),
    _of_type("int64", -(2**63), 2**63 - 1, 5),
    _of_type("int64", 2**62, 2**62 + 5),
    _of_type("int8", 1, -128, 127),
    _of_type("uint8", 1, 255, None),
    _of_type("bool_", True, False, None),
    _of_type("null", None),
    _of_type("binary", b"\xff\xfe", b"", b"x"),
    _of_type("large_binary", b"\xff\xfe", b"a"),
    _of_type("large_string", "a", "", None),
    _of_type("string_view", "a", "b" * 50),
    _of_type("string", "1", "x", "\u202e", None),
    _of_type("date32", 1, 5),
    _of_type("date64", 86_400_000),
    _dictionary((1, 2, 3)),
    _dictionary((1.5, float("inf"))),
    _dictionary(("a", None)),
    _dictionary((b"\xff", b"b")),
    _dictionary((Decimal("1.5"),)),
)
