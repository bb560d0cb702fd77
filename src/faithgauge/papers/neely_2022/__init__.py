"""Neely et al.: how far attention and five attributions agree with one another.

Paper: neely-2022.
"""

from faithgauge.papers.neely_2022.findings import FINDINGS
from faithgauge.papers.published import Paper
from faithgauge.papers.recipes import Recipe

PAPER = Paper(
    key="neely-2022",
    title=(
        "A Song of (Dis)agreement: Evaluating the Evaluation of Explainable Artificial Intelligence in "
        "Natural Language Processing"
    ),
    tables={
        "1": "rank correlation of six explanations, DistilBERT",
        "2": "rank correlation of six explanations, BiLSTM",
        "3": "accuracy with trained and with uniform attention",
        "4": "rank correlation of attention flow with five attributions, DistilBERT",
        "5": "table 1 with its spread over instances",
        "6": "table 2 with its spread over instances",
        "7": "minutes of training, on a GPU; ours are of the processor",
        "8": "sizes of the splits, before texts are left out for their length",
        "9": "accuracy on the validation split",
    },
    findings=FINDINGS,
    recipes=(
        Recipe("agreement", table="1", encoders=("distilbert",), study="transformer"),
        Recipe("agreement", table="2", encoders=("bilstm",)),
        Recipe("uniform_performance", table="3", metrics=("accuracy",), encoders=("bilstm",)),
        Recipe(
            "uniform_performance",
            table="3",
            metrics=("accuracy",),
            encoders=("distilbert",),
            study="transformer",
        ),
        Recipe("agreement", table="4", encoders=("distilbert",), study="transformer"),
        Recipe("agreement", table="5", encoders=("distilbert",), study="transformer"),
        Recipe("agreement", table="6", encoders=("bilstm",)),
        Recipe("uniform_performance", table="7", metrics=("minutes",), encoders=("bilstm",)),
        Recipe(
            "uniform_performance",
            table="7",
            metrics=("minutes",),
            encoders=("distilbert",),
            study="transformer",
        ),
        Recipe("sizes", table="8"),
        Recipe("uniform_performance", table="9", metrics=("accuracy",), encoders=("bilstm",)),
        Recipe(
            "uniform_performance",
            table="9",
            metrics=("accuracy",),
            encoders=("distilbert",),
            study="transformer",
        ),
    ),
    transformer="distilbert",
    weights="distilbert-base-uncased",
)
