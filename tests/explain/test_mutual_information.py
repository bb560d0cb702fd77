from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
import torch
from fakes import EOS, SOS, batch_of, classifier, encode, some_split
from forms import explained

from faithgauge.errors import UnsupportedError
from faithgauge.explain.asked import asked
from faithgauge.explain.mutual_information import by_word
from faithgauge.explain.split import refuse_what_lacks
from faithgauge.models.question import Known

TRAIN = encode([[SOS, 4, 5, 4, EOS], [SOS, 4, 5, EOS], [SOS, 5, 6, EOS], [SOS, 5, EOS]], [1, 1, 0, 0])


def test_the_information_of_words_by_hand() -> None:
    """Of four texts, two of each label: word 4 is in those of label 1 and word 5 in all of them.

    Word 6 is in one text of label 0: ¼ ln 2 + ½ ln (4/3) + ¼ ln (2/3).
    """
    of_six = 0.25 * math.log(2) + 0.5 * math.log(4 / 3) + 0.25 * math.log(2 / 3)
    assert by_word(TRAIN)[4:].tolist() == pytest.approx([math.log(2), 0, of_six])


def test_every_token_of_a_word_gets_its_information() -> None:
    found = explained(
        "mutual_information", classifier(), batch_of([[SOS, 4, 9, 4, 5, EOS]]), Known(train=TRAIN)
    )
    expected = [math.nan, math.log(2), 0, math.log(2), 0, math.nan]
    assert found.scores[0].tolist() == pytest.approx(expected, nan_ok=True, abs=1e-7)
    assert found.signed is False


def test_a_word_that_is_beyond_the_training_texts_tells_nothing() -> None:
    found = explained("mutual_information", classifier(), batch_of([[7, 23]]), Known(train=TRAIN))
    assert found.scores.tolist() == [[0, 0]]


def test_it_is_what_counting_text_by_text_gives() -> None:
    split = some_split(40, classes=3)
    n, labels = len(split), Counter(split.labels.tolist())
    for word, found in enumerate(by_word(split)):
        expected = 0.0
        holds = [word in split.ids.row(i) for i in range(n)]
        for here in (True, False):
            for label in labels:
                joint = sum(h == here and y == label for h, y in zip(holds, split.labels, strict=True)) / n
                if joint:
                    expected += joint * math.log(joint / (holds.count(here) / n * labels[label] / n))
        assert found == pytest.approx(expected, abs=1e-12)


def test_the_table_is_made_once_for_a_split() -> None:
    known = Known(train=TRAIN)
    explained("mutual_information", classifier(), batch_of([[4]]), known)
    known.memo["mutual information"] = torch.full((5,), 7.0)
    assert explained("mutual_information", classifier(), batch_of([[4]]), known).scores.item() == 7


def test_no_training_texts_tell_nothing() -> None:
    assert np.array_equal(by_word(encode([])), [0])


def test_without_the_training_split_it_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="mutual information needs the training split"):
        explained("mutual_information", classifier(), batch_of([[4]]))
    with pytest.raises(UnsupportedError) as raised:
        refuse_what_lacks(classifier(), asked("mutual_information"), known=Known())
    assert str(raised.value) == (
        "mutual_information needs the training split, found none; choose another explainer"
    )
