"""The command contract as JSON schemas; a command may say more than its schema asks for."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def _list(items: Schema, least: int = 0) -> Schema:
    return {"type": "array", "items": items, "minItems": least}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _one_of(words: str) -> Schema:
    return {"enum": words.split()}


def _number(of: str, **limits: int) -> Schema:
    return {"type": of, "minimum": 0} | limits


TEXT: Schema = {"type": "string"}
TYPES: dict[str, Schema] = {
    "text": TEXT,
    "bool": {"type": "boolean"},
    "integer": {"type": "integer"},
    "count": _number("integer", minimum=1),
    "index": _number("integer"),
    "ns": _number("integer"),
    "number": _number("number"),
    "fraction": _number("number", maximum=1),
    "positive": {"type": "number", "exclusiveMinimum": 0},
    "path": TEXT | {"pattern": "^[LR]*$"},
    "digest": TEXT | {"pattern": "^[0-9a-f]{16}$"},
    "sha256": TEXT | {"pattern": "^[0-9a-f]{64}$"},
    "method": _one_of(
        "joint root stem allegro random pks two-level sieve photon tbpoint first-instructions "
        "single-iteration embedding"
    ),
    "rule": _one_of("additive published equations proportional linear power-law logarithmic"),
    "verdict": _one_of("split keep"),
    "object": {"type": "object"},
}
TYPES["dimensions"] = _or_null(_list(TYPES["count"], 3) | {"maxItems": 3})


def _object(listed: str = "", **others: Schema) -> Schema:
    """Return an object of `name name: type, ...`; `?` allows null, `*` is a list, `+` a list of some."""
    properties = {}
    for part in filter(None, listed.split(", ")):
        names, _, kind = part.partition(": ")
        schema = TYPES[kind.rstrip("?*+")]
        for mark in kind[len(kind.rstrip("?*+")) :]:
            schema = _or_null(schema) if mark == "?" else _list(schema, int(mark == "+"))
        properties |= dict.fromkeys(names.split(), schema)
    properties |= others
    return {"type": "object", "properties": properties, "required": list(properties)}


# What is promised of the simulated total: the larger of bound_with_noise and expected_interval.
PROMISED = "promised_error: number?"
BOUNDS = "bound group_bound: number?"
ERRORS = "error_mean error_p95: number"
SEVERITY = _one_of("note warning error")
FINDING = _object("code message remedy: text", severity=SEVERITY)
_GROUP = (
    "rank launches: count, key name: text, grid block: dimensions, process device: index?, "
    "total_duration_ns min_ns max_ns: ns, share: fraction?, mean_ns std_ns: number, cov: number?"
)
GROUP, PLANNED_GROUP = _object(_GROUP), _object(f"{_GROUP}, clusters samples: count?, pooled: bool")
RANGE = _object(
    "path name: text, depth first last: index, times launches: count, duration_ns: ns?, share: fraction?",
    source=_one_of("named found"),
)
NODE = _object(
    "index depth: index, path: path, launches samples_old: count, mean_ns std_ns tau_old_ns: number, "
    "threshold_ns: ns?, tau_new_ns: number?, verdict: verdict, reason: text, left right: count?",
    samples_new=_or_null(_list(TYPES["count"], 2) | {"maxItems": 2}),
)
POOLED = _object("groups: index, share: fraction")
RELAXATION = _object(
    "speedup_before speedup: number, bound machine_hours: number?",
    option=_one_of("epsilon group_epsilon min_samples noise_floor kernel_spread no_pool group_by method"),
    **{key: {"type": ["number", "string", "boolean"]} for key in ("from", "to")},
)
HOURS = "machine_hours longest_launch_hours: number?"
SUMMARY = _object(
    f"device: text?, busy: fraction*, launches: count, total_duration_ns: ns, promise: text, {HOURS}, "
    "next: text+",
    kinds={"type": "object", "additionalProperties": TYPES["fraction"]},
    findings=_list(FINDING),
    groups=_list(PLANNED_GROUP, 1) | {"maxItems": 10},
    plan=_object(f"method: method, strata samples: count, speedup: number?, {PROMISED}, {BOUNDS}"),
    pooled=POOLED,
    binding=_list(RELAXATION),
)
SIDE = _object("launches: index, total_ns: ns, mean_ns: number?, share: fraction")
DIFFERENCE = _object(
    "before after: text, total_before_ns total_after_ns: ns, ratio: number?, confidence: fraction",
    kernels=_list(
        _object(
            "key name: text, grid block: dimensions, process device: index?, change_ns: integer, "
            "ratio low high: number?",
            status=_one_of("both appeared vanished"),
            matched_by=_or_null(_one_of("launch name short-name stem-script operator")),
            before=SIDE,
            after=SIDE,
        ),
        1,
    ),
)
ESTIMATE = _object(
    "promise_met: bool?",
    metrics=_list(
        _object(
            "metric: text, total low high degrees_of_freedom: number?, confidence: fraction, "
            "incomplete: bool, missing: index*, share_missing: fraction?",
            method=_one_of("declared-times-seen exact none"),
        ),
        1,
    ),
    groups=_list(_object("key metric: text, total: number?")),
    seen=_or_null(
        _object("variance_ratio degrees_of_freedom: number, share declared_share: fraction, exceeds: bool")
    ),
    next=_list(_object("id: index")),
)
ON_PROFILE = (
    f"profile: text, method: method, applicable: bool, reason: text?, {BOUNDS}, "
    "speedup error_mean error_p95 error_max: number?, within_epsilon: fraction?"
)

RESULTS: dict[str, Schema] = {
    "difference": DIFFERENCE,
    "summary": SUMMARY,
    "open": SUMMARY,
    "demo": SUMMARY,
    "info": _object(
        "format: text, launches names kernel_groups processes: count, total_duration_ns: ns, "
        "streams: count?, span_ns: ns?",
        devices=_list(_object("process device: index, rank: index?, launches: count"), 1),
        findings=_list(FINDING),
    ),
    "groups": _list(GROUP, 1),
    "ranges": _list(RANGE),
    "ranks": _list(
        _object(
            "process device: index, rank: index?, launches: count, "
            "kernel_ns compute_ns communication_ns: ns, "
            "waiting_ns: ns?, compute_over_median: number?, busy_share overlap_share: fraction?, "
            "error_by_kernel: number",
            error_for_all={"type": "number"},
        ),
        1,
    ),
    "histogram": _object(
        "counts: index+",
        edges_ns=_list(TYPES["number"], 2),
        clusters=_list(_object("low_ns high_ns: ns, launches: count, counts: index+"), 1),
    ),
    "timeline": _object(
        "key: text, rank: count",
        by=_one_of("launch time"),
        bins=_list(
            _object(
                "first last: index?, start_ns min_ns max_ns: ns?, launches drawn: index, mean_ns: number?"
            ),
            1,
        ),
        ranges=_list(RANGE),
        iterations=_list(RANGE),
    ),
    "tree": _list(NODE, 1),
    "sample": _object(
        "method: method, launches strata samples: count, total_duration_ns sampled_duration_ns: ns, "
        f"speedup: number?, {PROMISED}, {BOUNDS}, bound_with_noise group_bound_with_noise: number?, "
        f"promise: text, expected_interval estimate_ns error floor_ns: number?, epsilon: fraction?, {HOURS}",
        cost=_or_null(_object("metric: text, share: fraction, decides: bool")),
        calibrated=_or_null(
            _object("draws: count, within_epsilon: fraction, simulated_within_epsilon: fraction?")
        ),
        pooled=POOLED,
        judged=_or_null(_object(f"repeats: count, {ERRORS}, within_epsilon: fraction?")),
        binding=_or_null(_list(RELAXATION)),
    ),
    "trade-off": _list(
        _object(
            f"epsilon: fraction, samples strata: count?, sampled_duration_ns speedup: number?, {PROMISED}, "
            f"{BOUNDS}, no_plan: text?, machine_hours: number?",
            binding=_or_null(_list(RELAXATION)),
        ),
        1,
    ),
    "compare": _list(
        _object(
            f"{ON_PROFILE}, strata samples: count?, seconds: number, {PROMISED}, "
            "bound_with_noise: number?, same_as: method?"
        ),
        1,
    ),
    "judge": _object(
        f"{ON_PROFILE}, strata samples: count, launches_differing: index?, error: number, repeats: count?",
        aligned_by={"enum": ["same files", "names", "order", "operator"]},
        matched=_or_null(_list({"type": "number"}, 2)),
    ),
    "align": _object(
        "matched: index",
        missing_in_trace=_list(_object("id: index, name: text, grid block: dimensions")),
        missing_in_profile=_list(_object("number: index, name: text, grid block: dimensions")),
        first_difference=_or_null({"type": "object", "required": ["profile", "trace"]}),
    ),
    "estimate": ESTIMATE,
    "run": {
        "allOf": [
            ESTIMATE,
            _object(
                "folder: text, why_no_more: text?",
                failed=_list(_object("id: index, why: text, instead: index?")),
                given_up=_list(
                    _object("id: index, name why: text, assumed_like: text?, failed: index+, share: fraction")
                ),
            ),
        ]
    },
    "report": _object("path: text, bytes: count, charts: text*", sections=_list(TEXT, 4)),
    "methods": _list(_object("name: method, source: text, needs: text*, options: object"), 1),
    "export": _object("files: text+, launches: count, beside: index, speedup: number?"),
    "project": _list(
        _object("kernel reason: text, stopped: bool, cycle: count, projected_cycles speedup: number?"), 1
    ),
    "convert": _object("launches bytes: count"),
    "scale predict": _object(
        cliff=_or_null(_object("smaller larger: count, mpki_smaller mpki_larger: number")),
        predictions=_list(
            _object("target: count, method: rule, ipc low high: number?, region note: text"), 1
        ),
        findings=_list(FINDING),
        classification=_object("reason: text", scaling=_one_of("linear sub-linear super-linear")),
    ),
    "scale validate": {
        "type": "object",
        "propertyNames": TYPES["rule"],
        "additionalProperties": {
            "type": "object",
            "propertyNames": {"pattern": "^[1-9][0-9]*$"},
            "additionalProperties": _object(
                "mean max: number?, worst: text?, n: index, within_interval: fraction?"
            ),
            "minProperties": 1,
        },
        "minProperties": 1,
    },
    "scale derive": _list(
        _object(
            "factor sms llc_bytes llc_slices memory_controllers: count",
            changes=_list(_object("file option old new: text")),
            files=_list(_object("path content: text"), 1),
            notes=_list(_object("code sentence: text")),
        ),
        1,
    ),
    "scale mrc": _object("capacity_bytes: count+, mpki low high: number?+", unit=_one_of("thread warp")),
}
LAUNCH = _object(
    "id process device ordinal occurrence: index, name: text, grid block: dimensions, weight: positive, "
    "duration_ns: ns"
)
PLAN = _object(
    "options: object",
    schema={"const": 1},
    kind={"const": "plan"},
    profile=_object(
        "launches: count, total_duration_ns: ns",
        files=_list(_object("path: text, sha256: sha256, launches: count"), 1),
        sequences=_list(_object("process device: index, launches: count, digest: digest"), 1),
    ),
    strata=_list(_object("key: text, size: count, mean_ns std_ns: number", launches=_list(LAUNCH, 1)), 1),
    overrides=_list(_object("key: text, path: path, decision: verdict")),
)
SELECTION = _object(
    "launches: count, of_launches: count?, total_duration_ns: ns",
    filters={"type": "object", "minProperties": 1},
    left_out=_or_null(_object("launches: index, total_duration_ns: ns, share: fraction")),
)
#: Of one profile, or by the names of several.
SELECTIONS: Schema = {"anyOf": [SELECTION, {"type": "object", "additionalProperties": SELECTION}]}


def envelope(command: str) -> Schema:
    """Return the schema of a command's JSON answer; without a terminal the app's commands are others."""
    named = {"open": "summary", "demo": "summary", "scale open": "scale predict"}.get(command, command)
    schema = _object(
        "seed: index, warnings: text*",
        schema={"const": 1},
        tool={"const": "kernelpoint"},
        version=TEXT | {"pattern": r"^\d+\.\d+\.\d+"},
        command={"const": named},
        results=RESULTS[named],
    )
    schema["properties"]["selection"] = SELECTIONS
    return schema | {"additionalProperties": False}
