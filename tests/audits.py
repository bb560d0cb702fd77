"""Made-up audits: folders like those that `faithgauge audit` writes, with numbers drawn and not computed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from faithgauge import results

EXPLAINERS = {
    "attention": 0.06,
    "oracle": 0.34,
    "integrated_gradient": 0.22,
    "leave_one_out": 0.27,
    "lime": 0.24,
    "input_times_gradient": 0.15,
    "gradient": 0.02,
    "kernel_shap": 0.19,
    "deeplift": 0.17,
    "gradient_shap": 0.12,
    "random": 0.0,
    "reversed": -0.2,
}
"""How much better than a random order each is made to be."""
SIGNED = frozenset(
    {"integrated_gradient", "leave_one_out", "lime", "input_times_gradient", "kernel_shap", "deeplift"}
)
CLASSES = ("negative", "positive")
WORDS = {
    "negative": ("dreadful", "awful", "dull", "a waste", "tedious", "clumsy"),
    "positive": ("wonderful", "moving", "a joy", "superb", "tender", "brilliant"),
}
PLAIN = (
    *("the", "film", "opens", "on", "a", "quiet", "street", "in", "march", "and", "follows", "two"),
    *("brothers", "who", "have", "not", "spoken", "for", "years", "until", "their", "mother", "asks"),
    *("them", "to", "sell", "house", "together", "we", "saw", "it", "with", "friends", "after", "work"),
    *("cinema", "was", "nearly", "full", "which", "surprised", "us", "since", "hardly", "anyone"),
)
MEASURES = ("comprehensiveness", "sufficiency", "deletion", "insertion", "flip_fraction")
LOWER = frozenset({"sufficiency", "deletion", "flip_fraction"})
HOSTILE = (
    "<script>window.injected = 1</script> a dull film & \"quotes\" 'here'",
    "</script><script>window.injected = 2</script> a moving film",
    "</style><img src=x onerror='window.injected = 3'> superb <!-- and the rest",
    "<b onmouseover=alert(1)>brilliant</b> {{ 7 * 7 }} \\u003c/script\\u003e \u2028 end",
    "هذا الفيلم رائع جدا ومؤثر",
    "😀 loved it 👩‍👩‍👧 so much 🎬 brilliant",
    "awful" + "!" * 300,
)
"""Texts that a careless page would run, mirror or break on."""


@dataclass(frozen=True)
class Made:
    """What a made-up audit has in it."""

    texts: int = 24
    explainers: Sequence[str] = tuple(EXPLAINERS)
    seeds: int = 3
    tokens: int = 22
    with_texts: bool = True
    hostile: bool = False
    title: str = "reviews.csv"
    random: int = 0


def write_audit(folder: Path, made: Made | None = None, **changes: Any) -> Path:
    """The three files of an audit; `changes` replace parts of its document."""
    made = made or Made()
    folder.mkdir(parents=True, exist_ok=True)
    document = {**_document(made), **changes}
    (folder / "audit.json").write_text(json.dumps(document), encoding="utf-8")
    results.write_parts(_parts(made), folder / "results.parquet")
    with (folder / "instances.jsonl").open("w", encoding="utf-8") as file:
        for one in _instances(made):
            file.write(json.dumps(one, ensure_ascii=False) + "\n")
    return folder


def _document(made: Made) -> dict[str, Any]:
    return {
        "format": 1,
        "title": made.title,
        "headline": "Two in three of the explanations judged here may be shown to people; attention may not.",
        "about": {
            "data": {
                "name": made.title,
                "classes": list(CLASSES),
                "splits": {"train": 1600, "validation": 200, "test": made.texts},
                "notes": ["no split was given: 80 % of the rows were used for training"],
            },
            "model": {
                "encoder": "lstm",
                "attention": "additive",
                "seeds": list(range(made.seeds)),
                "metrics": {
                    "test": {"accuracy": 0.874, "f1_macro": 0.872},
                    "validation": {"accuracy": 0.881},
                },
            },
            "command": f"faithgauge audit {made.title} --seeds {made.seeds}",
            "minutes": 2.3,
            "version": "0.1.0",
        },
        "verdicts": [_verdict(name, made) for name in made.explainers],
        "model_tests": _model_tests(made),
        "left_out": [{"test": "roar", "why": "it takes 41 minutes and the budget is 10"}],
        "failures": [],
        "cites": ["jain-wallace-2019", "deyoung2020"],
        "rules": [
            {"word": "supported", "when": "the interval of erasure minus random lies above 0 (Holm)"},
            {"word": "not supported", "when": "the interval lies below 0, or within ±0.02 of it"},
            {"word": "undecided", "when": "anything else"},
        ],
        "delta": 0.02,
    }


def _verdict(name: str, made: Made) -> dict[str, Any]:
    value = EXPLAINERS[name]
    verdict = "supported" if value > 0.1 else "undecided" if name == "attention" else "not supported"
    tests = [
        _test("erasure", "comprehensiveness", value, made)
        | {
            "sentence": f"Masking the tokens that {name} puts first lowers the model's probability by "
            f"{abs(value):.2f} {'more' if value >= 0 else 'less'} than masking random ones does.",
            "says_not": "That a person would have chosen the same tokens, or that the model is right.",
        },
        _test("erasure", "sufficiency", value * 0.7, made)
        | {
            "sentence": f"With only the tokens that {name} puts first {value * 0.7:+.2f} more is kept.",
            "says_not": "That the other tokens play no part.",
        },
    ]
    if name == "attention":
        tests.append(
            _test("uniform", "f1_positive_gap", 0.011, made)
            | {
                "sentence": "Without attention the model does as well: the F1 falls by 0.01.",
                "says_not": "That attention is unfaithful where it is needed.",
            }
        )
    why = {
        "supported": "The interval of erasure minus random lies above 0 after Holm's correction.",
        "undecided": "The interval of erasure minus random lies above 0, but attention is not needed here.",
        "not supported": "The interval of erasure minus random does not lie above 0.",
    }[verdict]
    return {"explainer": name, "verdict": verdict, "reasons": [why], "tests": tests}


def _test(test: str, measure: str, value: float, made: Made) -> dict[str, Any]:
    return {
        "test": test,
        "measure": measure,
        "value": value,
        "low": value - 0.031,
        "high": value + 0.029,
        "baseline": 0.0,
        "n": made.texts,
        "seeds": made.seeds,
    }


def _model_tests(made: Made) -> list[dict[str, Any]]:
    return [
        _test("performance", "accuracy", 0.874, made)
        | {
            "baseline": 0.512,
            "sentence": "The model is right on 87 % of the texts; always saying ‘positive’ is on 51 %.",
            "says_not": "That it is right for the right reasons.",
        },
        _test("seed_variance", "attention_jsd", 0.09, made)
        | {
            "baseline": None,
            "sentence": "Trained again with another seed, attention moves by a JSD of 0.09 (at most 0.69).",
            "says_not": "Which of the trainings to believe.",
        },
    ]


def _parts(made: Made) -> Iterator[dict[str, Any]]:
    draw = np.random.default_rng(made.random)
    example = [str(i) for i in range(made.texts)]
    said = [CLASSES[i % 2] for i in range(made.texts)]
    for seed in range(made.seeds):
        place = {"dataset": made.title, "split": "test", "model": "lstm", "seed": seed, "job": f"job-{seed}"}
        by_text = place | {"example": example, "class": said, "class_of": "predicted"}
        yield place | {
            "setting": _setting(),
            "measure": ["accuracy", "f1_positive"],
            "value": 0.87 + 0.01 * draw.normal(size=2),
        }
        yield from _erasure(made, by_text, draw)
        yield from _agreement(made, by_text, draw)
        yield from _distances(made, by_text, place, draw)
        yield from _roar(made, place, draw)
    yield {
        "dataset": made.title,
        "split": "test",
        "model": "lstm",
        "versus": "base model",
        "setting": _setting(distribution="uniform", seeds=made.seeds),
        "measure": ["f1_positive_gap", "f1_positive_gap_low", "f1_positive_gap_high"],
        "value": [0.011, -0.006, 0.027],
    }


def _setting(**more: Any) -> str:
    return json.dumps({"attention": "additive", **more}, sort_keys=True, separators=(",", ":"))


def _erasure(made: Made, by_text: dict[str, Any], draw: np.random.Generator) -> Iterator[dict[str, Any]]:
    own = {"setting": _setting(erased_by="mask")}
    for name in made.explainers:
        for measure in MEASURES:
            sign = -1 if measure in LOWER else 1
            apart = sign * (EXPLAINERS[name] + 0.12 * draw.normal(size=made.texts))
            reason: list[str | None] = [None] * made.texts
            if measure == "flip_fraction":
                apart[0], reason[0] = np.nan, "the class is not the model's decision"
            where = by_text | own | {"explainer": name, "measure": measure, "reason": reason}
            yield where | {"value": apart + 0.3}
            yield where | {"value": apart, "versus": "random order"}
        found = np.clip(0.3 + EXPLAINERS[name] * 1.5 + 0.2 * draw.normal(size=made.texts), 0, 1)
        where = by_text | {"setting": _setting(), "explainer": name, "measure": "evidence_auprc"}
        yield where | {"value": found}
        yield where | {"value": found - 0.3, "versus": "random order"}


def _agreement(made: Made, by_text: dict[str, Any], draw: np.random.Generator) -> Iterator[dict[str, Any]]:
    names = list(made.explainers)
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            alike = 0.8 - 2 * abs(EXPLAINERS[first] - EXPLAINERS[second])
            tau = np.clip(alike + 0.2 * draw.normal(size=made.texts), -1, 1)
            where = by_text | {"setting": _setting(), "explainer": first, "versus": second}
            yield where | {"measure": "kendall_tau", "value": tau}
            yield where | {"measure": "overlap_fraction", "value": (tau + 1) / 2}
            place = {key: by_text[key] for key in ("dataset", "split", "model", "seed", "job")}
            yield place | {
                "setting": _setting(),
                "explainer": first,
                "versus": second,
                "measure": [f"kendall_tau_floor{end}" for end in ("", "_low", "_high")],
                "value": [0.0, -0.04, 0.04],
            }
        again = by_text | {"setting": _setting(again_seed=(by_text["seed"] + 1) % made.seeds)}
        tau = np.clip(0.75 + 0.15 * draw.normal(size=made.texts), -1, 1)
        yield again | {"explainer": first, "versus": first, "measure": "kendall_tau", "value": tau}


def _distances(
    made: Made, by_text: dict[str, Any], place: dict[str, Any], draw: np.random.Generator
) -> Iterator[dict[str, Any]]:
    largest = draw.beta(2, 3, size=made.texts)
    others = [("uniform", {}, 0.03, 0.3), ("seed", {"base_seed": 0}, 0.05, 0.1)]
    others += [
        ("adversary", {"lambda": w}, 0.01 + 0.1 * i, 0.2 + 0.11 * i) for i, w in enumerate((1e-4, 1e-3, 1e-2))
    ]
    for against, more, moved, far in others:
        where = by_text | {"versus": "base model", "setting": _setting(against=against, **more)}
        for measure, values in (
            ("output_distance", np.clip(moved * draw.gamma(2, 0.5, made.texts), 0, 0.5)),
            ("attention_jsd", np.clip(far + 0.08 * draw.normal(size=made.texts), 0, np.log(2))),
            ("max_attention", largest),
        ):
            yield where | {"measure": measure, "value": values}
    for start, value in (("base", 0.42), ("random:1", 0.35), ("random:2", 0.39)):
        yield place | {
            "versus": "base model",
            "setting": _setting(against="adversary", start=start, base_seed=place["seed"]),
            "measure": ["attefa", "output_distance", "attention_jsd"],
            "value": [value + 0.04 * draw.normal(), 0.1, 0.4],
        }
    yield place | {
        "versus": "base model",
        "setting": _setting(against="adversary", starts=3, base_seed=place["seed"]),
        "measure": ["attefa_cold", "attefa_best", "attefa_cap", "attefa_adjusted", "adversary_not_found"],
        "value": [0.42, 0.35 + 0.03 * draw.normal(), 0.52, 0.67, 0.0],
    }
    for guide, value in (("own", 0.85), ("base", 0.83), ("uniform", 0.74), ("adversary", 0.76)):
        yield place | {
            "model": "mlp",
            "setting": _setting(guide=guide, guided_by="lstm"),
            "measure": ["f1_positive"],
            "value": [value + 0.01 * draw.normal()],
        }


def _roar(made: Made, place: dict[str, Any], draw: np.random.Generator) -> Iterator[dict[str, Any]]:
    fractions = np.arange(11) / 10
    for name in made.explainers[:6]:
        fall = 0.3 + EXPLAINERS[name]
        yield place | {
            "setting": _setting(),
            "explainer": name,
            "measure": "f1_macro",
            "fraction": fractions,
            "value": 0.87 - fall * (1 - np.exp(-3 * fractions)) + 0.01 * draw.normal(size=11),
        }


def _instances(made: Made) -> Iterator[dict[str, Any]]:
    draw = np.random.default_rng(made.random + 1)
    for i in range(made.texts):
        label = CLASSES[i % 2]
        text = HOSTILE[i] if made.hostile and i < len(HOSTILE) else _text(made, label, draw)
        yield _instance(i, text, made, draw)


def _text(made: Made, label: str, draw: np.random.Generator) -> str:
    words = [str(word) for word in draw.choice(PLAIN, size=max(made.tokens - 3, 1))]
    for _ in range(min(3, made.tokens)):
        words.insert(int(draw.integers(len(words) + 1)), str(draw.choice(WORDS[label])))
    return " ".join(words).capitalize() + "."


def _instance(i: int, text: str, made: Made, draw: np.random.Generator) -> dict[str, Any]:
    spans = _spans(text)
    n = len(spans)
    p = float(np.clip(draw.beta(6, 1), 0.5, 0.999))
    label = CLASSES[i % 2]
    gold = label if draw.random() < 0.87 else CLASSES[(i + 1) % 2]
    telling = {word for words in WORDS.values() for phrase in words for word in phrase.split()}
    weight = np.array([3.0 if text[a:b] in telling else 0.2 for a, b in spans])
    found = {}
    for name in made.explainers:
        quality = max(EXPLAINERS[name], 0) / 0.34
        scores = quality * weight + 0.6 * draw.normal(size=n)
        found[name] = scores if name in SIGNED else np.abs(scores) / max(np.abs(scores).sum(), 1e-9)
    flat = draw.dirichlet(np.ones(n)) if n else np.zeros(0)
    one: dict[str, Any] = {
        "id": str(i),
        "text": text,
        "tokens": [text[a:b] for a, b in spans],
        "spans": spans,
        "label": label,
        "gold": gold,
        "probabilities": {label: p, CLASSES[(i + 1) % 2]: 1 - p},
        "explanations": {name: [float(f"{x:.5g}") for x in scores] for name, scores in found.items()},
        "signed": {name: name in SIGNED for name in made.explainers},
        "adversarial": {"trained adversary": [float(f"{x:.5g}") for x in flat]},
        "numbers": {
            "disagreement": float(draw.beta(2, 4)),
            "jsd": float(draw.beta(2, 2) * 0.69),
            "confidence": p,
        },
        "evidence": [bool(w > 1) for w in weight],
    }
    if not made.with_texts:
        one |= {"text": None, "tokens": None, "spans": None}
    return one


def _spans(text: str) -> list[list[int]]:
    """Where the words are, in characters of Python."""
    found, start = [], None
    for place, character in enumerate(text + " "):
        if character.isspace():
            if start is not None:
                found.append([start, place])
            start = None
        elif start is None:
            start = place
    return found
