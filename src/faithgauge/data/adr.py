"""Adverse drug reactions: tweets on medicines, whether they report one.

Twitter's terms do not allow the texts to be passed on by everybody, so they are read from the file that those
hold who have asked: ``adr_dataset.csv`` of Jain & Wallace (text, label, exp_split; train and test), or any
``adr.csv`` or ``adr.tsv`` with text and label, which is then split by ourselves.

Differs: Jain & Wallace select models on test here, for want of a dev split; we hold out 15 % of train. Their
variant keeps tweets of 6 to 99 tokens, tokens parted by blanks as in their file.
"""

from __future__ import annotations

from faithgauge.config import EncodeConfig
from faithgauge.data.dataset import Found, Published, Source, Splits
from faithgauge.data.files import Files
from faithgauge.data.processed import read_processed
from faithgauge.data.splits import cut_validation, split
from faithgauge.types import Example, Split

_NAMES = ("adr_dataset.csv", "adr.csv", "adr.tsv")


def read(files: Files, variant: str) -> Found:
    """The splits of the file, with validation cut from train where it has none."""
    member = files.read(*_NAMES)
    if member is None:
        return Found({}, missing=(f"{_NAMES[0]} with text, label and exp_split",))
    by_split = read_processed(member, len(SOURCE.classes))
    if None in by_split:
        parts, said = split(by_split[None], seed=0)
        return Found(_filtered(parts, variant), notes=said, substituted=True)
    splits: dict[Split, list[Example]] = {name: part for name, part in by_split.items() if name is not None}
    missing = tuple(f"the {name} rows of {member.name}" for name in ("train", "test") if name not in splits)
    notes: tuple[str, ...] = ()
    if "train" in splits and "validation" not in splits:
        splits["train"], splits["validation"], note = cut_validation(splits["train"], seed=0)
        notes = (note,)
    return Found(_filtered(splits, variant), missing, notes)


def _filtered(splits: Splits, variant: str) -> Splits:
    if not variant:
        return splits
    return {
        name: [example for example in part if 5 < len(example.text.split()) < 100]
        for name, part in splits.items()
    }


_BEFORE = "that is before 15 % of it are held out for validation"
_FILTERED = "they leave out tweets of at most 5 tokens and of 100 or more (adr@jain-wallace-2019)"


SOURCE = Source(
    name="adr",
    task="single",
    classes=("no reaction", "adverse reaction"),
    summary="tweets on medicines that report an adverse reaction or do not",
    home="https://diego.asu.edu/Publications/ADRMine.html",
    licence="Twitter's terms: texts are not to be passed on publicly",
    read=read,
    sizes={"": {"test": 4251}, "jain-wallace-2019": {"test": 4123}},
    variants={"jain-wallace-2019": "tweets of 6 to 99 tokens"},
    published=(
        Published(
            "jain-wallace-2019", "train", 16385, {"no reaction": 14446, "adverse reaction": 1939}, _BEFORE
        ),
        Published(
            "jain-wallace-2019", "test", 4123, {"no reaction": 3636, "adverse reaction": 487}, _FILTERED
        ),
    ),
    encoding={"": EncodeConfig(words="jain-wallace", min_df=2)},
    access=(
        "ask the authors (Nikfarjam et al. 2015, https://diego.asu.edu/Publications/ADRMine.html) or Jain & "
        "Wallace for the tweets, and put adr_dataset.csv (text, label, exp_split) into the folder adr"
    ),
)
