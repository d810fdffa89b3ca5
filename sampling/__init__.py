"""From a profile to a plan: which kernel launches to simulate, and how wrong the answer can be.

Headless: numpy arrays and frozen dataclasses, no printing, no user interface.
"""

from __future__ import annotations
