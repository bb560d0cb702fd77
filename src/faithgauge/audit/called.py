"""An audit called from Python: the same as from the command line, as an object."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faithgauge.config import DataConfig

if TYPE_CHECKING:
    from faithgauge.engine.job import Job
    from faithgauge.engine.run import Graph
    from faithgauge.settings import Settings

OPTIONS = (
    *("model", "labels", "explainers", "tests", "seeds", "instances", "budget", "scores", "retrain"),
    "factory",
)
"""What is said of the audit; `texts` and `store` too. All other options are of data and training."""


@dataclass(frozen=True)
class Verdicts:
    """What an audit found: the word for each explainer, the first line, all numbers, and the page."""

    verdicts: Mapping[str, str]
    headline: str
    document: Mapping[str, Any]
    page: Path

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(one['explainer'])}</td><td>{html.escape(one['verdict'])}</td>"
            f"<td>{html.escape(' '.join(one['reasons']))}</td></tr>"
            for one in self.document["verdicts"]
        )
        head = "<tr><th>explanation</th><th>verdict</th><th>why</th></tr>"
        said = html.escape(self.headline)
        return (
            f"<p><strong>{said}</strong></p><table>{head}{rows}</table><p>{html.escape(str(self.page))}</p>"
        )


def audit(data: str, out: Path, given: Mapping[str, Any], *, name: str = "") -> Verdicts:
    """An audit with the options of the command, in this process; `name` is what the page calls the model."""
    from faithgauge.audit import ask, whole
    from faithgauge.audit.document import Telling
    from faithgauge.audit.folder import refuse_folder
    from faithgauge.audit.plan import Wanted
    from faithgauge.engine.inline import Inline
    from faithgauge.engine.run import run
    from faithgauge.engine.store import Store
    from faithgauge.results import store_root

    asked = {name: given.get(name) for name in OPTIONS}
    model, factory, budget = (str(asked[name] or "") for name in ("model", "factory", "budget"))
    demo = not (data or model or factory)
    rest = {name: value for name, value in given.items() if name not in (*OPTIONS, "texts", "store")}
    explainers, tests = (_several(asked[name]) for name in ("explainers", "tests"))
    scores = None if asked["scores"] is None else Path(asked["scores"])
    refuse_folder(out)
    seeds = asked["seeds"] or (whole.SEEDS if demo else None)
    wish = ask.Wish(
        wished(data, rest, demo=demo, model=model),
        factory,
        model,
        bool(asked["retrain"]),
        scores,
        explainers,
        seeds,
        asked["labels"],
    )
    seconds = whole.seconds_of(budget or (whole.BUDGET if data else whole.BUDGET_OF_DEMO))
    wanted = Wanted(tests, explainers, seeds, asked["instances"], seconds, 1, strict=bool(budget))
    place = Store(store_root(given.get("store")))
    ready = ask.ready(wish, place)

    def computed(jobs: list[Job]) -> Graph:
        return run(jobs, place, Inline())

    title = f"Audit of {name or model or ready.corpus.full_name}"
    command = (
        "faithgauge.Audit(model, tokenizer).run(texts, labels)" if name else f"faithgauge.audit({data!r})"
    )
    telling = Telling(title, command, texts=bool(given.get("texts", True)))
    found = whole.planned(ready, wanted, place)
    document, page = whole.carry_out(ready, found, computed, store=place, out=out, telling=telling)
    words = {one["explainer"]: one["verdict"] for one in document["verdicts"]}
    return Verdicts(words, document["headline"], document, page)


def wished(data: str | DataConfig, given: Mapping[str, Any], *, demo: bool, model: str = "") -> Settings:
    """The settings of data, model and training; those of the built-in audit where nothing else is said.

    What is trained beside a folder of the transformers library is of its kind: it begins with its weights,
    under a new head, unless another encoder is named.
    """
    from faithgauge.audit.whole import DEMO
    from faithgauge.settings import PRETRAINED, settings

    own = {name: value for name, value in given.items() if value is not None}
    usual: dict[str, Any] = dict(DEMO) if demo else {}
    if model and is_theirs(model):
        usual["encoder"] = f"{PRETRAINED}{Path(model.removeprefix(PRETRAINED)).expanduser().absolute()}"
    if isinstance(data, DataConfig):
        named = replace(data, name=data.name or "planted")
        return replace(settings(named.name, None, **usual | own), data=named)
    return settings(data or "planted", None, **usual | own)


def is_theirs(model: str) -> bool:
    """Whether it is a folder of the transformers library, and not one that we wrote."""
    folder = Path(model.removeprefix("hf:")).expanduser()
    return (folder / "config.json").is_file() and not (folder / "model.json").is_file()


def _several(names: str | Sequence[str] | None) -> tuple[str, ...] | None:
    if isinstance(names, str):
        names = names.split(",")
    return tuple(dict.fromkeys(name.strip() for name in names or () if name.strip())) or None
