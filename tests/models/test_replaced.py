from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import tiny
import torch
from fakes import batch_of
from torch import Tensor

from faithgauge.errors import UnsupportedError
from faithgauge.models import pretrained, store
from faithgauge.models.attention import DISTRIBUTIONS
from faithgauge.models.replaced import Replacement, attending
from faithgauge.models.transformer import Transformer
from faithgauge.types import Batch

REPLACEABLE = [family for family in tiny.FAMILIES if not family.startswith("deberta")]


def two_texts() -> Batch:
    """Of 5 and 3 tokens."""
    batch = batch_of([[2, 5, 6, 7, 3], [2, 8, 3]])
    return replace(batch, maskable=batch.valid & (batch.ids > tiny.MASK))


def heads(model: Transformer, batch: Batch, how: Replacement) -> Tensor:
    with torch.no_grad(), attending(model.network, how) as seen:
        model(batch)
    return torch.stack([one.weights for one in seen], 1)


def logits(model: Transformer, batch: Batch, how: Replacement) -> Tensor:
    with torch.no_grad(), attending(model.network, how):
        return model(batch).logits


@pytest.mark.parametrize("family", REPLACEABLE)
def test_where_nothing_is_replaced_it_is_the_eager_attention(family: str) -> None:
    model, batch = Transformer(tiny.network(family)), two_texts()
    with torch.no_grad():
        eager = model.heads(batch)
    assert torch.equal(logits(model, batch, Replacement()), eager.logits)
    assert torch.equal(heads(model, batch, Replacement()), torch.stack(eager.attentions, 1))


@pytest.mark.parametrize("family", REPLACEABLE)
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_padding_gets_nothing(family: str, distribution: str) -> None:
    """Without its own mask a registered attention would let all texts of a batch attend to padding."""
    found = heads(Transformer(tiny.network(family)), two_texts(), Replacement(distribution))
    assert (found[1, ..., 3:] == 0).all()
    torch.testing.assert_close(found.sum(-1), torch.ones(found.shape[:-1]))


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_a_batch_changes_nothing(distribution: str) -> None:
    model, batch, how = Transformer(tiny.network()), two_texts(), Replacement(distribution)
    alone = replace(
        batch,
        ids=batch.ids[1:, :3],
        lengths=batch.lengths[1:],
        valid=batch.valid[1:, :3],
        maskable=batch.maskable[1:, :3],
    )
    torch.testing.assert_close(logits(model, batch, how)[1:], logits(model, alone, how))


def test_uniform_gives_every_real_token_the_same() -> None:
    found = heads(Transformer(tiny.network()), two_texts(), Replacement("uniform"))
    assert found[0, 0, 0, 0].tolist() == pytest.approx([0.2] * 5)
    assert found[1, 1, 1, 2].tolist() == pytest.approx([1 / 3] * 3 + [0, 0])


def test_sparse_attention_has_zeros_among_real_tokens() -> None:
    model, batch = Transformer(tiny.network()), two_texts()
    real = heads(model, batch, Replacement("sparsemax"))[0]
    assert bool((real == 0).any())
    assert not bool((heads(model, batch, Replacement())[0] == 0).any())


def test_given_attention_is_what_every_layer_uses() -> None:
    model, batch = Transformer(tiny.network()), two_texts()
    own = heads(model, batch, Replacement())
    assert torch.equal(logits(model, batch, Replacement(given=own)), logits(model, batch, Replacement()))
    moved = own.flip(2)  # the heads in another order
    assert torch.equal(heads(model, batch, Replacement(given=moved)), moved)
    assert not torch.equal(
        logits(model, batch, Replacement(given=moved)), logits(model, batch, Replacement())
    )


def test_one_layer_and_head_of_given_attention_stand_for_all() -> None:
    model, batch = Transformer(tiny.network()), two_texts()
    flat = batch.valid[:, None, None, None] / batch.lengths[:, None, None, None, None]
    given = flat.expand(-1, -1, -1, 5, -1)
    torch.testing.assert_close(
        logits(model, batch, Replacement(given=given)), logits(model, batch, Replacement("uniform"))
    )


