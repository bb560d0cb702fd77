"""What the package promises to those who import it."""

from __future__ import annotations

import subprocess
import sys

import pytest

import faithgauge
from faithgauge.data.dataset import Dataset
from faithgauge.errors import ConfigError

PUBLIC = [
    "Audit",
    "Batch",
    "Classifier",
    "ConfigError",
    "DataError",
    "Dataset",
    "Encoded",
    "Example",
    "Explanation",
    "FaithgaugeError",
    "Importance",
    "JobError",
    "Output",
    "Trained",
    "UnsupportedError",
    "Verdicts",
    "__version__",
    "audit",
    "explain",
    "load",
    "load_model",
    "predict",
    "read_scores",
    "train",
]
"""Names may be added to this list; to take one away breaks somebody's program."""

NEED_TORCH = ("Trained",)


def test_the_public_names_are_these() -> None:
    assert sorted(faithgauge.__all__) == sorted(PUBLIC)
    assert dir(faithgauge) == faithgauge.__all__


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_there_and_says_what_it_is(name: str) -> None:
    value = getattr(faithgauge, name)
    assert value.__doc__


def run(program: str) -> None:
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("name", [name for name in PUBLIC if name not in ("__version__", *NEED_TORCH)])
def test_a_name_is_imported_when_it_is_used_and_without_torch(name: str) -> None:
    run(
        "import sys, faithgauge\n"
        f"assert {name!r} not in vars(faithgauge)\n"
        f"from faithgauge import {name}\n"
        f"assert {name} is faithgauge.{name}\n"
        "assert 'torch' not in sys.modules\n"
    )


@pytest.mark.parametrize("name", ["train", "explain"])
def test_a_function_with_the_name_of_a_folder_is_the_function_whatever_was_imported_before(name: str) -> None:
    run(
        "import types, faithgauge\n"
        f"import faithgauge.{name}\n"
        f"from faithgauge.{name} import __doc__\n"
        f"assert isinstance(faithgauge.{name}, types.FunctionType)\n"
        f"from faithgauge import {name}\n"
        f"assert isinstance({name}, types.FunctionType)\n"
    )


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'faithgauge' has no attribute 'lod'"):
        faithgauge.lod  # noqa: B018


def test_load_takes_the_options_of_the_command() -> None:
    dataset = faithgauge.load("planted", seed=3, evidence=2, position="start")
    assert isinstance(dataset, Dataset)
    assert dataset.task == "single"
    first = dataset.splits["train"][0]
    assert first.evidence is not None
    assert len(first.evidence) == 2


def test_load_of_one_seed_is_always_the_same_and_of_another_seed_another() -> None:
    assert faithgauge.load("mock-2", seed=1) == faithgauge.load("mock-2", seed=1)
    assert faithgauge.load("mock-2", seed=1) != faithgauge.load("mock-2", seed=2)


def test_a_misspelt_option_of_load_is_answered_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"^unknown option of load 'sed': did you mean 'seed'\?$"):
        faithgauge.load("mock-1", sed=3)
