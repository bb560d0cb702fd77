"""What explainers cost beside each other, known before any has run: how often each reads its text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from faithgauge.explain.asked import asked

NOT_READ = ("random", "random_2", "oracle", "reversed", "mutual_information")


def readings(explainer: str, length: float) -> float:
    """How often an explainer reads a text of so many tokens; a gradient counts as three readings."""
    one = asked(explainer)
    own: Mapping[str, Any] = one.options
    if one.name in NOT_READ:
        return 0.0
    if one.name in ("leave_one_out", "occlusion"):
        return length / 2
    if one.name in ("lime", "kernel_shap"):
        return float(own["samples"])
    if one.name in ("integrated_gradient", "gradient_shap", "smooth_gradient"):
        return 3.0 * float(own.get("steps", own.get("samples", 50)))
    return {"attention": 1.0, "attention_norm": 1.0, "deep_shap": 300.0}.get(one.name, 8.0)
