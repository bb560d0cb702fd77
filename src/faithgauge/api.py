"""The program from Python: each function is one line of use, and takes what its command takes.

trained = faithgauge.train("mock-5", encoder="bilstm", seed=0)
faithgauge.predict(trained, ["something good something"])
faithgauge.explain(trained, "something good something")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faithgauge.config import DataConfig
from faithgauge.data.dataset import Dataset
from faithgauge.errors import ConfigError
from faithgauge.registry import unknown
from faithgauge.settings import settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from faithgauge.audit.called import Verdicts
    from faithgauge.models.store import Trained
    from faithgauge.report.explanation import Explanation
    from faithgauge.train.fit import Event


def load(name: str | Path, *, seed: int | None = None, **options: Any) -> Dataset:
    """The labelled texts of `name`, a data set, a file or a folder; the options are those of `DataConfig`."""
    from faithgauge.data.load import load as load_dataset

    known = [field.name for field in fields(DataConfig) if field.name != "name"]
    if "data_seed" in options:  # as `train` calls it, which has a seed of its own
        raise ConfigError("unknown option of load 'data_seed': did you mean 'seed'?")
    for option in options:
        if option not in known:
            raise ConfigError(unknown("option of load", option, known))
    return load_dataset(settings(str(name), data_seed=seed, **options).data)


def train(
    data: str | Path | Dataset,
    *,
    preset: str | None = None,
    factory: str = "",
    out: str | Path | None = None,
    on_event: Callable[[Event], None] = lambda _: None,
    **options: Any,
) -> Trained:
    """A classifier trained on `data`; the options are those of `faithgauge train`, words joined by ``_``.

    `out` is the folder it is written to: a training that was killed goes on when it is run again with the
    same folder. `factory` is ``package.module:function`` from a `Shape` to a model of your own.
    """
    from faithgauge import steps
    from faithgauge.data.load import load as load_dataset

    name = data.full_name if isinstance(data, Dataset) else str(data)
    chosen = settings(name, preset, **options)
    steps.refuse_unknown_names(chosen, factory)
    dataset = data if isinstance(data, Dataset) else load_dataset(chosen.data)
    folder = None if out is None else Path(out)
    return steps.train(chosen, dataset, factory=factory, out=folder, on_event=on_event)


def load_model(model: str | Path) -> Trained:
    """The model in a folder that `train` wrote, or what ``package.module:function`` returns."""
    from faithgauge.models import store

    return store.open_model(str(model))


def predict(
    model: Trained | str | Path, texts: Sequence[str], pairs: Sequence[str] | None = None
) -> NDArray[np.floating[Any]]:
    """The probability of every class for every text: (example, class), in the order of `model.classes`."""
    from faithgauge import steps

    return steps.predict_texts(_opened(model), texts, pairs)


def explain(
    model: Trained | str | Path,
    text: str,
    text_pair: str | None = None,
    *,
    explainers: str | Sequence[str] = "attention",
    target: str | int | None = None,
    seed: int = 0,
) -> Explanation:
    """What the model says of a text, and the score of each of its tokens by each explainer, one or more.

    `target` is the class that is explained, by name or number; without it each explainer says itself.
    """
    from faithgauge import steps
    from faithgauge.explain.asked import named

    asked = named(explainers if isinstance(explainers, str) else ",".join(explainers))
    trained = _opened(model)
    if target is not None:
        asked = steps.aimed(trained, asked, str(target))
    return steps.explain_text(trained, text, text_pair, asked=asked, known=steps.known_of(trained, seed=seed))


def read_scores(
    scores: str | Path | Sequence[Mapping[str, Any]],
    model: Trained | str | Path,
    texts: Sequence[str],
    *,
    pairs: Sequence[str] | None = None,
) -> list[Explanation]:
    """Texts with scores from elsewhere on the tokens of the model: from a file, or rows as `from_shap` makes.

    How a row says which text and tokens it is about is written in `explain.given`. Of a text whose scores
    cannot be used, `reasons` says why.
    """
    from faithgauge import steps
    from faithgauge.explain.given import of_rows, read_file

    sheet = read_file(Path(scores)) if isinstance(scores, str | Path) else of_rows(scores)
    examples = steps.new_examples(texts, pairs)
    return list(steps.explain_examples(_opened(model), examples, {}, scores=sheet))


def audit(
    data: str | Path = "",
    *,
    model: str | Path = "",
    explainers: Sequence[str] | None = None,
    out: str | Path = "runs/audit",
    budget: str = "",
    **options: Any,
) -> Verdicts:
    """Which explanations of a model may be believed: of one that is trained on `data`, or of `model` on them.

    The page and all numbers are written to the folder `out`. The options are those of ``faithgauge audit``,
    words joined by ``_``: `tests`, `seeds`, `instances`, `scores`, `retrain`, `factory`, `texts` (False keeps
    them out of all files), `store`, and those of a training. Jobs are computed one by one in this process.
    """
    from faithgauge.audit.called import audit as called

    given = {"model": str(model), "explainers": explainers, "budget": budget, **options}
    return called(str(data), Path(out), given)


def _opened(model: Trained | str | Path) -> Trained:
    return load_model(model) if isinstance(model, str | Path) else model
