"""Which models ROAR trains, on what, and what they share."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from faithgauge import jobs, removing
from faithgauge.engine.job import Job, key_of
from faithgauge.engine.run import graph
from faithgauge.errors import ConfigError
from faithgauge.plans.grid import jobs_of
from faithgauge.plans.study import read

STUDY = """\
seeds = [0]
tests = ["recursive_roar"]
explainers = ["attention", "gradient:recursive-roar-2022"]
[data]
names = ["planted"]
[model]
encoder = "mlp"
[roar]
fractions = [0, 0.1, 0.2, 0.3, 1]
null = false
"""


def asked(folder: Path, *changes: str) -> list[Job]:
    path = folder / "study.toml"
    path.write_text(STUDY)
    return jobs_of(read(path, changes))


def the_curves(folder: Path, *changes: str) -> Any:
    return asked(folder, *changes)[0]


def kinds(*targets: Job) -> Counter[str]:
    return Counter(type(node.job).__name__ for node in graph(targets).values())


def test_each_explainer_has_a_model_at_every_step_and_all_share_both_ends(tmp_path: Path) -> None:
    """Three explainers, random among them, at three steps, and two models that they share."""
    found = kinds(*asked(tmp_path))
    assert (found["Train"], found["Evaluate"], found["Mask"]) == (3 * 3 + 2, 3 * 3 + 2, 3 * 3 + 1)
    # Random is drawn once; each other one is asked again at every step.
    assert found["Explain"] == 1 + 2 * 3
    assert (found["Prepare"], found["Curves"], found["OverSeeds"]) == (1, 1, 1)


def test_plain_roar_asks_each_explainer_once(tmp_path: Path) -> None:
    found = kinds(*asked(tmp_path, 'tests=["roar"]'))
    assert (found["Train"], found["Mask"], found["Explain"]) == (11, 10, 3)


def test_plain_and_recursive_share_random_the_ends_and_the_first_step(tmp_path: Path) -> None:
    both = kinds(*asked(tmp_path, 'tests=["roar", "recursive_roar"]'))
    assert both["Train"] == 2 + 3 + 2 * (1 + 2 + 2)


def test_recursion_wraps_one_training_in_the_next(tmp_path: Path) -> None:
    steps = the_curves(tmp_path).steps["attention"]
    first, second = steps["0.1"].model, steps["0.2"].model
    masked = second.data
    assert (masked.fraction, masked.data) == (0.2, first.data)
    assert key_of(masked.explanation.model) == key_of(first)
    assert key_of(masked.explanation.data) == key_of(first.data)
    assert first.data.explanation.model.data.name == "planted"


def test_plain_masks_the_whole_texts_by_one_explanation(tmp_path: Path) -> None:
    steps = the_curves(tmp_path, 'tests=["roar"]').steps["attention"]
    explanations = {key_of(one.data.explanation) for one in steps.values()}
    assert len(explanations) == 1
    assert {type(one.data.data).__name__ for one in steps.values()} == {"Prepare"}


def test_all_splits_are_masked_and_validation_is_measured_too(tmp_path: Path) -> None:
    done = the_curves(tmp_path).steps["attention"]["0.1"]
    assert done.data.splits == done.data.explanation.splits == ()
    assert done.splits == ("validation", "test")


def test_the_label_that_is_explained_can_be_said_for_all(tmp_path: Path) -> None:
    def explained(*changes: str) -> str:
        steps = the_curves(tmp_path, *changes).steps["gradient:recursive-roar-2022"]
        return str(steps["0.1"].data.explanation.explainer)

    assert explained() == "gradient:norm=vocabulary:of=logit:target=gold"
    assert explained("roar.label=predicted") == "gradient:norm=vocabulary:of=logit"
    assert the_curves(tmp_path, "roar.label=predicted").setting["label"] == "predicted"
    own = the_curves(tmp_path, "roar.label=predicted").steps["random"]["0.1"]
    assert key_of(own) == key_of(the_curves(tmp_path).steps["random"]["0.1"])


def test_what_asks_for_no_class_is_the_same_job_whatever_label_is_explained(tmp_path: Path) -> None:
    plain, gold = (the_curves(tmp_path, *change).steps["attention"] for change in ((), ("roar.label=gold",)))
    assert {step: key_of(job) for step, job in plain.items()} == {
        step: key_of(job) for step, job in gold.items()
    }


@pytest.mark.parametrize("test", ["recursive_roar", "roar", "recursive_roar_by_count"])
def test_both_labels_stand_side_by_side_and_what_the_gold_one_tells_is_measured(
    tmp_path: Path, test: str
) -> None:
    both = f'tests=["{test}"]', 'roar.label=["gold", "predicted"]', "seeds=[0, 1]"
    found: list[Any] = asked(tmp_path, *both)
    assert [type(job).__name__ for job in found] == [
        *("Curves", "Curves", "OverSeeds", "OverSeeds", "Leakage", "Curves", "Curves")
    ]
    gold, predicted, *_ = found
    assert (gold.setting["label"], predicted.setting["label"]) == ("gold", "predicted")
    assert key_of(gold.full) == key_of(predicted.full)
    for name, same in (("random", True), ("attention", True), ("gradient:recursive-roar-2022", False)):
        steps = zip(gold.steps[name].values(), predicted.steps[name].values(), strict=True)
        assert {key_of(one) == key_of(other) for one, other in steps} == {same}
    leakage = found[4]
    assert leakage.explainers == ("gradient:recursive-roar-2022",)
    assert list(map(key_of, leakage.gold)) == [key_of(found[0]), key_of(found[5])]
    assert list(map(key_of, leakage.predicted)) == [key_of(found[1]), key_of(found[6])]


def test_other_tests_of_roar_take_both_labels_too(tmp_path: Path) -> None:
    names = 'tests=["masked_training", "sparsity", "roar_shortcuts"]'
    found = asked(tmp_path, names, 'roar.label=["gold", "predicted"]')
    counts = Counter(type(job).__name__ for job in found)
    # Four roads of each label, of which masked training is asked for twice.
    assert counts == {"Curves": 2 * 4, "Sparse": 2, "Shortcut": 2 * 3}


def test_the_null_is_a_random_order_of_its_own(tmp_path: Path) -> None:
    found = the_curves(tmp_path, "roar.null=true")
    assert set(found.steps) == {"random", "attention", "gradient:recursive-roar-2022", "random_2"}
    steps = found.steps["random_2"]
    assert {one.data.explanation.explainer for one in steps.values()} == {"random_2"}
    assert key_of(steps["0.1"].data.explanation) == key_of(steps["0.3"].data.explanation)


def test_the_chain_that_takes_longest_begins_first(tmp_path: Path) -> None:
    """The engine starts what stands first, and of one chain no step can be done beside another."""
    names = '["attention", "gradient", "integrated_gradient", "oracle"]'
    found = the_curves(tmp_path, f"explainers={names}")
    assert list(found.steps) == ["integrated_gradient", "gradient", "attention", "random", "oracle"]


def test_tokens_can_be_counted_instead(tmp_path: Path) -> None:
    found = the_curves(tmp_path, 'tests=["recursive_roar_by_count"]', "roar.counts=[1, 2]")
    assert list(found.steps["attention"]) == ["1", "2"]
    masked = found.steps["attention"]["2"].data
    assert (masked.count, masked.fraction, masked.data.count) == (2, None, 1)
    assert (found.ends_at_floor, found.setting["by"]) == (False, "count")


def test_a_warm_start_begins_as_the_model_before(tmp_path: Path) -> None:
    steps = the_curves(tmp_path, "roar.warm_start=true").steps["attention"]
    assert key_of(steps["0.2"].model.base) == key_of(steps["0.1"].model)
    assert the_curves(tmp_path).steps["attention"]["0.2"].model.base is None


def test_a_chain_that_may_end_early_asks_before_every_step_but_the_first(tmp_path: Path) -> None:
    steps = the_curves(tmp_path, "roar.early_stop_fractions=0.01").steps["attention"]
    assert key_of(steps["0.1"]) == key_of(the_curves(tmp_path).steps["attention"]["0.1"])
    second = steps["0.2"]
    assert isinstance(second, removing.EvaluateOn)
    assert isinstance(second.stop, removing.AtFloor)
    assert key_of(second.stop.last) == key_of(steps["0.1"])
    assert second.stop.tolerance == 0.01
    stops = {key_of(one.stop) for one in (second, second.model, second.data, second.data.explanation)}  # type: ignore[attr-defined]
    assert stops == {key_of(second.stop)}


def test_training_on_masked_texts_is_one_training_for_all_explainers(tmp_path: Path) -> None:
    (found,) = asked(tmp_path, 'tests=["masked_training"]')
    assert isinstance(found, removing.Curves)
    assert kinds(found)["Train"] == 1
    assert found.area == "masked_training_curve"
    done = found.steps["attention"]["0.2"]
    assert isinstance(done, jobs.Evaluate)
    assert done.model.masked_inputs  # type: ignore[attr-defined]
    assert done.data.splits == ("test",)  # type: ignore[attr-defined]


def test_seeds_are_put_together_once(tmp_path: Path) -> None:
    found = asked(tmp_path, "seeds=[3, 4]")
    assert [type(job).__name__ for job in found] == ["Curves", "OverSeeds", "Curves"]
    assert list(map(key_of, found[1].curves)) == [key_of(found[0]), key_of(found[2])]  # type: ignore[attr-defined]


def test_ways_that_are_cheaper_are_each_held_against_the_full_one(tmp_path: Path) -> None:
    found = asked(tmp_path, 'tests=["roar_shortcuts"]')
    names = [job.name for job in found if isinstance(job, removing.Shortcut)]
    assert names == ["warm_start", "early_stop_fractions", "masked_training"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("roar.fractions=[0.1, 1]", "--set roar.fractions: expected fractions from 0, the unmasked texts"),
        ("roar.fractions=[0, 0.5, 0.2]", "--set roar.fractions: expected fractions in rising order"),
        ("roar.fractions=[0, 2]", "--set roar.fractions: input should be less than or equal to 1"),
        ("roar.fractions=[0, 1]", "expected fractions between 0 and 1, such as 0, 0.1 … 1, found 0, 1"),
        ('explainers=["random"]', "study.toml: ROAR holds explainers against random: expected one or more"),
        ("roar.counts=[2, 1]", "--set roar.counts: expected counts in rising order, found 2, 1"),
        ('roar.label=["golden"]', "--set roar.label: "),
        ("roar.metric=f1", "--set roar.metric: unknown metric 'f1'"),
        ("roar.fraction=[0, 1]", "--set roar.fraction=[0, 1]: unknown key 'roar.fraction': did you mean"),
    ],
)
def test_what_cannot_be_masked_is_said_with_its_place(tmp_path: Path, change: str, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        asked(tmp_path, change)
    assert message in str(raised.value)
