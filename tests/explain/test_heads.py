from __future__ import annotations

from math import nan

import pytest
import torch
from fakes import PAD, SOS, batch_of, noise
from forms import explained
from headed import THREE_TOKENS, Headed

from faithgauge.errors import ConfigError, UnsupportedError
from faithgauge.explain.asked import asked
from faithgauge.explain.split import refuse_what_lacks
from faithgauge.models.question import Known

TWO_HEADS = torch.cat([THREE_TOKENS, torch.eye(3).expand(1, 2, 1, 3, 3)], 2)
"""A second head in which every token attends to itself."""
BATCH = batch_of([[SOS, 4, 5]])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("", [0.25, 0.25]),
        (":head=0", [0.5, 0.5]),
        (":head=-1", [0.0, 0.0]),
        (":head=max", [0.5, 0.5]),
        (":layer=0", [0.25, 0.0]),
        (":layer=mean:head=0", [0.5, 0.25]),
        (":layer=max:head=0", [0.5, 0.5]),
        # The columns of layer 1, head 0, sum to .5, 2 and .5.
        (":layer=0:head=0:by=received", [2 / 3, 0.5 / 3]),
    ],
)
def test_raw_attention_by_hand(options: str, expected: list[float]) -> None:
    found = explained(f"head_attention{options}", Headed(TWO_HEADS), BATCH)
    assert found.scores[0].tolist() == pytest.approx([nan, *expected], nan_ok=True)
    assert found.signed is False


def test_padding_attends_to_nothing_when_what_is_received_is_counted() -> None:
    wide = torch.nn.functional.pad(THREE_TOKENS, (0, 1, 0, 1))
    wide[..., 3, 1] = 1  # what padding attends to means nothing
    batch = batch_of([[SOS, 4, 5], [SOS, 4, 5, 6]])
    found = explained("head_attention:by=received", Headed(wide.expand(2, -1, -1, -1, -1)), batch)
    alone = explained("head_attention:by=received", Headed(THREE_TOKENS), BATCH)
    torch.testing.assert_close(found.scores[:1, :3], alone.scores, equal_nan=True)
    assert batch.ids[0, 3] == PAD


def test_attention_x_gradient_by_hand() -> None:
    slopes = torch.zeros_like(THREE_TOKENS)
    slopes[0, 1, 0, 0] = torch.tensor([9.0, 2.0, -4.0])
    found = explained("head_x_gradient:of=logit:target=1", Headed(THREE_TOKENS, slopes), BATCH)
    assert found.scores[0].tolist() == pytest.approx([nan, 0.5 * 2, 0.5 * -4], nan_ok=True)
    assert found.signed is True


def test_of_a_linear_output_attention_x_gradient_sums_to_it() -> None:
    attentions, slopes = noise(1, 2, 2, 3, 3).softmax(-1), noise(1, 2, 2, 3, 3, seed=1)
    model = Headed(attentions, slopes)
    total = 0.0
    for layer in range(2):
        for head in range(2):
            text = f"head_x_gradient:of=logit:target=1:by=received:layer={layer}:head={head}"
            # Without the first token, which is special; the mean of three rows.
            total += float(explained(text, model, BATCH).scores.nansum()) * 3
    whole = float((attentions * slopes)[..., 1:].sum())
    assert total == pytest.approx(whole, abs=1e-5)


@pytest.mark.parametrize(
    ("option", "noun", "size"), [("layer=2", "layer", 2), ("head=-3", "head", 2), ("head=5", "head", 2)]
)
def test_a_layer_or_head_that_is_not_there_is_an_error(option: str, noun: str, size: int) -> None:
    with pytest.raises(ConfigError) as raised:
        explained(f"head_attention:{option}", Headed(TWO_HEADS), BATCH)
    number = option.partition("=")[2]
    assert str(raised.value) == (
        f"expected a {noun} from 0 to {size - 1}, or from −{size} to −1, found {number}"
    )


@pytest.mark.parametrize("name", ["rollout", "flow", "head_attention", "value_zeroing"])
def test_a_model_without_heads_is_refused(name: str) -> None:
    from fakes import classifier

    with pytest.raises(UnsupportedError) as raised:
        refuse_what_lacks(classifier(), asked(name), known=Known())
    assert str(raised.value) == (
        f"{name} needs a transformer whose heads are seen (capability 'heads'), found none; "
        "choose another explainer"
    )
