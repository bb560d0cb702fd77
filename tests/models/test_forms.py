from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import tiny
import torch
from fakes import batch_of

from faithgauge.errors import UnsupportedError
from faithgauge.models import pretrained
from faithgauge.models.forms import as_distilbert, as_roberta


@pytest.mark.parametrize(("family", "form"), [("distilbert", as_distilbert), ("roberta", as_roberta)])
@pytest.mark.parametrize("padding", [0, 1])
def test_a_bert_in_another_form_has_the_same_states_and_attention(
    tmp_path: Path, family: str, form: Callable[[Path, Path], Path], padding: int
) -> None:
    source = tiny.folder_of(tmp_path / "bert", pad_token_id=padding)
    target = form(source, tmp_path / family)
    batch = batch_of([[2, 5, 6, 7, 3], [2, 8, 3]])
    models = [
        pretrained.new(f"hf:{place}", ("a", "b"), vocabulary=len(tiny.VOCABULARY), seed=0).eval()
        for place in (source, target)
    ]
    assert [model.config.model_type for model in models] == ["bert", family]
    assert [model.positions for model in models] == [tiny.POSITIONS, tiny.POSITIONS]
    with torch.no_grad():
        first, second = (model.heads(batch) for model in models)
    for ours, theirs in zip(second.hidden, first.hidden, strict=True):
        torch.testing.assert_close(ours[batch.valid], theirs[batch.valid])
    for ours, theirs in zip(second.attentions, first.attentions, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_it_is_written_once(tmp_path: Path) -> None:
    source, target = tiny.folder_of(tmp_path / "bert"), tmp_path / "distilbert"
    as_distilbert(source, target)
    before = {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in target.iterdir()}
    as_distilbert(source, target)
    assert {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in target.iterdir()} == before
    assert sorted(before) == ["config.json", "model.safetensors", "tokenizer.json"]


def test_a_text_may_be_as_long_in_the_form_of_roberta(tmp_path: Path) -> None:
    source = tiny.folder_of(tmp_path / "bert")
    target = as_roberta(source, tmp_path / "roberta")
    model = pretrained.new(f"hf:{target}", ("a", "b"), vocabulary=len(tiny.VOCABULARY), seed=0).eval()
    with torch.no_grad():
        assert model(batch_of([[2, *[5] * (tiny.POSITIONS - 2), 3]])).logits.shape == (1, 2)


def test_another_family_is_refused(tmp_path: Path) -> None:
    source = tiny.folder_of(tmp_path / "electra", "electra")
    with pytest.raises(UnsupportedError) as raised:
        as_distilbert(source, tmp_path / "distilbert")
    assert str(raised.value) == (f"{source}: expected a BERT to take the form of DistilBERT, found electra")
