"""Recursive ROAR: mask what a measure calls important, train again, and see how much is lost.

Paper: recursive-roar-2022.
"""

from faithgauge.papers.published import Paper
from faithgauge.papers.recipes import Recipe
from faithgauge.papers.recursive_roar_2022.findings import FINDINGS

PAPER = Paper(
    key="recursive-roar-2022",
    title=(
        "Evaluating the Faithfulness of Importance Measures in NLP by Recursively Masking Allegedly "
        "Important Tokens and Retraining"
    ),
    tables={
        "1": "how well both models do, and how long the texts are",
        "2": "faithfulness of each measure, with intervals over seeds",
        "3": "sizes of the splits, and performance beside that of others",
        "4": "settings of the BiLSTM",
        "5": "settings of RoBERTa",
        "6": "the machines",
        "7": "time for one iteration and one seed",
    },
    findings=FINDINGS,
    recipes=(
        Recipe("performance", table="1", metrics=("f1_macro", "f1_micro", "accuracy"), encoders=("bilstm",)),
        Recipe("performance", table="3", metrics=("f1_macro", "f1_micro", "accuracy"), encoders=("bilstm",)),
        Recipe(
            "recursive_roar",
            table="2",
            metrics=("faithfulness",),
            encoders=("bilstm",),
            figures=("4", "8"),
        ),
        Recipe("recursive_roar", table="7", metrics=("walltime_minutes",), encoders=("bilstm",)),
        Recipe("sparsity", figures=("5", "6")),
        Recipe("roar_synthetic", figures=("3",), brings="roar-synthetic"),
        Recipe("roar", figures=("8",), asked=True),
        Recipe("recursive_roar_by_count", figures=("7",), asked=True),
        Recipe(
            "performance",
            table="1",
            metrics=("f1_macro", "f1_micro", "accuracy"),
            encoders=("roberta",),
            study="transformer",
        ),
        Recipe(
            "performance",
            table="3",
            metrics=("f1_macro", "f1_micro", "accuracy"),
            encoders=("roberta",),
            study="transformer",
        ),
        Recipe(
            "recursive_roar",
            table="2",
            metrics=("faithfulness",),
            encoders=("roberta",),
            figures=("4", "8"),
            study="transformer",
        ),
        Recipe(
            "recursive_roar",
            table="7",
            metrics=("walltime_minutes",),
            encoders=("roberta",),
            study="transformer",
        ),
        Recipe("sparsity", figures=("5", "6"), study="transformer"),
        Recipe("roar", figures=("8",), asked=True, study="transformer"),
        Recipe("recursive_roar_by_count", figures=("7",), asked=True, study="transformer"),
        Recipe("masked_training", asked=True),
        Recipe("roar_shortcuts", asked=True),
    ),
    transformer="roberta",
    weights="roberta-base",
)