def test_only_the_layers_that_are_named_are_replaced() -> None:
    model, batch = Transformer(tiny.network(num_hidden_layers=3)), two_texts()
    own, second = (heads(model, batch, how) for how in (Replacement(), Replacement("uniform", layers=(1,))))
    assert torch.equal(second[:, 0], own[:, 0])
    assert second[0, 1, 0, 0].tolist() == pytest.approx([0.2] * 5)
    assert not torch.equal(second[:, 2], own[:, 2])


def test_a_model_learns_through_replaced_attention() -> None:
    """Uniform attention has no use for queries and keys; the values learn all the same."""
    model, batch = Transformer(tiny.network()), two_texts()
    with attending(model.network, Replacement("uniform")):
        model(batch).logits.sum().backward()
    slopes = {name: weight.grad for name, weight in model.named_parameters()}
    query = next(one for name, one in slopes.items() if "attention.self.query.weight" in name)
    value = next(one for name, one in slopes.items() if "attention.self.value.weight" in name)
    assert query is None or not bool(query.any())
    assert value is not None
    assert bool(value.any())


def test_a_model_has_its_distribution_wherever_it_is_asked() -> None:
    model, batch = Transformer(tiny.network(), "uniform"), two_texts()
    how = Replacement("uniform")
    plain = Transformer(tiny.network())
    with torch.no_grad():
        assert torch.equal(model(batch).logits, logits(plain, batch, how))
        shown = model.heads(batch)
    assert torch.equal(shown.logits, logits(plain, batch, how))
    assert torch.equal(torch.stack(shown.attentions, 1), heads(plain, batch, how))
    assert repr(model) != repr(plain)


def test_a_model_takes_attention_of_every_head_as_an_argument() -> None:
    model, batch = Transformer(tiny.network()), two_texts()
    given = heads(model, batch, Replacement()).flip(2)
    with torch.no_grad():
        assert torch.equal(model(batch, given).logits, logits(model, batch, Replacement(given=given)))


def test_one_distribution_for_the_whole_text_is_refused() -> None:
    with pytest.raises(UnsupportedError) as raised:
        Transformer(tiny.network())(two_texts(), torch.ones(2, 5))
    assert str(raised.value) == (
        "a transformer has a distribution of attention for each token, head and layer: expected "
        "(batch, layer, head, token, token), found one of 2 axes"
    )


def test_a_model_that_cannot_be_replaced_has_no_other_distribution() -> None:
    with pytest.raises(UnsupportedError, match="can be read and not replaced"):
        Transformer(tiny.network("deberta-v2"), "uniform")


def test_inside_of_itself_the_innermost_says_how_and_all_see_it() -> None:
    model, batch = Transformer(tiny.network(), "uniform"), two_texts()
    with torch.no_grad(), attending(model.network) as seen:
        model(batch)
    assert seen[1].weights[0, 0, 0].tolist() == pytest.approx([0.2] * 5)
    assert len(seen) == 2


def test_afterwards_the_attention_is_as_it_was() -> None:
    model = Transformer(tiny.network())
    before = model.network.config._attn_implementation
    with pytest.raises(ZeroDivisionError), attending(model.network):
        raise ZeroDivisionError
    assert model.network.config._attn_implementation == before


def test_attention_that_cannot_be_replaced_is_refused() -> None:
    with pytest.raises(UnsupportedError) as raised, attending(tiny.network("deberta-v2")):
        pass
    assert str(raised.value) == (
        "the attention of a deberta-v2 model can be read and not replaced: expected a model that uses "
        "transformers' attention interface (BERT, DistilBERT, RoBERTa, ELECTRA, ALBERT); choose one of "
        "these, or a test that reads attention only"
    )


def test_importing_it_does_not_import_transformers() -> None:
    code = "import sys, faithgauge.models.replaced; print('transformers' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_stored_transformer_keeps_its_distribution(tmp_path: Path) -> None:
    found = pretrained.opened(tiny.folder_of(tmp_path / "theirs"))
    uniform = Transformer(found.classifier.network, "uniform")
    store.save(store.Trained(uniform, found.tokenizer, found.classes), tmp_path / "ours")
    again = store.load(tmp_path / "ours").classifier
    assert isinstance(again, Transformer)
    assert again.distribution == "uniform"
    with torch.no_grad():
        assert torch.equal(again(two_texts()).logits, uniform(two_texts()).logits)
