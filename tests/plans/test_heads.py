from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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
[attack]
permutations = 5
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


def test_attention_of_a_transformer_is_permuted_in_the_last_layer_and_in_all(tmp_path: Path) -> None:
    rows = measured(study(tmp_path, "permutation"))
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        said = json.loads(str(row["setting"]))
        assert said["permutations"] == 5
        found.setdefault((str(row["measure"]), said["permuted"]), []).append(row)
    assert set(found) == {
        ("permutation_tvd", "last_layer"),
        ("permutation_tvd", "all_layers"),
        ("max_attention", "last_layer"),
    }
    last, every = (found["permutation_tvd", f"{one}"] for one in ("last_layer", "all_layers"))
    assert [row["example"] for row in last] == [row["example"] for row in every]
    for row in (*last, *every):
        assert 0 <= row["value"] <= 1
        assert row["reason"] is None
    assert any(a["value"] != b["value"] for a, b in zip(last, every, strict=True))


def test_equal_attention_of_all_heads_and_texts_of_two_words_are_no_finding(tmp_path: Path) -> None:
    path = study(tmp_path, "permutation")
    path.write_text(
        path.read_text().replace('encoder = "hf:small"', 'encoder = "hf:small"\ndistribution = "uniform"')
    )
    (tmp_path / "reviews.csv").write_text(
        "text,label\n"
        + "\n".join(f"{'good' if i % 2 else 'bad'} film{' .' * (i // 2)},{i % 2}" for i in range(40))
    )
    rows = [row for row in measured(path) if row["measure"] == "permutation_tvd"]
    assert {row["reason"] for row in rows} <= {"two tokens", "equal attention: every order of it is the same"}
    assert "equal attention: every order of it is the same" in {row["reason"] for row in rows}


@pytest.mark.parametrize(
    ("test", "instead"),
    [
        ("adversarial_search", "ask permutation or attefa_heads of it, or choose another encoder"),
        ("exact_adversary", "ask permutation or attefa_heads of it, or choose another encoder"),
        ("attefa", "ask attefa_heads of it, or choose another encoder"),
        ("trained_adversary", "ask attefa_heads of it, or choose another encoder"),
        ("guides", "leave the test out, or choose another encoder"),
        ("seed_variance", "leave the test out, or choose another encoder"),
    ],
)
def test_what_is_about_one_attention_is_refused_when_it_is_planned(
    tmp_path: Path, test: str, instead: str
) -> None:
    with pytest.raises(UnsupportedError) as raised:
        jobs_of(read(study(tmp_path, test)))
    assert str(raised.value) == (
        f"study.toml: the test '{test}' expected a model with one attention over the tokens, found hf:small, "
        f"which has one for each token, head and layer; {instead}"
    )


def test_attention_that_can_only_be_read_is_not_permuted(tmp_path: Path) -> None:
    path = study(tmp_path, "permutation")
    tiny.folder_of(tmp_path / "small", "deberta-v2")
    with pytest.raises(UnsupportedError, match=r"the test 'permutation': .* can be read and not replaced"):
        jobs_of(read(path))
