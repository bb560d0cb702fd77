from __future__ import annotations

from pathlib import Path

import pytest
from bags import Bag

from faithgauge import attacking
from faithgauge.config import SearchConfig
from faithgauge.engine.job import key_of
from faithgauge.errors import ConfigError, UnsupportedError
from faithgauge.faithfulness.adversarial import JAIN_WALLACE
from faithgauge.models.classifier import Shape
from faithgauge.plans.grid import jobs_of
from faithgauge.plans.reproduce import Wish, reproduction
from faithgauge.plans.study import read

STUDY = """\
seeds = [0, 3]
tests = ["permutation", "adversarial_search", "exact_adversary"]
instances = 50
[data]
names = ["planted"]
[model]
encoder = "mlp"
"""


def asked(folder: Path, *changes: str, text: str = STUDY) -> list[attacking.SearchAdversary]:
    path = folder / "study.toml"
    path.write_text(text)
    return jobs_of(read(path, changes))  # type: ignore[return-value]


def test_each_model_is_attacked_in_each_way_with_its_own_seed(tmp_path: Path) -> None:
    found = asked(tmp_path)
    assert [(type(job).__name__, job.seed) for job in found] == [
        (kind, seed) for seed in (0, 3) for kind in ("Permute", "SearchAdversary", "ExactAdversary")
    ]
    assert {job.instances for job in found} == {50}
    assert found[1].how == SearchConfig()
    assert found[1].epsilon == (0.01,)


def test_the_table_attack_says_how(tmp_path: Path) -> None:
    text = STUDY + '[attack]\npermutations = 7\nepsilon = 0.2\nsteps = 9\nover = "discard"\n'
    permute, search, exact, *_ = asked(tmp_path, text=text)
    assert permute.permutations == 7  # type: ignore[attr-defined]
    assert (search.epsilon, search.how) == ((0.2,), SearchConfig(steps=9, over="discard"))
    assert exact.epsilon == (0.2,)
    assert asked(tmp_path, "attack.epsilon=[0.1, 0.2]")[1].epsilon == (0.1, 0.2)


def test_an_option_of_the_search_does_not_touch_permutation(tmp_path: Path) -> None:
    first, other = asked(tmp_path), asked(tmp_path, "attack.weight=7")
    same = [key_of(a) == key_of(b) for a, b in zip(first, other, strict=True)]
    assert same[:3] == [True, False, False]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("attack.weight=-1", r"--set attack\.weight: input should be greater than or equal to 0"),
        ("attack.epsilon=-0.1", r"--set attack\.epsilon: input should be greater than or equal to 0"),
        ("attack.epsilon=[]", r"--set attack\.epsilon: expected one value or more, found none"),
        ("attack.limit=0", r"--set attack\.limit: "),
        ("attack.epsilon=0", r"expected every epsilon above 0, found 0: .*; ask exact_adversary"),
        ("attack.permutation=5", "did you mean 'attack.permutations'"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, change: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        asked(tmp_path, change)


def test_an_epsilon_of_zero_is_for_the_exact_adversary(tmp_path: Path) -> None:
    found = asked(tmp_path, "attack.epsilon=0", 'tests=["exact_adversary"]')
    assert found[0].epsilon == (0,)


def closed(shape: Shape) -> Bag:
    return Bag([0.0] * shape.vocabulary)


@pytest.mark.parametrize("test", ["permutation", "adversarial_search", "exact_adversary"])
def test_a_model_that_shows_no_attention_is_refused_before_anything_is_trained(
    tmp_path: Path, test: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fakes.closed", closed, raising=False)
    with pytest.raises(
        UnsupportedError, match=rf"the test '{test}': attacks .* lacks 'attention' and 'decode'"
    ):
        asked(tmp_path, f'tests=["{test}"]', 'factory="fakes:closed"', 'explainers=["random"]')


def test_the_recipe_of_jain_and_wallace_has_the_search_of_their_code() -> None:
    found = reproduction(
        Wish("jain-wallace-2019", tests=("permutation", "adversarial"), datasets=("planted",))
    )
    assert [recipe.test for recipe in found.recipes] == ["permutation", "adversarial_search"]
    assert found.study.attack.search() == JAIN_WALLACE
    assert found.study.attack.epsilon == (0.01, 0.05)
    assert found.study.attack.permutations == 100
    both = reproduction(Wish("jain-wallace-2019", figures=("4",), datasets=("planted",)))
    assert [recipe.test for recipe in both.recipes] == ["adversarial_search", "exact_adversary"]
