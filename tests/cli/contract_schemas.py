"""The command contract as JSON schemas; a command may say more than its schema asks for."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def _list(items: Schema, **limits: int) -> Schema:
    return {"type": "array", "items": items, **limits}


def _object(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _one_of(*values: str) -> Schema:
    return {"enum": list(values)}


TEXT: Schema = {"type": "string"}
COUNT: Schema = {"type": "integer", "minimum": 1}
INDEX: Schema = {"type": "integer", "minimum": 0}
NS: Schema = {"type": "integer", "minimum": 0}
NUMBER: Schema = {"type": "number", "minimum": 0}
FRACTION: Schema = {"type": "number", "minimum": 0, "maximum": 1}
DIMENSIONS = _or_null(_list(COUNT, minItems=3, maxItems=3))
PATH: Schema = {"type": "string", "pattern": "^[LR]*$"}
METHOD = _one_of(
    "joint",
    "root",
    "stem",
    "allegro",
    "random",
    "pks",
    "two-level",
    "sieve",
    "photon",
    "tbpoint",
    "first-instructions",
    "single-iteration",
    "embedding",
)
SCALE_RULE = _one_of(
    *("additive", "published", "equations", "proportional", "linear", "power-law", "logarithmic")
)
VERDICT = _one_of("split", "keep")
BOUNDS = {"bound": _or_null(NUMBER), "group_bound": _or_null(NUMBER)}

FINDING = _object(code=TEXT, severity=_one_of("note", "warning"), message=TEXT, remedy=TEXT)
GROUP = _object(
    rank=COUNT,
    key=TEXT,
    name=TEXT,
    grid=DIMENSIONS,
    block=DIMENSIONS,
    process=_or_null(INDEX),
    device=_or_null(INDEX),
    launches=COUNT,
    total_duration_ns=NS,
    share=_or_null(FRACTION),
    mean_ns=NUMBER,
    std_ns=NUMBER,
    cov=_or_null(NUMBER),
    min_ns=NS,
    max_ns=NS,
    clusters=_or_null(COUNT),
    samples=_or_null(COUNT),
    pooled={"type": "boolean"},
)
RANGE = _object(
    path=TEXT,
    name=TEXT,
    depth=INDEX,
    times=COUNT,
    launches=COUNT,
    duration_ns=_or_null(NS),
    share=_or_null(FRACTION),
    first=INDEX,
    last=INDEX,
    source=_one_of("named", "found"),
)
NODE = _object(
    index=INDEX,
    depth=INDEX,
    path=PATH,
    launches=COUNT,
    mean_ns=NUMBER,
    std_ns=NUMBER,
    threshold_ns=_or_null(NS),
    samples_old=COUNT,
    tau_old_ns=NUMBER,
    samples_new=_or_null(_list(COUNT, minItems=2, maxItems=2)),
    tau_new_ns=_or_null(NUMBER),
    verdict=VERDICT,
    reason=TEXT,
    left=_or_null(COUNT),
    right=_or_null(COUNT),
)
POOLED = _object(groups=INDEX, share=FRACTION)
DIGEST: Schema = {"type": "string", "pattern": "^[0-9a-f]{16}$"}
ERRORS = {"error_mean": NUMBER, "error_p95": NUMBER, "within_epsilon": FRACTION}
METHOD_ON_PROFILE = {
    "profile": TEXT,
    "method": METHOD,
    "applicable": {"type": "boolean"},
    "reason": _or_null(TEXT),
    "strata": COUNT,
    "samples": COUNT,
    "speedup": _or_null(NUMBER),
    **BOUNDS,
    **ERRORS,
    "error_max": NUMBER,
}
RELAXATION = _object(
    option=_one_of(
        *("epsilon", "group_epsilon", "min_samples", "noise_floor", "kernel_spread"),
        *("no_pool", "group_by", "method"),
    ),
    speedup_before=NUMBER,
    speedup=NUMBER,
    machine_hours=_or_null(NUMBER),
    **{key: {"type": ["number", "string", "boolean"]} for key in ("from", "to")},
)
SUMMARY = _object(
    device=_or_null(TEXT),
    busy=_list(FRACTION),
    kinds={"type": "object", "additionalProperties": FRACTION},
    launches=COUNT,
    total_duration_ns=NS,
    findings=_list(FINDING),
    groups=_list(GROUP, minItems=1, maxItems=10),
    plan=_object(method=METHOD, strata=COUNT, samples=COUNT, speedup=_or_null(NUMBER), **BOUNDS),
    promise=TEXT,
    pooled=POOLED,
    binding=_list(RELAXATION),
    machine_hours=_or_null(NUMBER),
    longest_launch_hours=_or_null(NUMBER),
    next=_list(TEXT, minItems=1),
)
SIDE = _object(launches=INDEX, total_ns=NS, mean_ns=_or_null(NUMBER), share=FRACTION)
DIFFERENCE = _object(
    before=TEXT,
    after=TEXT,
    total_before_ns=NS,
    total_after_ns=NS,
    ratio=_or_null(NUMBER),
    confidence=FRACTION,
    kernels=_list(
        _object(
            key=TEXT,
            name=TEXT,
            grid=DIMENSIONS,
            block=DIMENSIONS,
            process=_or_null(INDEX),
            device=_or_null(INDEX),
            status=_one_of("both", "appeared", "vanished"),
            matched_by=_or_null(_one_of("launch", "name", "short-name", "stem-script")),
            before=SIDE,
            after=SIDE,
            change_ns={"type": "integer"},
            ratio=_or_null(NUMBER),
            low=_or_null(NUMBER),
            high=_or_null(NUMBER),
        ),
        minItems=1,
    ),
)
ESTIMATE = _object(
    metrics=_list(
        _object(
            metric=TEXT,
            total=_or_null(NUMBER),
            low=_or_null(NUMBER),
            high=_or_null(NUMBER),
            confidence=FRACTION,
            degrees_of_freedom=_or_null(NUMBER),
            method=_one_of("declared-times-seen", "exact", "none"),
            incomplete={"type": "boolean"},
            missing=_list(INDEX),
            share_missing=_or_null(FRACTION),
        ),
        minItems=1,
    ),
    groups=_list(_object(key=TEXT, metric=TEXT, total=_or_null(NUMBER))),
    promise_met=_or_null({"type": "boolean"}),
    seen=_or_null(
        _object(
            variance_ratio=NUMBER,
            degrees_of_freedom=NUMBER,
            share=FRACTION,
            declared_share=FRACTION,
            exceeds={"type": "boolean"},
        )
    ),
    next=_list(_object(id=INDEX)),
)

RESULTS: dict[str, Schema] = {
    "difference": DIFFERENCE,
    "summary": SUMMARY,
    "open": SUMMARY,
    "demo": SUMMARY,
    "info": _object(
        format=TEXT,
        launches=COUNT,
        names=COUNT,
        kernel_groups=COUNT,
        total_duration_ns=NS,
        devices=_list(_object(process=INDEX, device=INDEX, launches=COUNT), minItems=1),
        processes=COUNT,
        streams=_or_null(COUNT),
        span_ns=_or_null(NS),
        findings=_list(FINDING),
    ),
    "groups": _list(GROUP, minItems=1),
    "ranges": _list(RANGE),
    "histogram": _object(
        edges_ns=_list(NUMBER, minItems=2),
        counts=_list(INDEX, minItems=1),
        clusters=_list(
            _object(low_ns=NS, high_ns=NS, launches=COUNT, counts=_list(INDEX, minItems=1)), minItems=1
        ),
    ),
    "timeline": _object(
        key=TEXT,
        rank=COUNT,
        by=_one_of("launch", "time"),
        bins=_list(
            _object(
                first=_or_null(INDEX),
                last=_or_null(INDEX),
                start_ns=_or_null(NS),
                launches=INDEX,
                mean_ns=_or_null(NUMBER),
                min_ns=_or_null(NS),
                max_ns=_or_null(NS),
                drawn=INDEX,
            ),
            minItems=1,
        ),
        ranges=_list(RANGE),
        iterations=_list(RANGE),
    ),
    "tree": _list(NODE, minItems=1),
    "sample": _object(
        method=METHOD,
        launches=COUNT,
        strata=COUNT,
        samples=COUNT,
        total_duration_ns=NS,
        sampled_duration_ns=NS,
        speedup=_or_null(NUMBER),
        cost=_or_null(_object(metric=TEXT, share=FRACTION, decides={"type": "boolean"})),
        **BOUNDS,
        bound_with_noise=_or_null(NUMBER),
        group_bound_with_noise=_or_null(NUMBER),
        calibrated=_or_null(
            _object(draws=COUNT, within_epsilon=FRACTION, simulated_within_epsilon=_or_null(FRACTION))
        ),
        promise=TEXT,
        pooled=POOLED,
        expected_interval=_or_null(NUMBER),
        estimate_ns=_or_null(NUMBER),
        error=_or_null(NUMBER),
        floor_ns=_or_null(NUMBER),
        judged=_or_null(_object(repeats=COUNT, **ERRORS | {"within_epsilon": _or_null(FRACTION)})),
        epsilon=_or_null(FRACTION),
        machine_hours=_or_null(NUMBER),
        longest_launch_hours=_or_null(NUMBER),
        binding=_or_null(_list(RELAXATION)),
    ),
    "trade-off": _list(
        _object(
            epsilon=FRACTION,
            samples=_or_null(COUNT),
            strata=_or_null(COUNT),
            sampled_duration_ns=_or_null(NUMBER),
            speedup=_or_null(NUMBER),
            **BOUNDS,
            no_plan=_or_null(TEXT),
            machine_hours=_or_null(NUMBER),
            binding=_or_null(_list(RELAXATION)),
        ),
        minItems=1,
    ),
    "compare": _list(
        _object(
            **METHOD_ON_PROFILE
            | {name: _or_null(COUNT) for name in ("strata", "samples")}
            | {name: _or_null(NUMBER) for name in ("speedup", "error_mean", "error_p95", "error_max")}
            | {"within_epsilon": _or_null(FRACTION)},
            seconds=NUMBER,
            bound_with_noise=_or_null(NUMBER),
            same_as=_or_null(METHOD),
        ),
        minItems=1,
    ),
    "judge": _object(
        **METHOD_ON_PROFILE
        | {name: _or_null(NUMBER) for name in ("error_mean", "error_p95", "error_max")}
        | {"within_epsilon": _or_null(FRACTION)},
        aligned_by=_one_of("same files", "names", "order"),
        launches_differing=_or_null(INDEX),
        error=NUMBER,
        repeats=_or_null(COUNT),
    ),
    "align": _object(
        matched=INDEX,
        missing_in_trace=_list(_object(id=INDEX, name=TEXT, grid=DIMENSIONS, block=DIMENSIONS)),
        missing_in_profile=_list(_object(number=INDEX, name=TEXT, grid=DIMENSIONS, block=DIMENSIONS)),
        first_difference=_or_null({"type": "object", "required": ["profile", "trace"]}),
    ),
    "estimate": ESTIMATE,
    "run": {
        "allOf": [
            ESTIMATE,
            _object(failed=_list(_object(id=INDEX, why=TEXT, instead=_or_null(INDEX))), folder=TEXT),
        ]
    },
    "report": _object(path=TEXT, bytes=COUNT, sections=_list(TEXT, minItems=4), charts=_list(TEXT)),
    "methods": _list(
        _object(
            name=METHOD,
            source=TEXT,
            needs=_list(TEXT),
            options={"type": "object"},
        ),
        minItems=1,
    ),
    "export": _object(
        files=_list(TEXT, minItems=1),
        launches=COUNT,
        beside={"type": "integer", "minimum": 0},
        speedup=_or_null(NUMBER),
    ),
    "project": _list(
        _object(
            kernel=TEXT,
            stopped={"type": "boolean"},
            cycle=COUNT,
            projected_cycles=_or_null(NUMBER),
            speedup=_or_null(NUMBER),
            reason=TEXT,
        ),
        minItems=1,
    ),
    "convert": _object(launches=COUNT, bytes=COUNT),
    "scale predict": _object(
        cliff=_or_null(_object(smaller=COUNT, larger=COUNT, mpki_smaller=NUMBER, mpki_larger=NUMBER)),
        predictions=_list(
            _object(
                target=COUNT,
                method=SCALE_RULE,
                ipc=_or_null(NUMBER),
                low=_or_null(NUMBER),
                high=_or_null(NUMBER),
                region=TEXT,
                note=TEXT,
            ),
            minItems=1,
        ),
        findings=_list(FINDING),
        classification=_object(scaling=_one_of("linear", "sub-linear", "super-linear"), reason=TEXT),
    ),
    "scale validate": {
        "type": "object",
        "propertyNames": SCALE_RULE,
        "additionalProperties": {
            "type": "object",
            "propertyNames": {"pattern": "^[1-9][0-9]*$"},
            "additionalProperties": _object(
                mean=_or_null(NUMBER),
                max=_or_null(NUMBER),
                worst=_or_null(TEXT),
                n=INDEX,
                within_interval=_or_null(FRACTION),
            ),
            "minProperties": 1,
        },
        "minProperties": 1,
    },
    "scale derive": _list(
        _object(
            factor=COUNT,
            sms=COUNT,
            llc_bytes=COUNT,
            llc_slices=COUNT,
            memory_controllers=COUNT,
            changes=_list(_object(file=TEXT, option=TEXT, old=TEXT, new=TEXT)),
            files=_list(_object(path=TEXT, content=TEXT), minItems=1),
            notes=_list(_object(code=TEXT, sentence=TEXT)),
        ),
        minItems=1,
    ),
    "scale mrc": _object(
        capacity_bytes=_list(COUNT, minItems=1),
        mpki=_list(_or_null(NUMBER), minItems=1),
        low=_list(_or_null(NUMBER), minItems=1),
        high=_list(_or_null(NUMBER), minItems=1),
        unit=_one_of("thread", "warp"),
    ),
}
LAUNCH = _object(
    id=INDEX,
    process=INDEX,
    device=INDEX,
    ordinal=INDEX,
    name=TEXT,
    grid=DIMENSIONS,
    block=DIMENSIONS,
    occurrence=INDEX,
    weight={"type": "number", "exclusiveMinimum": 0},
    duration_ns=NS,
)
PLAN = _object(
    schema={"const": 1},
    kind={"const": "plan"},
    profile=_object(
        files=_list(
            _object(path=TEXT, sha256={"type": "string", "pattern": "^[0-9a-f]{64}$"}, launches=COUNT),
            minItems=1,
        ),
        launches=COUNT,
        total_duration_ns=NS,
        sequences=_list(
            _object(process=INDEX, device=INDEX, launches=COUNT, digest=DIGEST),
            minItems=1,
        ),
    ),
    options={"type": "object"},
    strata=_list(
        _object(key=TEXT, size=COUNT, mean_ns=NUMBER, std_ns=NUMBER, launches=_list(LAUNCH, minItems=1)),
        minItems=1,
    ),
    overrides=_list(_object(key=TEXT, path=PATH, decision=VERDICT)),
)


SELECTION = _object(
    filters={"type": "object", "minProperties": 1},
    launches=COUNT,
    of_launches=_or_null(COUNT),
    total_duration_ns=NS,
    left_out=_or_null(_object(launches=INDEX, total_duration_ns=NS, share=FRACTION)),
)
#: Of one profile, or by the names of several.
SELECTIONS: Schema = {"anyOf": [SELECTION, {"type": "object", "additionalProperties": SELECTION}]}


def envelope(command: str) -> Schema:
    """Return the schema of a command's JSON answer; without a terminal the app's commands are others."""
    named = {"open": "summary", "demo": "summary", "scale open": "scale predict"}.get(command, command)
    schema = _object(
        schema={"const": 1},
        tool={"const": "kernelpoint"},
        version={"type": "string", "pattern": r"^\d+\.\d+\.\d+"},
        command={"const": named},
        seed=INDEX,
        warnings=_list(TEXT),
        results=RESULTS[named],
    )
    schema["properties"]["selection"] = SELECTIONS
    return schema | {"additionalProperties": False}
