"""The explainers by name: each takes a model, a batch and a question, and gives one number per token.

An entry names the function and what a user must know before it runs: whether the numbers have a sign, what it
needs of the model or the data, and named choices of its options. One of your own is a function and a line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from faithgauge.registry import Table, locate
from faithgauge.types import Importance

Explain = Callable[..., Importance]
"""``explain(model, batch, question, *, options)``."""


@dataclass(frozen=True)
class Explainer:
    """One explainer: the place of its function, ``"package.module:function"``, and its facts.

    `needs` are capabilities of the model (see `types.Classifier`), ``"mask"`` (the tokenizer has a mask),
    ``"train"`` (the training split) or ``"evidence"`` (tokens known to decide the label). `presets` give
    options, `target` and `of` among them, a name; those of a paper are called like it. Without `of_class` the
    numbers are the same whichever class is explained.
    """

    place: str
    signed: bool
    needs: tuple[str, ...] = ()
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    of_class: bool = True

    @property
    def function(self) -> Explain:
        return cast("Explain", locate(self.place))


_LOGIT_OF_GOLD = {"target": "gold", "of": "logit"}
_HERE = "faithgauge.explain"

EXPLAINERS: Table[Explainer] = Table(
    "explainer",
    {
        "random": Explainer(f"{_HERE}.random:random", signed=False, of_class=False),
        "random_2": Explainer(f"{_HERE}.random:random_2", signed=False, of_class=False),
        "attention": Explainer(
            f"{_HERE}.attention:attention", signed=False, needs=("attention",), of_class=False
        ),
        "attention_norm": Explainer(
            f"{_HERE}.attention:attention_norm", signed=False, needs=("attention",), of_class=False
        ),
        "gradient": Explainer(
            f"{_HERE}.gradient:gradient",
            signed=False,
            needs=("embedding",),
            presets={"recursive-roar-2022": {"norm": "vocabulary", **_LOGIT_OF_GOLD}},
        ),
        "input_x_gradient": Explainer(
            f"{_HERE}.gradient:input_x_gradient",
            signed=True,
            needs=("embedding",),
            presets={
                "jain-wallace-2019": {"absolute": True, "attention": "fixed"},
                "recursive-roar-2022": {"absolute": True, **_LOGIT_OF_GOLD},
            },
        ),
        "attention_x_gradient": Explainer(
            f"{_HERE}.gradient:attention_x_gradient", signed=True, needs=("attention",)
        ),
        "integrated_gradient": Explainer(
            f"{_HERE}.integrated_gradient:integrated_gradient",
            signed=True,
            needs=("embedding",),
            presets={
                "recursive-roar-2022": {
                    "rule": "right",
                    "baseline": "zero",
                    "absolute": True,
                    **_LOGIT_OF_GOLD,
                },
                "madsen-2022-code": {
                    "rule": "right",
                    "baseline": "zero",
                    "absolute": True,
                    "unscaled": True,
                    **_LOGIT_OF_GOLD,
                },
                "neely-2022": {"baseline": "pad", "absolute": True},
            },
        ),
        "smooth_gradient": Explainer(f"{_HERE}.gradient:smooth_gradient", signed=False, needs=("embedding",)),
        "gradient_shap": Explainer(
            f"{_HERE}.gradient_shap:gradient_shap",
            signed=True,
            needs=("embedding",),
            presets={"neely-2022": {"baseline": "pad", "samples": 5, "absolute": True}},
        ),
        "deeplift": Explainer(
            f"{_HERE}.deeplift:deeplift",
            signed=True,
            needs=("embedding",),
            presets={"neely-2022": {"baseline": "pad", "rule": "gradient", "absolute": True}},
        ),
        "deep_shap": Explainer(
            f"{_HERE}.deeplift:deep_shap",
            signed=True,
            needs=("embedding", "train"),
            presets={"neely-2022": {"absolute": True}},
        ),
        "leave_one_out": Explainer(
            f"{_HERE}.leave_one_out:leave_one_out",
            signed=True,
            presets={"jain-wallace-2019": {"absolute": True}},
        ),
        "occlusion": Explainer(f"{_HERE}.leave_one_out:occlusion", signed=True, needs=("mask",)),
        "lime": Explainer(
            f"{_HERE}.lime:lime",
            signed=True,
            presets={
                "neely-2022": {"replace": "pad", "kernel": "embedding", "kernel_width": 1.0, "absolute": True}
            },
        ),
        "kernel_shap": Explainer(f"{_HERE}.kernel_shap:kernel_shap", signed=True),
        "head_attention": Explainer(
            f"{_HERE}.heads:head_attention", signed=False, needs=("heads",), of_class=False
        ),
        "head_x_gradient": Explainer(f"{_HERE}.heads:head_x_gradient", signed=True, needs=("heads",)),
        "head_norm": Explainer(f"{_HERE}.norms:head_norm", signed=False, needs=("heads",), of_class=False),
        "value_zeroing": Explainer(
            f"{_HERE}.norms:value_zeroing", signed=False, needs=("heads",), of_class=False
        ),
        "rollout": Explainer(f"{_HERE}.rollout:rollout", signed=False, needs=("heads",), of_class=False),
        "gradient_rollout": Explainer(f"{_HERE}.rollout:gradient_rollout", signed=False, needs=("heads",)),
        "flow": Explainer(f"{_HERE}.flow:flow", signed=False, needs=("heads",), of_class=False),
        "mutual_information": Explainer(
            f"{_HERE}.mutual_information:mutual_information", signed=False, needs=("train",), of_class=False
        ),
        "oracle": Explainer(f"{_HERE}.oracle:oracle", signed=False, needs=("evidence",), of_class=False),
        "reversed": Explainer(f"{_HERE}.oracle:reversed_", signed=False, needs=("evidence",), of_class=False),
    },
    group="faithgauge.explainers",
)
