from __future__ import annotations

import hashlib
import pickle
import time
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from engine.toys import Sum

from faithgauge.engine.job import (
    File,
    Job,
    Reference,
    apart,
    facts,
    files_of,
    for_travel,
    in_order,
    inputs_of,
    key_of,
    later,
)


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True)
class Rate:
    rate: float = 0.1
    decay: float = later(0.0)


@dataclass(frozen=True, eq=False)
class Fit(Job):
    seed: int
    rate: Rate = Rate()
    name: str | None = None
    parts: Any = ()


@dataclass(frozen=True, eq=False)
class FitWithMore(Job):
    seed: int
    option: int = later(3)
    place: Path | None = apart(None)


def chain(length: int) -> Job:
    job: Job = Sum(0)
    for i in range(1, length):
        job = Sum(i, (job,))
    return job


def diamonds(length: int) -> Job:
    job: Job = Sum(0)
    for i in range(1, length):
        job = Sum(i, (Sum(-i, (job,)), Sum(-i - length, (job,))))
    return job


def test_the_key_is_the_hash_of_kind_version_and_fields_written_by_hand() -> None:
    text = '{"fields":{"name":null,"parts":[],"rate":{"rate":0.1},"seed":7},"kind":"Fit","version":1}'
    assert hashlib.sha256(text.encode()).hexdigest() == key_of(Fit(7))
    assert key_of(Fit(7)) == "d28dea4a3fc9648b73af66b442d06a8a3bd83f89099728f3ab848cd04db24a0e"


def test_an_input_enters_by_its_key() -> None:
    inner = key_of(Fit(7))
    text = '{"fields":{"name":null,"parts":[{"job":"' + inner + '"}],"rate":{"rate":0.1},"seed":8}'
    text += ',"kind":"Fit","version":1}'
    assert key_of(Fit(8, parts=(Fit(7),))) == hashlib.sha256(text.encode()).hexdigest()


def test_equal_jobs_have_one_key_and_other_fields_another() -> None:
    assert key_of(Fit(1)) == key_of(Fit(1))
    assert len({key_of(job) for job in (Fit(1), Fit(2), Fit(1, Rate(0.2)), Fit(1, name=""), Sum(1))}) == 5


def test_one_the_number_and_one_the_truth_value_are_not_the_same() -> None:
    assert len({key_of(Fit(1, parts=value)) for value in (1, 1.0, True, "1")}) == 4


def test_another_version_is_another_key() -> None:
    class Newer(Fit):
        version = 2

    Newer.__name__ = "Fit"
    assert key_of(Newer(7)) != key_of(Fit(7))


def test_a_field_added_later_leaves_old_keys_until_it_has_a_value() -> None:
    assert facts(FitWithMore(1))["fields"] == {"seed": 1}
    assert facts(FitWithMore(1, option=4))["fields"] == {"seed": 1, "option": 4}
    assert facts(Fit(1, Rate(decay=0.5)))["fields"]["rate"] == {"rate": 0.1, "decay": 0.5}


def test_a_field_apart_is_never_in_the_key() -> None:
    assert key_of(FitWithMore(1, place=Path("here"))) == key_of(FitWithMore(1, place=Path("there")))


def test_a_file_is_its_content_not_its_path(tmp_path: Path) -> None:
    for name, text in (("a", "same"), ("b", "same"), ("c", "other")):
        (tmp_path / name).write_text(text)
    same, again, other = (key_of(Fit(1, parts=File.of(tmp_path / name))) for name in "abc")
    assert same == again != other
    assert facts(Fit(1, parts=File.of(tmp_path / "a")))["fields"]["parts"] == {
        "file": hashlib.sha256(b"same").hexdigest()
    }


def test_values_become_the_types_of_json() -> None:
    parts = {"b": (1, [2.5, None]), "a": MappingProxyType({"x": Colour.RED, "y": Rate()})}
    assert facts(Fit(1, parts=parts))["fields"]["parts"] == {
        "b": [1, [2.5, None]],
        "a": {"x": "red", "y": {"rate": 0.1}},
    }


def test_the_order_of_a_mapping_does_not_count() -> None:
    assert key_of(Fit(1, parts={"a": 1, "b": 2})) == key_of(Fit(1, parts={"b": 2, "a": 1}))


def test_what_has_no_canonical_form_is_refused() -> None:
    with pytest.raises(TypeError, match="cannot be a set"):
        key_of(Fit(1, parts={1, 2}))
    with pytest.raises(ValueError, match="not JSON compliant"):
        key_of(Fit(1, parts=float("nan")))


def test_inputs_and_files_are_found_in_tuples_and_mappings(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("f")
    file, one, two = File.of(tmp_path / "f"), Fit(1), Fit(2)
    job = Fit(3, parts={"a": (one, {"b": two}), "c": [file]})
    assert inputs_of(job) == [one, two]
    assert files_of(job) == [file]


def test_jobs_come_after_their_inputs_and_once() -> None:
    a, b = Sum(1), Sum(2)
    c = Sum(3, (a, b))
    d = Sum(4, (b, c))
    assert in_order([d, a]) == [a, b, c, d] or in_order([d, a]) == [b, a, c, d]
    assert in_order([a, d]) == [a, b, c, d]


def test_a_job_travels_with_references_and_its_key_stays() -> None:
    job = Sum(9, (Sum(1), Sum(2, (Sum(3),))))
    there = for_travel(job)
    assert isinstance(there, Sum)
    assert there.inputs == tuple(Reference(key_of(one)) for one in job.inputs)  # type: ignore[comparison-overlap]
    assert key_of(there) == key_of(job)


def test_what_travels_is_small_however_long_the_chain() -> None:
    assert len(pickle.dumps(for_travel(chain(3000)))) == pytest.approx(
        len(pickle.dumps(for_travel(chain(3)))), abs=20
    )


@pytest.mark.parametrize("make", [chain, diamonds])
def test_a_long_chain_needs_no_recursion_and_linear_time(make: Any) -> None:
    def seconds(length: int) -> float:
        target = make(length)
        started = time.process_time()
        key_of(target)
        assert len(in_order([target])) >= length
        return time.process_time() - started

    short, long = min(seconds(2_000) for _ in range(2)), seconds(50_000 if make is chain else 10_000)
    assert long < 4 * short * (25 if make is chain else 5)


def test_keys_of_a_chain_asked_for_on_the_way_take_linear_time() -> None:
    job: Job = Sum(0)
    started = time.process_time()
    for i in range(20_000):
        job = Sum(i, (job,))
        key_of(job)
    assert time.process_time() - started < 5


def test_a_kind_without_run_says_so(tmp_path: Path) -> None:
    @dataclass(frozen=True, eq=False)
    class Idle(Job):
        fields: tuple[int, ...] = field(default=())

    class Anywhere:
        folder = tmp_path

    with pytest.raises(TypeError, match=r"Idle cannot compute into .*: it has no run"):
        Idle().run(Anywhere())  # type: ignore[arg-type]
