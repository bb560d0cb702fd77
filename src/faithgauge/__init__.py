"""A gauge for the faithfulness of token explanations of text classifiers.

    trained = faithgauge.train("planted", encoder="bilstm", epochs=3)
    faithgauge.explain(trained, "The soup was wonderful.").scores["attention"]

The names of `__all__` are public; each is imported when it is first used, so that ``import faithgauge``
costs nothing.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

from faithgauge.version import __version__

if TYPE_CHECKING:
    from faithgauge.api import audit, explain, load, load_model, predict, read_scores, train
    from faithgauge.audit.called import Verdicts
    from faithgauge.audit.of_model import Audit
    from faithgauge.data.dataset import Dataset
    from faithgauge.errors import ConfigError, DataError, FaithgaugeError, JobError, UnsupportedError
    from faithgauge.models.store import Trained
    from faithgauge.report.explanation import Explanation
    from faithgauge.types import Batch, Classifier, Encoded, Example, Importance, Output

__all__ = [
    "Audit",
    "Batch",
    "Classifier",
    "ConfigError",
    "DataError",
    "Dataset",
    "Encoded",
    "Example",
    "Explanation",
    "FaithgaugeError",
    "Importance",
    "JobError",
    "Output",
    "Trained",
    "UnsupportedError",
    "Verdicts",
    "__version__",
    "audit",
    "explain",
    "load",
    "load_model",
    "predict",
    "read_scores",
    "train",
]

_PLACES = {
    "faithgauge.api": ("audit", "explain", "load", "load_model", "predict", "read_scores", "train"),
    "faithgauge.audit.called": ("Verdicts",),
    "faithgauge.audit.of_model": ("Audit",),
    "faithgauge.data.dataset": ("Dataset",),
    "faithgauge.errors": ("ConfigError", "DataError", "FaithgaugeError", "JobError", "UnsupportedError"),
    "faithgauge.report.explanation": ("Explanation",),
    "faithgauge.models.store": ("Trained",),
    "faithgauge.types": ("Batch", "Classifier", "Encoded", "Example", "Importance", "Output"),
}


def __getattr__(name: str) -> object:
    for module, names in _PLACES.items():
        if name in names:
            from importlib import import_module

            return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__


class _Package(ModuleType):
    """`train` and `explain` are functions here although folders of the package have these names.

    Python sets a sub-package as an attribute of its package when it is imported; for names that are public
    that is left out, so that what they mean does not depend on what was imported before.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, ModuleType) and name in __all__):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
