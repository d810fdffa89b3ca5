"""What `scale predict` says of an outcome, as data."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from scalemodel.measurements import Measurements
from scalemodel.prediction.cliff import CurveStep
from scalemodel.prediction.outcome import Outcome, Prediction


def prediction_row(measurements: Measurements, prediction: Prediction) -> dict[str, Any]:
    """Return a prediction, beside what was measured; the error is predicted / measured - 1."""
    is_model = prediction.region.value == "largest model"
    measured = None if is_model else measurements.ipc_at(prediction.target)
    has_both = measured is not None and prediction.ipc is not None
    return {
        "target": prediction.target,
        "method": prediction.method,
        "ipc": prediction.ipc,
        "low": prediction.low,
        "high": prediction.high,
        "region": prediction.region.value,
        "note": prediction.note,
        "bounds": prediction.bounds.value,
        "measured": measured,
        "error": prediction.ipc / measured - 1 if has_both and prediction.ipc and measured else None,
    }


def outcome_object(measurements: Measurements, outcome: Outcome) -> dict[str, Any]:
    """Return all that was found of a benchmark."""
    return {
        "benchmark": outcome.name,
        "scaling": measurements.scaling.value,
        "simulated": [{"size": size, "ipc": measurements.ipc_at(size)} for size in outcome.models],
        "mpki_unit": measurements.mpki_unit.value,
        "confidence": outcome.confidence,
        "cliff": None if outcome.cliff is None else _cliff(outcome.cliff),
        "predictions": [prediction_row(measurements, each) for each in outcome.predictions],
        "correction": outcome.correction,
        "back_cast": dict(outcome.back_cast),
        "classification": {
            "scaling": outcome.classification.scaling.value,
            "reason": outcome.classification.reason,
        },
        "findings": [asdict(finding) for finding in outcome.findings],
    }


def _cliff(step: CurveStep) -> dict[str, Any]:
    return {
        "smaller": step.smaller,
        "larger": step.larger,
        "mpki_smaller": step.mpki_smaller,
        "mpki_larger": step.mpki_larger,
        "ratio": step.ratio,
    }
