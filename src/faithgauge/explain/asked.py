"""What is asked for by name: an explainer with its options, as people write it.

    integrated_gradient
    integrated_gradient:steps=20:baseline=mask
    gradient:jain-wallace-2019
    lime:samples=200:target=gold

After the name stand, between colons, the name of a preset, and options. Three options are common to all: the
class that is explained, `target` (``predicted``, ``gold``, or its number); what of it, `of` (its
``probability`` or its ``logit``); and whether `special` tokens have scores like all others, as in neely-2022.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from faithgauge.errors import ConfigError
from faithgauge.explain.table import EXPLAINERS, Explainer
from faithgauge.models.question import Of
from faithgauge.registry import unknown
from faithgauge.settings import checked_value

Target = Literal["predicted", "gold"] | int
COMMON: Mapping[str, tuple[Any, Any]] = {
    "target": (Target, "predicted"),
    "of": (Of, "probability"),
    "special": (bool, False),
}
"""The options that every explainer has: their types and defaults."""


@dataclass(frozen=True)
class Asked:
    """One explainer with all that its numbers depend on; `options` holds those of its function."""

    name: str
    options: Mapping[str, Any]
    target: Target = "predicted"
    of: Of = "probability"
    special: bool = False

    @property
    def explainer(self) -> Explainer:
        return EXPLAINERS[self.name]

    @property
    def signed(self) -> bool:
        """Whether a score below 0 speaks against the class."""
        return self.explainer.signed and not self.options.get("absolute", False)

    @property
    def text(self) -> str:
        """As it is written in full: every option that is not the default, in order. Equal where equal."""
        known = _options(self.explainer)
        given = {**self.options, "target": self.target, "of": self.of, "special": self.special}
        changed = [f"{key}={given[key]}" for key in sorted(known) if given[key] != known[key][1]]
        return ":".join([self.name, *changed])

    @property
    def label(self) -> str:
        """As it is shown: by the name of a preset where that says the same."""
        for preset in self.explainer.presets:
            if asked(f"{self.name}:{preset}") == self and self.text != self.name:
                return f"{self.name}:{preset}"
        return self.text


def asked(text: str) -> Asked:
    """The explainer that is written so; an unknown name, preset, option or value is an error."""
    name, *words = text.strip().split(":")
    explainer = EXPLAINERS[name]
    known = _options(explainer)
    values = {key: default for key, (_, default) in known.items()}
    for word in words:
        key, equals, value = word.partition("=")
        if equals:
            values[key] = _value(text, key, value, known=known)
        elif word in explainer.presets:
            values |= explainer.presets[word]
        else:
            raise ConfigError(f"{text}: {unknown(f'preset of {name}', word, explainer.presets)}")
    common = {key: values.pop(key) for key in COMMON}
    return Asked(name, values, **common)


def several(text: str) -> list[Asked]:
    """Those of a list with commas, each once."""
    found = [asked(part) for part in text.split(",") if part.strip()]
    if not found:
        raise ConfigError(
            "expected the name of an explainer, found none; faithgauge list explainers has them"
        )
    return list({one.text: one for one in found}.values())


def named(text: str) -> dict[str, Asked]:
    """Those of a list with commas, by the names they are shown by."""
    return {one.label: one for one in several(text)}


def _value(text: str, key: str, value: str, *, known: Mapping[str, tuple[Any, Any]]) -> Any:
    if key not in known:
        raise ConfigError(f"{text}: {unknown('option', key, known)}")
    return checked_value(known[key][0], value, f"{text}: {key}")


def _options(explainer: Explainer) -> dict[str, tuple[Any, Any]]:
    """The options by name, with their types and defaults: what its function takes by keyword."""
    function = explainer.function
    types = typing.get_type_hints(function, include_extras=True)
    own = {
        one.name: (types[one.name], one.default)
        for one in inspect.signature(function).parameters.values()
        if one.kind is one.KEYWORD_ONLY
    }
    return {**own, **COMMON}
