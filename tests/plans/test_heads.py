from __future__ import annotations

from pathlib import Path

import pytest
import tiny

from faithgauge import results
from faithgauge.engine.inline import Inline
from faithgauge.engine.run import run
from faithgauge.engine.store import Store
from faithgauge.errors import ConfigError, UnsupportedError
from faithgauge.plans.grid import jobs_of
from faithgauge.plans.study import read

STUDY = """
seeds = [0]
tests = ["{tests}"]
[data]
names = ["reviews.csv"]
[model]
encoder = "{encoder}"
[train]
epochs = 1
learning_rate = 0.01
select_by = "loss"
[adversary]
starts = [{starts}]
epochs = 3
patience = 1
"""


def study(folder: Path, tests: str, *, encoder: str = "hf:small", starts: str = '"fresh", "base"') -> Path:
    tiny.folder_of(folder / "small", "distilbert")
    rows = [f"the film was {'good' if i % 2 else 'bad'}{' .' * (i % 3)},{i % 2}" for i in range(40)]
    (folder / "reviews.csv").write_text("text,label\n" + "\n".join(rows) + "\n")
    path = folder / "study.toml"
    path.write_text(STUDY.format(tests=tests, encoder=encoder, starts=starts))
    return path


def measured(path: Path) -> list[dict[str, object]]:
    """The rows of a study, computed here."""
    store, targets = Store(path.parent / "store"), jobs_of(read(path))
    graph = run(list(targets), store, Inline())
    assert {node.reason for node in graph.values()} == {""}
    return list(results.stored(targets, store).to_pylist())


def test_attefa_of_many_heads_is_told_in_both_forms_for_every_start(tmp_path: Path) -> None:
    rows = measured(study(tmp_path, "attefa_heads"))
    found = {
        (start, row["measure"]): row["value"]
        for row in rows
        for start in ("fresh", "base")
        if f'"start":"{start}"' in str(row["setting"])
    }
    for start in ("fresh", "base"):
        moved, far = found[start, "output_distance"], found[start, "heads_jsd"]
        assert 0 < far < 0.7  # type: ignore[operator]
        expected = min(moved / 0.5 / (far / 0.6931471805599453), 1)  # type: ignore[operator]
        assert found[start, "attefa_heads"] == pytest.approx(expected)
        assert (start, "attefa_rollout") in found
    assert {row["versus"] for row in rows if row["measure"] == "heads_jsd"} == {"base model"}


def test_a_transformer_with_uniform_attention_is_trained_and_measured_beside_its_like(tmp_path: Path) -> None:
    rows = measured(study(tmp_path, "uniform_performance"))
    accuracies = [row for row in rows if (row["measure"], row["split"]) == ("accuracy", "test")]
    uniform = ['"distribution":"uniform"' in str(row["setting"]) for row in accuracies]
    assert sorted(uniform) == [False, True]


def test_only_transformers_have_many_heads(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is for transformers: expected an encoder hf:PLACE, found mlp"):
        jobs_of(read(study(tmp_path, "attefa_heads", encoder="mlp")))


def test_a_start_that_a_transformer_has_not_is_refused_when_it_is_planned(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="fresh or at their base: found 'negated'; leave it out"):
        jobs_of(read(study(tmp_path, "attefa_heads", starts='"negated"')))


@pytest.mark.parametrize(
    ("test", "instead"),
    [
        ("attefa", "ask attefa_heads"),
        ("uniform", "ask uniform_performance"),
        ("permutation", "leave it out"),
        ("adversarial_search", "leave it out"),
        ("exact_adversary", "leave it out"),
        ("trained_adversary", "leave it out"),
        ("seed_variance", "leave it out"),
        ("guides", "leave it out"),
    ],
)
def test_tests_of_one_attention_refuse_a_transformer_before_it_is_tuned(
    tmp_path: Path, test: str, instead: str
) -> None:
    asked = read(study(tmp_path, test), ["seeds=[0, 1]"])
    message = rf"the test '{test}' needs .* one attention .* the transformer hf:small, .*; {instead}$"
    with pytest.raises(UnsupportedError, match=message):
        jobs_of(asked)
