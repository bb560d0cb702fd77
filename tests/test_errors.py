"""The tree of exceptions that users may catch."""

from __future__ import annotations

import inspect

import pytest

from faithgauge import errors

KINDS = [kind for _, kind in inspect.getmembers(errors, inspect.isclass)]


def test_there_is_one_kind_for_each_thing_that_can_be_put_right() -> None:
    assert {kind.__name__ for kind in KINDS} == {
        "FaithgaugeError", "ConfigError", "DataError", "UnsupportedError", "JobError",
    }  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_can_be_caught_as_a_faithgauge_error_and_says_what_it_was_given(
    kind: type[errors.FaithgaugeError],
) -> None:
    with pytest.raises(errors.FaithgaugeError, match=r"^row 3: expected a label$"):
        raise kind("row 3: expected a label")


def test_no_error_of_ours_is_mistaken_for_one_of_python() -> None:
    assert errors.FaithgaugeError.__mro__[1] is Exception
    assert all(
        kind.__mro__[1] is errors.FaithgaugeError for kind in KINDS if kind is not errors.FaithgaugeError
    )
