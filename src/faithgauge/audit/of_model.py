"""An audit of a model that is in memory: ``faithgauge.Audit(model, tokenizer).run(texts, labels)``.

Model and texts are written to files; then it is the audit of a folder and a file, with the same stored jobs.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from faithgauge.errors import ConfigError

if TYPE_CHECKING:
    from faithgauge.audit.called import Verdicts


@dataclass(frozen=True)
class Audit:
    """A model whose explanations are to be judged, to be asked by `run`.

    It is a model of the transformers library with its `tokenizer`, or what needs none: the folder of a model,
    or what `faithgauge.train` and `faithgauge.load_model` return.
    """

    model: Any
    tokenizer: Any = None

    def run(
        self,
        texts: Sequence[str],
        labels: Sequence[str | int],
        pairs: Sequence[str] | None = None,
        *,
        out: str | Path = "runs/audit",
        **options: Any,
    ) -> Verdicts:
        """Which explanations of the model may be believed on these texts, all of which are measured.

        `labels` are classes of the model by name or number. The options are those of `faithgauge.audit`.
        """
        from faithgauge.audit.called import audit
        from faithgauge.models.store import open_model

        with TemporaryDirectory(prefix="faithgauge-") as place:
            model = self._folder(Path(place))
            classes = open_model(str(model), options.get("labels")).classes
            file = Path(place) / "texts.jsonl"
            file.write_text(_lines(texts, labels, pairs, classes), encoding="utf-8")
            columns = {"text": "text", "label": "label", **({"text_pair": "text_pair"} if pairs else {})}
            return audit(str(file), Path(out), {"model": str(model), **columns, **options}, name=model.name)

    def _folder(self, place: Path) -> Path:
        """Where the model is, or a folder of its name below this place that it is written to."""
        from faithgauge.audit.ask import folder_of
        from faithgauge.models.store import Trained

        if isinstance(self.model, str | Path):
            return Path(self.model).expanduser().absolute()
        if isinstance(self.model, Trained):
            return folder_of(self.model)
        if not hasattr(self.model, "save_pretrained"):
            raise ConfigError(
                "expected a model of the transformers library, the folder of a model, or a "
                f"faithgauge.Trained, found {type(self.model).__name__}"
            )
        if not getattr(self.tokenizer, "is_fast", False):
            raise ConfigError(
                "expected the fast tokenizer of the model, found "
                f"{type(self.tokenizer).__name__ if self.tokenizer is not None else 'none'}; give it as "
                "Audit(model, AutoTokenizer.from_pretrained(PLACE))"
            )
        named = Path(str(getattr(self.model, "name_or_path", ""))).name
        folder = place / (named or type(self.model).__name__)
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
        return folder


def _lines(
    texts: Sequence[str], labels: Sequence[str | int], pairs: Sequence[str] | None, classes: Sequence[str]
) -> str:
    """Texts as JSON lines, each with the name of its class."""
    for noun, found in (("labels", labels), ("pairs", pairs)):
        if found is not None and len(found) != len(texts):
            raise ConfigError(f"expected as many {noun} as texts, found {len(found)} and {len(texts)}")
    rows = []
    for i, (text, label) in enumerate(zip(texts, labels, strict=True)):
        name = str(label)
        if name not in classes:
            if not name.isdigit() or int(name) >= len(classes):
                raise ConfigError(
                    f"label {i}: expected a class of the model ({', '.join(classes)}) or its number, found "
                    f"{label!r}; rename the classes with labels='negative=0,positive=1'"
                )
            name = classes[int(name)]
        rows.append({"text": text, "label": name, **({} if pairs is None else {"text_pair": pairs[i]})})
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
