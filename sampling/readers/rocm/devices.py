"""The GPUs of a rocprofv3 recording by the numbers HIP gives them: CPUs are agents too, but not counted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from sampling.profile.profile import Device


def device_of(number: int, name: object, properties: Any) -> Device:
    """Return a GPU.

    Parameters
    ----------
    name : of the product.
    properties : what rocprofv3 writes of an agent, decoded JSON; what is not of its form is ignored.
    """
    known = properties if isinstance(properties, dict) else {}
    banks = known.get("mem_banks")
    sizes = (
        [bank.get("size_in_bytes") for bank in banks if isinstance(bank, dict)]
        if isinstance(banks, list)
        else []
    )
    memory_bytes = sum(size for size in sizes if isinstance(size, int))
    units = known.get("cu_count")
    return Device(
        device=number,
        name=name if isinstance(name, str) else "",
        sm_count=units if isinstance(units, int) and units > 0 else None,
        memory_bytes=memory_bytes if memory_bytes > 0 else None,
    )


def distinct_devices(found: Iterable[tuple[int, Device]]) -> tuple[Device, ...]:
    """Return the GPUs of (process, GPU) pairs; with their process where processes number them differently."""
    pairs = sorted(dict.fromkeys(found), key=lambda pair: (pair[0], pair[1].device))
    alike = tuple(dict.fromkeys(device for _, device in pairs))
    if len({device.device for device in alike}) == len(alike):
        return alike
    return tuple(replace(device, process=process) for process, device in pairs)
