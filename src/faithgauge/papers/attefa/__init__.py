"""AtteFa: the least change of prediction by which an adversary pays for the most change of attention.

Paper: attefa.
"""

from faithgauge.papers.attefa.findings import FINDINGS
from faithgauge.papers.published import Paper
from faithgauge.papers.recipes import Recipe

_ENCODERS = ("mlp", "bilstm")

PAPER = Paper(
    key="attefa",
    title="How (Un)Faithful is Attention?",
    tables={
        "1": "the data sets",
        "2": "F1 of the models that are attacked",
        "3": "adversaries, over nine seeds",
        "4": "adversaries by seed, synthetic data sets",
        "5": "adversaries by seed, real data sets",
    },
    findings=FINDINGS,
    recipes=tuple(
        Recipe("attefa", table=table, encoders=_ENCODERS, figures=figures)
        for table, figures in (("2", ()), ("3", ("1",)), ("4", ()), ("5", ()))
    ),
)
