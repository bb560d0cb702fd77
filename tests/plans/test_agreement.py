from __future__ import annotations

from pathlib import Path

import pytest

from faithgauge import jobs
from faithgauge.engine.job import key_of
from faithgauge.errors import ConfigError
from faithgauge.plans.grid import jobs_of
from faithgauge.plans.study import read

STUDY = """\
seeds = [0, 1, 2]
tests = ["agreement"]
explainers = ["attention", "leave_one_out:jain-wallace-2019", "random"]
instances = 50
[data]
names = ["planted"]
[model]
encoder = "mlp"
"""


def asked(folder: Path, *changes: str, text: str = STUDY) -> list[jobs.Agree]:
    path = folder / "study.toml"
    path.write_text(text)
    return jobs_of(read(path, changes))  # type: ignore[return-value]


def test_each_model_has_one_comparison_of_all_explainers_by_their_labels(tmp_path: Path) -> None:
    found = asked(tmp_path)
    assert [job.model.train.seed for job in found] == [0, 1, 2]  # type: ignore[attr-defined]
    assert list(found[0].explanations) == ["attention", "leave_one_out:jain-wallace-2019", "random"]
    written = [one.explainer for one in found[0].explanations.values()]  # type: ignore[attr-defined]
    assert written == ["attention", "leave_one_out:absolute=True", "random"]
    assert {one.instances for one in found[0].explanations.values()} == {50}  # type: ignore[attr-defined]


def test_what_is_written_otherwise_and_means_the_same_is_the_same_job(tmp_path: Path) -> None:
    preset = asked(tmp_path)
    options = asked(tmp_path, 'explainers=["attention", "leave_one_out:absolute=true", "random"]')
    assert list(map(key_of, preset)) == list(map(key_of, options))


def test_one_explainer_alone_cannot_be_compared(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"study\.toml: the test 'agreement' compares explainers: expected two"
    ):
        asked(tmp_path, 'explainers=["attention"]')


def test_stability_compares_each_seed_with_the_next_and_the_last_with_the_first(tmp_path: Path) -> None:
    found = asked(tmp_path, 'tests=["stability"]')
    assert [(job.model.train.seed, dict(job.setting)) for job in found] == [  # type: ignore[attr-defined]
        (0, {"again_seed": 1}),
        (1, {"again_seed": 2}),
        (2, {"again_seed": 0}),
    ]
    again = found[0].again["attention"]
    assert again.model.train.seed == again.seed == 1  # type: ignore[attr-defined]


def test_two_seeds_are_compared_once(tmp_path: Path) -> None:
    assert len(asked(tmp_path, 'tests=["stability"]', "seeds=[3, 5]")) == 1


def test_stability_needs_two_seeds(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="expected two or more, found 7 alone"):
        asked(tmp_path, 'tests=["stability"]', "seeds=[7]")
