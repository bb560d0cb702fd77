"""A data set as token ids: read text by text, at rest ragged, in memory or as memory-mapped files.

The vocabulary comes from the training split alone, both texts of a pair. That split is tokenised once: its
words get numbers as they come, which are exchanged for the ids of the vocabulary when it is known.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithgauge.config import EncodeConfig
from faithgauge.data.dataset import Dataset
from faithgauge.encode.rest import (
    new_folder,
    read_facts,
    read_split,
    share_split,
    write_facts,
    write_split,
)
from faithgauge.encode.tokenizer import (
    N_BEFORE,
    Tokenizer,
    Tokens,
    WordTokenizer,
    frame,
    load_tokenizer,
    read_subwords,
    save_tokenizer,
)
from faithgauge.encode.words import WORDS
from faithgauge.errors import ConfigError, DataError
from faithgauge.types import SPLITS, Encoded, Example, Ragged, Split, Task

_Encode = Callable[[Sequence[str]], Iterator[Tokens]]


@dataclass(frozen=True)
class Corpus:
    """An encoded data set, with its tokenizer and all that a result on it must say of it.

    `report` holds the size of the vocabulary, and by split the number of texts, their mean length in tokens
    and the share of these that are unknown (special tokens left out), and the greatest length (with them).
    """

    name: str
    variant: str
    task: Task
    classes: tuple[str, ...]
    splits: Mapping[Split, Encoded]
    tokenizer: Tokenizer
    report: Mapping[str, Any]
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    substituted: bool = False

    @property
    def full_name(self) -> str:
        return f"{self.name}@{self.variant}" if self.variant else self.name

    @property
    def complete(self) -> bool:
        return not self.missing and not self.substituted


def encode(
    dataset: Dataset, config: EncodeConfig, folder: Path | None = None, *, tokenizer: Tokenizer | None = None
) -> Corpus:
    """The data set as ids: of `tokenizer`, of the tokenizer file that `config` names, or of its own words.

    With `folder` the arrays are written there, all or nothing, and opened memory-mapped.
    """
    if config.min_df < 1 or config.max_tokens < 3:
        raise ConfigError(
            f"expected min_df of at least 1 and max_tokens of at least 3, found {config.min_df} and "
            f"{config.max_tokens}"
        )
    if tokenizer is None and config.tokenizer is not None:
        tokenizer = read_subwords(config.tokenizer)
    if folder is None:
        known, splits = _known_first(dataset, config, tokenizer)
        return _corpus(dataset, known, dict(splits))
    with new_folder(folder) as partial:
        known, splits = _known_first(dataset, config, tokenizer)
        reports = {}
        for split, encoded in splits:
            write_split(partial / split, encoded)
            reports[split] = _report(encoded, known)
        save_tokenizer(known, partial)
        empty = _corpus(dataset, known, {})
        report = {**empty.report, "splits": reports}
        write_facts(partial, {**_facts(empty), "splits": list(reports), "report": report})
    return open_corpus(folder)


def save_corpus(corpus: Corpus, folder: Path) -> None:
    """Write a corpus, all or nothing, for `open_corpus` to read."""
    with new_folder(folder) as partial:
        for split, encoded in corpus.splits.items():
            write_split(partial / split, encoded)
        save_tokenizer(corpus.tokenizer, partial)
        write_facts(partial, {**_facts(corpus), "splits": list(corpus.splits), "report": corpus.report})


def save_masked(corpus: Corpus, ids: Mapping[Split, Ragged], of: Path, *, folder: Path) -> None:
    """Write the splits of a corpus that have new ids; all else of them is shared with the files in `of`."""
    with new_folder(folder) as partial:
        for split, own in ids.items():
            share_split(of / split, partial / split, ids=own)
        save_tokenizer(corpus.tokenizer, partial)
        write_facts(partial, {**_facts(corpus), "splits": list(ids), "report": corpus.report})


def open_corpus(folder: Path) -> Corpus:
    """The corpus that `encode` wrote to a folder, memory-mapped."""
    facts = read_facts(folder)
    splits = {split: read_split(folder / split) for split in facts.pop("splits")}
    for name in ("classes", "missing", "notes"):
        facts[name] = tuple(facts[name])
    return Corpus(splits=splits, tokenizer=load_tokenizer(folder), **facts)


def _known_first(
    dataset: Dataset, config: EncodeConfig, tokenizer: Tokenizer | None
) -> tuple[Tokenizer, Iterator[tuple[Split, Encoded]]]:
    """The tokenizer, and the encoded splits one after the other."""
    present = [split for split in SPLITS if dataset.splits.get(split)]
    if tokenizer is not None:
        known = tokenizer
        return known, ((split, _encode(dataset, split, known.encode_batch, config)) for split in present)
    if "train" not in present:
        way = "; ".join(dataset.missing or dataset.notes) or "give a tokenizer, or data with a training split"
        raise DataError(
            f"{dataset.full_name}: expected a training split to take the vocabulary from, found "
            f"{', '.join(present) or 'no split'}; {way}"
        )
    words, train = _learn(dataset, config)

    def rest() -> Iterator[tuple[Split, Encoded]]:
        yield "train", train
        for split in present[1:]:
            yield split, _encode(dataset, split, words.encode_batch, config)

    return words, rest()


def _learn(dataset: Dataset, config: EncodeConfig) -> tuple[WordTokenizer, Encoded]:
    """The vocabulary of the training split, and the split in its ids."""
    words = WORDS[config.words]
    numbers: defaultdict[str, int] = defaultdict(count(N_BEFORE).__next__)

    def number(texts: Sequence[str]) -> Iterator[Tokens]:
        for text in texts:
            found = words(text)
            ids = np.fromiter(map(numbers.__getitem__, found.words), np.int32, len(found.words))
            yield frame(ids, found.spans)

    train = _encode(dataset, "train", number, config)
    texts = np.zeros(N_BEFORE + len(numbers), np.int64)
    for ids in (train.ids, train.pair_ids):
        if ids is not None:
            for i in range(len(ids)):
                texts[np.unique(ids.row(i))] += 1
    tokenizer = WordTokenizer.of(
        config.words, (word for word, i in numbers.items() if texts[i] >= config.min_df)
    )
    final = np.array(
        [*range(N_BEFORE), *(tokenizer.index.get(word, tokenizer.unk) for word in numbers)], np.int32
    )
    pair_ids = (
        None if train.pair_ids is None else replace(train.pair_ids, values=final[train.pair_ids.values])
    )
    return tokenizer, replace(
        train, ids=replace(train.ids, values=final[train.ids.values]), pair_ids=pair_ids
    )


def _encode(dataset: Dataset, split: Split, encode_batch: _Encode, config: EncodeConfig) -> Encoded:
    examples = dataset.splits[split]
    where = f"{dataset.full_name}, {split}"
    ids, spans, texts = _texts(examples, [x.text for x in examples], encode_batch, config=config, where=where)
    encoded = Encoded(
        ids=ids,
        spans=spans,
        labels=np.array([example.label for example in examples], np.int64),
        texts=texts,
        evidence=_evidence(examples, ids.offsets, spans),
        candidates=_candidates(examples),
    )
    pairs = [example.text_pair for example in examples if example.text_pair is not None]
    if not pairs:
        return encoded
    if len(pairs) < len(examples):
        lone = next(example.id for example in examples if example.text_pair is None)
        raise DataError(f"{where}, {lone}: expected a second text as the other examples have, found none")
    ids, spans, texts = _texts(examples, pairs, encode_batch, config=config, where=where)
    return replace(encoded, pair_ids=ids, pair_spans=spans, pair_texts=texts)


def _texts(
    examples: Sequence[Example],
    texts: Sequence[str],
    encode_batch: _Encode,
    *,
    config: EncodeConfig,
    where: str,
) -> tuple[Ragged, Ragged, Ragged]:
    """Ids, spans and bytes of all the texts, in flat buffers that grow."""
    ids, spans, raw = array("i"), array("i"), bytearray()
    lengths, sizes = [], []
    for example, text in zip(examples, texts, strict=True):
        raw += _bytes(text, f"{where}, {example.id}")
        sizes.append(len(raw))
    for example, text, tokens in zip(examples, texts, encode_batch(texts), strict=True):
        if len(tokens.ids) > config.max_tokens or not (tokens.spans[:, 0] >= 0).any():
            tokens = _mended(tokens, text, config, where=f"{where}, {example.id}")
        ids.frombytes(tokens.ids.tobytes())
        spans.frombytes(tokens.spans.tobytes())
        lengths.append(len(ids))
    offsets = np.array([0, *lengths], np.int64)
    return (
        Ragged(np.frombuffer(ids, np.int32), offsets),
        Ragged(np.frombuffer(spans, np.int32).reshape(-1, 2), offsets),
        Ragged(np.frombuffer(raw, np.uint8), np.array([0, *sizes], np.int64)),
    )


def _bytes(text: str, where: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise DataError(
            f"{where}: expected Unicode text, found half a character (\\u{ord(text[error.start]):04x}) at "
            f"character {error.start}; mend the text"
        ) from error


def _mended(tokens: Tokens, text: str, config: EncodeConfig, *, where: str) -> Tokens:
    """The text cut to its first tokens and its special ones, if that was asked for."""
    real = tokens.spans[:, 0] >= 0
    if not real.any():
        raise DataError(
            f"{where}: expected at least one token, found none in {text[:40]!r}; leave the text out, or "
            "choose another word preset (--words)"
        )
    if config.too_long == "error":
        raise DataError(
            f"{where}: expected at most {config.max_tokens:,} tokens, found {len(tokens.ids):,}; "
            f"set --max-tokens {len(tokens.ids)} or --too-long cut"
        )
    excess = len(tokens.ids) - config.max_tokens
    kept = np.delete(np.arange(len(tokens.ids)), np.flatnonzero(real)[-excess:])
    return Tokens(tokens.ids[kept], tokens.spans[kept])


def _evidence(examples: Sequence[Example], offsets: NDArray[np.int64], spans: Ragged) -> Ragged | None:
    """A flag for every token that shares a character with a span of evidence; special tokens have none."""
    if all(example.evidence is None for example in examples):
        return None
    flags = np.zeros(len(spans.values), np.bool_)
    for i, example in enumerate(examples):
        starts, ends = spans.row(i).T
        for start, end in example.evidence or ():
            flags[offsets[i] : offsets[i + 1]] |= (starts < end) & (ends > start)
    return Ragged(flags, offsets)


def _candidates(examples: Sequence[Example]) -> Ragged | None:
    if all(example.candidates is None for example in examples):
        return None
    rows = [example.candidates or () for example in examples]
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return Ragged(np.fromiter((i for row in rows for i in row), np.int64), offsets)


def _corpus(dataset: Dataset, tokenizer: Tokenizer, splits: Mapping[Split, Encoded]) -> Corpus:
    return Corpus(
        name=dataset.name,
        variant=dataset.variant,
        task=dataset.task,
        classes=dataset.classes,
        splits=splits,
        tokenizer=tokenizer,
        report={
            "vocabulary": len(tokenizer.vocabulary),
            "splits": {split: _report(encoded, tokenizer) for split, encoded in splits.items()},
        },
        missing=dataset.missing,
        notes=dataset.notes,
        substituted=dataset.substituted,
    )


def _report(encoded: Encoded, tokenizer: Tokenizer) -> dict[str, float]:
    lengths = encoded.ids.lengths()
    real, unknown = 0, 0
    for ids, spans in _both(encoded):
        words = spans.values[:, 0] != -1
        real += int(words.sum())
        unknown += int((ids.values[words] == tokenizer.unk).sum()) if tokenizer.unk is not None else 0
    return {
        "examples": len(encoded),
        "mean_length": float((encoded.spans.values[:, 0] != -1).sum() / len(encoded)),
        "max_length": int(lengths.max()),
        "unknown": unknown / real,
    }


def _both(encoded: Encoded) -> Iterable[tuple[Ragged, Ragged]]:
    yield encoded.ids, encoded.spans
    if encoded.pair_ids is not None and encoded.pair_spans is not None:
        yield encoded.pair_ids, encoded.pair_spans


def _facts(corpus: Corpus) -> dict[str, Any]:
    names = ("name", "variant", "task", "classes", "missing", "notes", "substituted")
    return {name: getattr(corpus, name) for name in names}
