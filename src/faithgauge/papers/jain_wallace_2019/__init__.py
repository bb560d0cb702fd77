"""Jain & Wallace: attention beside gradients and leave-one-out, permuted attention, adversarial attention.

Paper: jain-wallace-2019.
"""

from faithgauge.papers.jain_wallace_2019.findings import FINDINGS
from faithgauge.papers.published import Paper
from faithgauge.papers.recipes import Recipe

PAPER = Paper(
    key="jain-wallace-2019",
    title="Attention is not Explanation",
    tables={
        "1": "the data sets, and how well the BiLSTM does on them",
        "2": "rank correlation of attention with gradients and with leave-one-out, by class",
        "text": "numbers of the running text and the appendix",
    },
    findings=FINDINGS,
    recipes=(
        Recipe(
            "performance", table="1", metrics=("f1_positive", "f1_micro", "accuracy"), encoders=("bilstm",)
        ),
        Recipe("agreement", table="2", encoders=("bilstm", "average"), figures=("2", "6", "7", "8")),
        Recipe("permutation", encoders=("bilstm",), figures=("3",)),
        Recipe("adversarial_search", encoders=("bilstm",), figures=("4", "5"), alias="adversarial"),
        Recipe("exact_adversary", encoders=("bilstm",), figures=("4", "5")),
    ),
    names={"input_x_gradient": "gradient"},
)
