"""The plans of tests that train again: which jobs there are, and what a study may say of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from faithgauge import jobs, judging
from faithgauge.errors import ConfigError, FaithgaugeError, UnsupportedError
from faithgauge.plans.grid import jobs_of
from faithgauge.plans.study import Study, read

SMALL = '[data]\nnames = "planted"\n'


def study(folder: Path, text: str, *changes: str) -> Study:
    path = folder / "s.toml"
    path.write_text(text, encoding="utf-8")
    return read(path, changes)


def planned(folder: Path, test: str, more: str = "", seeds: str = "[3, 5]") -> list[object]:
    return list(jobs_of(study(folder, f'seeds = {seeds}\ntests = ["{test}"]\n{SMALL}{more}')))


def test_attefa_gauges_every_seed_with_a_base_of_its_own(tmp_path: Path) -> None:
    found = planned(tmp_path, "attefa", '[adversary]\nstarts = ["fresh", "warm:2"]\n')
    gauges = [job for job in found if isinstance(job, judging.Gauge)]
    assert [gauge.setting["base_seed"] for gauge in gauges] == [3, 5]
    for gauge in gauges:
        trained = [answer.model for answer in gauge.adversaries.values()]  # type: ignore[attr-defined]
        assert [(one.adversary.start, one.adversary.draw) for one in trained] == [("fresh", 0), ("warm", 2)]
        assert {one.train.seed for one in trained} == {gauge.setting["base_seed"]}
        assert {(one.train.epochs, one.train.patience, one.train.select_by) for one in trained} == {
            (80, 10, "loss")
        }


def test_all_adversaries_may_oppose_the_base_of_the_first_seed(tmp_path: Path) -> None:
    found = planned(tmp_path, "attefa", '[adversary]\nbase_seed = "first"\n')
    gauges = [job for job in found if isinstance(job, judging.Gauge)]
    assert [gauge.setting["base_seed"] for gauge in gauges] == [3, 3]
    assert {gauge.base.model.train.seed for gauge in gauges} == {3}  # type: ignore[attr-defined]
    assert [gauge.adversaries["fresh"].model.train.seed for gauge in gauges] == [3, 5]  # type: ignore[attr-defined]
    assert len([job for job in found if isinstance(job, jobs.Evaluate)]) == 1


def test_only_a_start_from_the_base_has_the_base_as_input(tmp_path: Path) -> None:
    (gauge, _) = planned(tmp_path, "attefa", '[adversary]\nstarts = ["fresh", "base", "warm"]\n', "[0]")
    adversaries = gauge.adversaries.items()  # type: ignore[attr-defined]
    assert {start: answer.model.base is not None for start, answer in adversaries} == {
        "fresh": False, "base": True, "warm": False,
    }  # fmt: skip


def test_an_adversary_is_selected_where_its_base_was_unless_the_study_says(tmp_path: Path) -> None:
    text = '[train]\nselect_on = "test"\n'
    for more, split in ((text, "test"), (text + '[adversary]\nselect_on = "validation"\n', "validation")):
        (gauge, _) = planned(tmp_path, "attefa", more, "[0]")
        assert gauge.select_on == split  # type: ignore[attr-defined]
        assert gauge.adversaries["fresh"].model.train.select_on == split  # type: ignore[attr-defined]


def test_a_sweep_compares_each_weight_and_all_together(tmp_path: Path) -> None:
    found = planned(tmp_path, "trained_adversary", "[adversary]\nweights = [0, 0.5]\n", "[0]")
    compared = [job for job in found if isinstance(job, judging.Compare)]
    assert [job.setting["lambda"] for job in compared] == [0, 0.5]
    (sweep,) = [job for job in found if isinstance(job, judging.Sweep)]
    assert sweep.weights == (0, 0.5)
    assert [job.model.adversary.weight for job in sweep.adversaries] == [0, 0.5]  # type: ignore[attr-defined]


def test_weights_may_be_given_by_data_set(tmp_path: Path) -> None:
    text = 'tests = ["trained_adversary"]\n[data]\nnames = ["planted", "mock-2"]\n'
    own = study(tmp_path, text + "[adversary.weights]\nplanted = [0.25]\n").adversary
    assert own.weights_of("planted") == (0.25,)
    assert own.weights_of("planted@variant") == (0.25,)
    assert len(own.weights_of("mock-2")) == 6
    assert study(tmp_path, text, "adversary.weights={planted=[1, 2]}").adversary.weights_of("planted") == (
        1,
        2,
    )


@pytest.mark.parametrize("weights", ["[0, -1]", "{planted=[0, -1]}"])
def test_a_weight_below_zero_is_named(tmp_path: Path, weights: str) -> None:
    expected = r"^--set adversary\.weights: input should be greater than or equal to 0, found -1$"
    with pytest.raises(ConfigError, match=expected):
        study(tmp_path, f'tests = ["trained_adversary"]\n{SMALL}', f"adversary.weights={weights}")


def test_a_gap_to_uniform_attention_is_one_over_all_seeds(tmp_path: Path) -> None:
    found = planned(tmp_path, "uniform")
    (gap,) = [job for job in found if isinstance(job, judging.Surpass)]
    assert (len(gap.base), len(gap.others)) == (2, 2)
    distributions = [job.model.model.distribution for job in found if isinstance(job, jobs.Evaluate)]  # type: ignore[attr-defined]
    assert sorted(distributions) == ["softmax", "softmax", "uniform", "uniform"]


def test_seeds_are_compared_with_the_first(tmp_path: Path) -> None:
    found = planned(tmp_path, "seed_variance", seeds="[3, 5, 8]")
    assert [(job.base.model.train.seed, job.other.model.train.seed) for job in found] == [(3, 5), (3, 8)]  # type: ignore[attr-defined]


def test_one_seed_has_no_variance(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="compares seeds: expected two or more, found 3 alone"):
        planned(tmp_path, "seed_variance", seeds="[3]")


def test_guides_are_uniform_own_base_adversary_and_every_explainer(tmp_path: Path) -> None:
    text = f'tests = ["guides"]\nexplainers = ["attention", "gradient"]\n{SMALL}'
    found = jobs_of(study(tmp_path, text))
    assert [job.setting["guide"] for job in found] == ["uniform", "own", "base", "adversary", "gradient"]  # type: ignore[attr-defined]
    assert {job.model.model.encoder for job in found} == {"mlp"}  # type: ignore[attr-defined]


def test_a_token_wise_model_guides_nobody(tmp_path: Path) -> None:
    assert planned(tmp_path, "guides", '[model]\nencoder = "mlp"\n') == []


@pytest.mark.parametrize("test", ["attefa", "trained_adversary", "guides"])
def test_a_base_with_uniform_attention_cannot_be_opposed(tmp_path: Path, test: str) -> None:
    with pytest.raises(UnsupportedError, match=r"^s\.toml: an adversary needs attention that is trained"):
        planned(tmp_path, test, '[model]\ndistribution = "uniform"\n')


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "weights = [-0.1]",
            "s.toml: [adversary] weights: input should be greater than or equal to 0, found -0.1",
        ),
        ("weights = []", "s.toml: [adversary] weights: expected one value or more, found none"),
        ("weights = {planted = []}", "s.toml: [adversary] weights: expected one value or more, found none"),
        ("epoch = 3", "s.toml: [adversary] unknown key 'epoch': did you mean 'epochs'?"),
        ("epochs = 0", "s.toml: [adversary] epochs: input should be greater than or equal to 1, found 0"),
        ('starts = ["frsh"]', "s.toml: [adversary] starts: expected a start such as fresh, warm, "),
        (
            'base_seed = "frist"',
            "s.toml: [adversary] base_seed: input should be 'own' or 'first', found 'frist'",
        ),
        ('select_on = "train"', "s.toml: [adversary] select_on: input should be 'validation' or 'test'"),
    ],
)
def test_what_is_wrong_with_an_adversary_is_told_with_its_place(
    tmp_path: Path, line: str, message: str
) -> None:
    with pytest.raises(FaithgaugeError) as raised:
        study(tmp_path, f"{SMALL}[adversary]\n{line}\n")
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)


def test_a_key_of_an_adversary_that_stands_elsewhere_is_sent_home(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"unknown key 'starts': it belongs in \[adversary\]"):
        study(tmp_path, 'starts = ["fresh"]\n' + SMALL)
