"""Wiegreffe & Pinter: uniform attention, seeds, guided models, and adversaries that are trained.

Paper: wiegreffe-pinter-2019.
"""

from faithgauge.papers.published import Paper
from faithgauge.papers.recipes import Recipe
from faithgauge.papers.wiegreffe_pinter_2019.findings import FINDINGS

PAPER = Paper(
    key="wiegreffe-pinter-2019",
    title="Attention is not not Explanation",
    tables={
        "1": "the data sets",
        "2": "F1 with trained and with uniform attention",
        "3": "F1 of a token-wise model guided by the attention of others",
        "4": "the best adversary of each data set that is far from the base attention",
        "5": "adversaries by the weight λ of their distance",
    },
    findings=FINDINGS,
    recipes=(
        Recipe("uniform", table="2", encoders=("bilstm",)),
        Recipe("seed_variance", figures=("3",), seeds=2),
        Recipe("guides", table="3"),
        Recipe("trained_adversary", table="4", encoders=("bilstm",)),
        Recipe("trained_adversary", table="5", encoders=("bilstm",), figures=("5",)),
    ),
)
