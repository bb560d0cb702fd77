"""The public data sets by name; each is read from its own file of this folder when it is asked for."""

from faithgauge.data.dataset import Source
from faithgauge.registry import Table

DATASETS: Table[Source] = Table(
    "data set",
    {
        "sst": "faithgauge.data.sst:SOURCE",
        "imdb": "faithgauge.data.imdb:SOURCE",
        "20news": "faithgauge.data.twenty_news:SOURCE",
        "agnews": "faithgauge.data.agnews:SOURCE",
        "adr": "faithgauge.data.adr:SOURCE",
        "diabetes": "faithgauge.data.mimic:DIABETES",
        "anemia": "faithgauge.data.mimic:ANEMIA",
        "snli": "faithgauge.data.snli:SOURCE",
        "mnli": "faithgauge.data.mnli:SOURCE",
        "xnli": "faithgauge.data.xnli:SOURCE",
        "quora": "faithgauge.data.quora:SOURCE",
        "babi-1": "faithgauge.data.babi:BABI_1",
        "babi-2": "faithgauge.data.babi:BABI_2",
        "babi-3": "faithgauge.data.babi:BABI_3",
        "cnn": "faithgauge.data.cnn:SOURCE",
        "movies": "faithgauge.data.movies:SOURCE",
    },
    group="faithgauge.datasets",
)
