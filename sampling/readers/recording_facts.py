"""Recording facts as JSON, so that a converted profile still says what its recording lacks."""

from __future__ import annotations

import json
from dataclasses import asdict

from sampling.profile.profile import Device, RecordingFacts

#: The key of the facts in a Parquet file's metadata.
METADATA_KEY = b"kernelpoint.facts"


def facts_json(facts: RecordingFacts) -> bytes:
    """Return the facts as JSON. They name devices and the recorder, never commands or environment."""
    return json.dumps(asdict(facts)).encode()


def facts_of_json(text: bytes | None) -> RecordingFacts:
    """Return the facts that were written; what is missing or garbled leaves the file's own order to go by."""
    try:
        fields = json.loads(text or b"{}")
        devices = tuple(Device(**device) for device in fields.pop("devices", ()))
        return RecordingFacts(devices=devices, **fields)
    except (ValueError, TypeError, AttributeError):
        return RecordingFacts()
