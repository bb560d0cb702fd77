"""The table of synthetic data sets."""

from __future__ import annotations

import pytest

from faithgauge.config import DataConfig
from faithgauge.data.synthetic import SYNTHETIC
from faithgauge.errors import ConfigError
from faithgauge.types import SPLITS


def test_all_of_attefas_sets_and_ours_are_there():
    names = "mock-1 mock-2 mock-5 mock-10 mock-1q mock-2q mock-3q mock-4q planted"
    assert list(SYNTHETIC) == names.split()


@pytest.mark.parametrize("name", SYNTHETIC)
def test_each_is_called_by_its_name_and_has_all_splits_and_evidence(name: str):
    dataset = SYNTHETIC[name](DataConfig(name))
    assert (dataset.name, dataset.task, dataset.classes) == (name, "single", ("negative", "positive"))
    assert tuple(dataset.splits) == SPLITS
    assert all(example.evidence for split in SPLITS for example in dataset.splits[split])


@pytest.mark.parametrize("name", SYNTHETIC)
def test_no_two_examples_of_a_split_have_the_same_id(name: str):
    dataset = SYNTHETIC[name](DataConfig(name))
    ids = [example.id for split in SPLITS for example in dataset.splits[split]]
    assert len(set(ids)) == len(ids)


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(ConfigError, match="unknown synthetic data set 'mok-5': did you mean 'mock-5'"):
        SYNTHETIC["mok-5"]
