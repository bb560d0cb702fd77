"""A data set as token ids: read text by text, at rest ragged, in memory or as memory-mapped files.

The vocabulary comes from the training split alone, both texts of a pair. That split is tokenised once: its
words get numbers as they come, which are exchanged for the ids of the vocabulary when it is known.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithgauge.config import EncodeConfig
from faithgauge.data.dataset import Dataset
from faithgauge.encode.joined import cut_pair
from faithgauge.encode.limit import Limit
from faithgauge.encode.rest import new_folder, read_facts, read_split, write_facts, write_split
from faithgauge.encode.tokenizer import (
    N_BEFORE,
    Joined,
    SubwordTokenizer,
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
    and the share of these that are unknown (special tokens left out), the greatest length (with them), and
    how many were cut, if any.
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
        longest = config.max_tokens if config.joined else None
        tokenizer = read_subwords(config.tokenizer, joined=config.joined, longest=longest)
    if folder is None:
        known, splits = _known_first(dataset, config, tokenizer)
        kept, reports = {}, {}
        for split, encoded, cut in splits:
            kept[split], reports[split] = encoded, _report(encoded, known, cut)
        return _corpus(dataset, known, kept, reports)
    with new_folder(folder) as partial:
        known, splits = _known_first(dataset, config, tokenizer)
        reports = {}
        for split, encoded, cut in splits:
            write_split(partial / split, encoded)
            reports[split] = _report(encoded, known, cut)
        save_tokenizer(known, partial)
        empty = _corpus(dataset, known, {}, reports)
        report = empty.report
        write_facts(partial, {**_facts(empty), "splits": list(reports), "report": report})
    return open_corpus(folder)


def save_corpus(corpus: Corpus, folder: Path) -> None:
    """Write a corpus, all or nothing, for `open_corpus` to read."""
    with new_folder(folder) as partial:
        for split, encoded in corpus.splits.items():
            write_split(partial / split, encoded)
        save_tokenizer(corpus.tokenizer, partial)
        write_facts(partial, {**_facts(corpus), "splits": list(corpus.splits), "report": corpus.report})


def open_corpus(folder: Path) -> Corpus:
    """The corpus that `encode` wrote to a folder, memory-mapped."""
    facts = read_facts(folder)
    splits = {split: read_split(folder / split) for split in facts.pop("splits")}
    for name in ("classes", "missing", "notes"):
        facts[name] = tuple(facts[name])
    return Corpus(splits=splits, tokenizer=load_tokenizer(folder), **facts)


def _known_first(
    dataset: Dataset, config: EncodeConfig, tokenizer: Tokenizer | None
) -> tuple[Tokenizer, Iterator[tuple[Split, Encoded, int]]]:
    """The tokenizer, and the encoded splits one after the other, each with how many rows were cut."""
    present = [split for split in SPLITS if dataset.splits.get(split)]

    def each(known: Tokenizer, splits: Sequence[Split]) -> Iterator[tuple[Split, Encoded, int]]:
        for split in splits:
            limit = Limit.of(config, known)
            encoded = _encode(dataset, split, known.encode_batch, limit=limit, tokenizer=known)
            yield split, encoded, len(limit.cut)

    if tokenizer is not None:
        return tokenizer, each(tokenizer, present)
    if "train" not in present:
        way = "; ".join(dataset.missing or dataset.notes) or "give a tokenizer, or data with a training split"
        raise DataError(
            f"{dataset.full_name}: expected a training split to take the vocabulary from, found "
            f"{', '.join(present) or 'no split'}; {way}"
        )
    words, train, cut = _learn(dataset, config)
    return words, chain([("train", train, cut)], each(words, present[1:]))


def _learn(dataset: Dataset, config: EncodeConfig) -> tuple[WordTokenizer, Encoded, int]:
    """The vocabulary of the training split, the split in its ids, and how many of its rows were cut."""
    words = WORDS[config.words]
    numbers: defaultdict[str, int] = defaultdict(count(N_BEFORE).__next__)

    def number(texts: Sequence[str]) -> Iterator[Tokens]:
        for text in texts:
            found = words(text)
            ids = np.fromiter(map(numbers.__getitem__, found.words), np.int32, len(found.words))
            yield frame(ids, found.spans)

    limit = Limit.of(config)
    train = _encode(dataset, "train", number, limit=limit)
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
    ids = replace(train.ids, values=final[train.ids.values])
    return tokenizer, replace(train, ids=ids, pair_ids=pair_ids), len(limit.cut)


def _encode(
    dataset: Dataset,
    split: Split,
    encode_batch: _Encode,
    *,
    limit: Limit,
    tokenizer: Tokenizer | None = None,
) -> Encoded:
    examples = dataset.splits[split]
    where = f"{dataset.full_name}, {split}"
    seconds = _seconds(examples, where)
    if seconds and isinstance(tokenizer, SubwordTokenizer) and tokenizer.joined:
        return _joined(examples, tokenizer, limit, where=where)
    ids, spans, texts = _texts(examples, [x.text for x in examples], encode_batch, limit=limit, where=where)
    encoded = Encoded(
        ids=ids,
        spans=spans,
        labels=np.array([example.label for example in examples], np.int64),
        texts=texts,
        evidence=_evidence(examples, ids.offsets, spans),
        candidates=_candidates(examples),
    )
    if not seconds:
        return encoded
    ids, spans, texts = _texts(examples, seconds, encode_batch, limit=limit, where=where)
    return replace(encoded, pair_ids=ids, pair_spans=spans, pair_texts=texts)


def _seconds(examples: Sequence[Example], where: str) -> list[str]:
    """The second text of every example, or of none."""
    pairs = [example.text_pair for example in examples if example.text_pair is not None]
    if pairs and len(pairs) < len(examples):
        lone = next(example.id for example in examples if example.text_pair is None)
        raise DataError(f"{where}, {lone}: expected a second text as the other examples have, found none")
    return pairs


def _joined(examples: Sequence[Example], tokenizer: SubwordTokenizer, limit: Limit, *, where: str) -> Encoded:
    """Every pair as one row; of one that is too long the longer text is cut, as far as the other goes."""
    rows: list[Joined] = []
    pairs = [(example.text, example.text_pair or "") for example in examples]
    for i, tokens in enumerate(tokenizer.encode_pairs(pairs)):
        rows.append(cut_pair(tokens, limit.excess(len(tokens.ids), f"{where}, {examples[i].id}")))
        if len(np.unique(rows[i].segments[rows[i].spans[:, 0] >= 0])) < 2:
            raise DataError(
                f"{where}, {examples[i].id}: expected a token or more of each text of the pair, found none "
                "of one; leave the pair out"
            )
    offsets = np.cumsum([0, *(len(row.ids) for row in rows)], dtype=np.int64)
    segments = Ragged(np.concatenate([row.segments for row in rows]), offsets)
    spans = Ragged(np.concatenate([row.spans for row in rows]), offsets)
    evidence = _evidence(examples, offsets, spans)
    if evidence is not None:  # which is characters of the first text
        evidence = replace(evidence, values=evidence.values & (segments.values == 0))
    return Encoded(
        ids=Ragged(np.concatenate([row.ids for row in rows]), offsets),
        spans=spans,
        labels=np.array([example.label for example in examples], np.int64),
        texts=_raw(examples, [first for first, _ in pairs], where),
        pair_texts=_raw(examples, [second for _, second in pairs], where),
        evidence=evidence,
        candidates=_candidates(examples),
        segments=segments,
    )


def _texts(
    examples: Sequence[Example],
    texts: Sequence[str],
    encode_batch: _Encode,
    *,
    limit: Limit,
    where: str,
) -> tuple[Ragged, Ragged, Ragged]:
    """Ids, spans and bytes of all the texts, in flat buffers that grow."""
    ids, spans, lengths, raw = array("i"), array("i"), [], _raw(examples, texts, where)
    for example, text, tokens in zip(examples, texts, encode_batch(texts), strict=True):
        if len(tokens.ids) > limit.tokens or not (tokens.spans[:, 0] >= 0).any():
            tokens = _mended(tokens, text, limit, where=f"{where}, {example.id}")
        ids.frombytes(tokens.ids.tobytes())
        spans.frombytes(tokens.spans.tobytes())
        lengths.append(len(ids))
    offsets = np.array([0, *lengths], np.int64)
    return (
        Ragged(np.frombuffer(ids, np.int32), offsets),
        Ragged(np.frombuffer(spans, np.int32).reshape(-1, 2), offsets),
        raw,
    )


def _raw(examples: Sequence[Example], texts: Sequence[str], where: str) -> Ragged:
    """The bytes of the texts."""
    raw, sizes = bytearray(), [0]
    for example, text in zip(examples, texts, strict=True):
        raw += _bytes(text, f"{where}, {example.id}")
        sizes.append(len(raw))
    return Ragged(np.frombuffer(raw, np.uint8), np.array(sizes, np.int64))


def _bytes(text: str, where: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise DataError(
            f"{where}: expected Unicode text, found half a character (\\u{ord(text[error.start]):04x}) at "
            f"character {error.start}; mend the text"
        ) from error


def _mended(tokens: Tokens, text: str, limit: Limit, *, where: str) -> Tokens:
    """The text cut to its first tokens and its special ones, if that was asked for."""
    real = tokens.spans[:, 0] >= 0
    if not real.any():
        raise DataError(
            f"{where}: expected at least one token, found none in {text[:40]!r}; leave the text out, or "
            "choose another word preset (--words)"
        )
    excess = limit.excess(len(tokens.ids), where)
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


def _corpus(
    dataset: Dataset, tokenizer: Tokenizer, splits: Mapping[Split, Encoded], reports: Mapping[Split, Any]
) -> Corpus:
    return Corpus(
        name=dataset.name,
        variant=dataset.variant,
        task=dataset.task,
        classes=dataset.classes,
        splits=splits,
        tokenizer=tokenizer,
        report={"vocabulary": len(tokenizer.vocabulary), "splits": reports},
        missing=dataset.missing,
        notes=dataset.notes,
        substituted=dataset.substituted,
    )


def _report(encoded: Encoded, tokenizer: Tokenizer, cut: int) -> dict[str, float]:
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
        **({"cut": cut} if cut else {}),
    }


def _both(encoded: Encoded) -> Iterable[tuple[Ragged, Ragged]]:
    yield encoded.ids, encoded.spans
    if encoded.pair_ids is not None and encoded.pair_spans is not None:
        yield encoded.pair_ids, encoded.pair_spans


def _facts(corpus: Corpus) -> dict[str, Any]:
    names = ("name", "variant", "task", "classes", "missing", "notes", "substituted")
    return {name: getattr(corpus, name) for name in names}
