"""MultiNLI: natural language inference over ten genres of written and spoken English (Williams et al. 2018).

Read from ``multinli_1.0_{train,dev_matched,dev_mismatched}.jsonl``, loose, compressed or in
``multinli_1.0.zip``. The official test parts were never published with labels. The plain data set validates
on the matched part (the genres of train) and tests on the mismatched part (five other genres); Neely et al.
test on the English part of XNLI, which is looked for in the same folder and in ``xnli`` beside it. The
classes are those of SNLI, in its order: neutral, contradiction, entailment. Where the training part is not at
hand, ``mnli@dev`` trains on the matched part and tests on XNLI.
"""

from __future__ import annotations

from faithgauge.config import EncodeConfig
from faithgauge.data.dataset import Download, Found, Published, Source
from faithgauge.data.files import Files
from faithgauge.data.snli import NLI_CLASSES, read_nli
from faithgauge.data.splits import DEV, instead_of_train
from faithgauge.data.xnli import XNLI_ZIP, read_english

NEELY = "neely-2022"


def _read(files: Files, variant: str) -> Found:
    train = ("multinli_1.0_train.jsonl", "train.jsonl")
    matched = ("multinli_1.0_dev_matched.jsonl", "dev_matched.jsonl")
    mismatched = ("multinli_1.0_dev_mismatched.jsonl", "dev_mismatched.jsonl")
    if variant not in (NEELY, DEV):
        return read_nli(files, {"train": train, "validation": matched, "test": mismatched})
    found = read_nli(files, {"train": train, "validation": matched})
    beside = [folder.parent / "xnli" for folder in files.folders]
    english = read_english(Files(*files.folders, *beside), ("test",))
    both = Found(
        {**found.splits, **english.splits},
        found.missing + english.missing,
        found.notes + english.notes,
    )
    return instead_of_train(both, of="matched development part") if variant == DEV else both


_UNLABELLED = "counts the 185 pairs without a gold label, which no model is trained or tested on"
_XNLI = (
    "a rounded size of the English XNLI test part (5,010 pairs), which mnli@neely-2022 tests on; "
    "plain mnli tests on the mismatched part"
)

SOURCE = Source(
    name="mnli",
    task="pair",
    classes=NLI_CLASSES,
    summary="Natural language inference over many genres; train, matched and mismatched development parts",
    home="https://cims.nyu.edu/~sbowman/multinli/",
    licence="OANC, CC BY-SA 3.0 and CC BY 3.0 by genre",
    read=_read,
    sizes={
        "": {"train": 392_702, "validation": 9_815, "test": 9_832},
        NEELY: {"train": 392_702, "validation": 9_815, "test": 5_010},
        DEV: {"train": 8_343, "validation": 1_472, "test": 5_010},
    },
    variants={
        NEELY: "tests on the English XNLI test part instead of the mismatched part",
        DEV: "trains on 85 % of the matched part, validates on the rest, tests on XNLI: a substitute",
    },
    published=(
        Published(NEELY, "train", 392_702),
        Published(NEELY, "validation", 10_000, why=_UNLABELLED),
        Published(NEELY, "test", 5_000, why=_XNLI),
    ),
    downloads=(
        Download(
            "https://cims.nyu.edu/~sbowman/multinli/multinli_1.0.zip",
            "multinli_1.0.zip",
            "sha256:049f507b9e36b1fcb756cfd5aeb3b7a0cfcb84bf023793652987f7e7e0957822",
        ),
        XNLI_ZIP,
    ),
    encoding={
        "": EncodeConfig(words="plain", min_df=2),
        NEELY: EncodeConfig(words="plain", min_df=1),
        DEV: EncodeConfig(words="plain", min_df=2),
    },
    folders=("multinli",),
)
