from __future__ import annotations

import pytest

from faithgauge.errors import ConfigError
from faithgauge.explain.asked import asked, several


def test_a_name_alone_has_the_defaults() -> None:
    found = asked("integrated_gradient")
    assert (found.name, found.target, found.of) == ("integrated_gradient", "predicted", "probability")
    assert found.options == {
        "steps": 50,
        "rule": "gauss-legendre",
        "baseline": "pad",
        "embeddings": "word",
        "absolute": False,
        "unscaled": False,
    }


def test_options_have_the_types_of_the_function() -> None:
    found = asked("integrated_gradient:steps=20:absolute=true:target=2:of=logit")
    assert (found.options["steps"], found.options["absolute"]) == (20, True)
    assert (found.target, found.of) == (2, "logit")


def test_a_preset_sets_options_and_what_follows_it_changes_them() -> None:
    paper = asked("integrated_gradient:recursive-roar-2022")
    assert paper.options == {
        "steps": 50,
        "rule": "right",
        "baseline": "zero",
        "embeddings": "word",
        "absolute": True,
        "unscaled": False,
    }
    assert (paper.target, paper.of) == ("gold", "logit")
    assert asked("integrated_gradient:recursive-roar-2022:baseline=mask").options["baseline"] == "mask"


def test_the_text_names_what_is_not_the_default_in_order() -> None:
    assert asked("integrated_gradient:steps=20:of=logit:baseline=pad").text == (
        "integrated_gradient:of=logit:steps=20"
    )
    assert asked("gradient").text == "gradient"


def test_the_text_says_everything() -> None:
    for text in ("integrated_gradient:recursive-roar-2022", "smooth_gradient:noise=0.3", "random:draw=2"):
        assert asked(asked(text).text) == asked(text)


def test_what_is_a_preset_is_shown_by_its_name() -> None:
    written = "input_x_gradient:absolute=true:attention=fixed"
    assert asked(written).label == "input_x_gradient:jain-wallace-2019"
    assert asked("input_x_gradient").label == "input_x_gradient"
    assert asked("input_x_gradient:absolute=true").label == "input_x_gradient:absolute=True"


def test_several_are_listed_each_once() -> None:
    assert [one.name for one in several("attention, random ,attention,gradient,")] == [
        "attention",
        "random",
        "gradient",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "integrated_gradeint",
            "unknown explainer 'integrated_gradeint': did you mean 'integrated_gradient'?",
        ),
        ("gradient:recursive-roar", "gradient:recursive-roar: unknown preset of gradient 'recursive-roar'"),
        ("gradient:nrom=vocabulary", "gradient:nrom=vocabulary: unknown option 'nrom': did you mean 'norm'?"),
        ("gradient:norm=words", "gradient:norm=words: norm: input should be 'embedding' or 'vocabulary'"),
        ("integrated_gradient:steps=0", "integrated_gradient:steps=0: steps: input should be greater than"),
        ("integrated_gradient:steps=ten", "steps: input should be a valid integer"),
        ("gradient:target=best", "gradient:target=best: target: "),
    ],
)
def test_what_is_not_known_is_an_error_with_its_place(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as raised:
        asked(text)
    assert said in str(raised.value)


def test_an_empty_list_is_an_error() -> None:
    with pytest.raises(ConfigError) as raised:
        several(" , ")
    assert str(raised.value) == (
        "expected the name of an explainer, found none; faithgauge list explainers has them"
    )
