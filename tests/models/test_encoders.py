from __future__ import annotations

import math

import pytest
import torch
from fakes import set_weights
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from faithgauge.errors import ConfigError
from faithgauge.models.embedding import Rows, rows_of
from faithgauge.models.encoders import (
    CNN,
    ENCODERS,
    MLP,
    Average,
    BiGRU,
    BiLSTM,
    SmallTransformer,
    packed,
    reversal,
    valid_tokens,
)

EMBED = 5
EACH = pytest.mark.parametrize("name", ENCODERS)
LENGTHS = pytest.mark.parametrize(
    "lengths", [[4, 4, 4], [3, 6, 1, 2], [1], [5], [1, 1]], ids=lambda lengths: "-".join(map(str, lengths))
)


def made(name: str, *, seed: int = 0) -> nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return ENCODERS[name](EMBED, 4).double()


def some_rows(lengths: list[int], *, seed: int = 0, words: int = 6) -> tuple[Rows, Tensor]:
    """Texts of these lengths out of a few words; what stands in the padding is drawn like the rest."""
    random = torch.Generator().manual_seed(seed)
    vectors = torch.randn(words, EMBED, generator=random, dtype=torch.float64)
    places = torch.randint(words, (len(lengths), max(lengths)), generator=random)
    return Rows(vectors, places), torch.tensor(lengths)


def cut(states: Tensor, lengths: Tensor) -> list[Tensor]:
    """The states of the real tokens of each text."""
    return [text[:length] for text, length in zip(states, lengths.tolist(), strict=True)]


@LENGTHS
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 2e-6)])
def test_the_lstm_computes_what_torch_computes_on_packed_sequences(
    lengths: list[int], dtype: torch.dtype, tolerance: float
) -> None:
    encoder = made("bilstm").to(dtype)
    rows, sizes = some_rows(lengths)
    rows = rows._replace(vectors=rows.vectors.to(dtype))
    hidden, final = encoder(rows, sizes)
    their_hidden, their_final = packed(encoder.rnn, rows, sizes)
    torch.testing.assert_close(cut(hidden, sizes), cut(their_hidden, sizes), rtol=0, atol=tolerance)
    torch.testing.assert_close(final, their_final, rtol=0, atol=tolerance)


@LENGTHS
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-5)])
def test_the_lstm_has_the_gradients_of_torch_on_packed_sequences(
    lengths: list[int], dtype: torch.dtype, tolerance: float
) -> None:
    encoder = made("bilstm").to(dtype)
    rows, sizes = some_rows(lengths)
    leaf = rows.vectors.to(dtype).requires_grad_()
    rows = rows._replace(vectors=leaf)
    random = torch.Generator().manual_seed(1)
    on_hidden = torch.randn(len(lengths), max(lengths), 8, generator=random, dtype=dtype)
    on_hidden[~valid_tokens(sizes, max(lengths))] = 0
    on_final = torch.randn(len(lengths), 8, generator=random, dtype=dtype)
    wanted = [leaf, *encoder.parameters()]
    assert len(wanted) == 9

    def gradients(hidden: Tensor, final: Tensor) -> tuple[Tensor, ...]:
        return torch.autograd.grad((hidden, final), wanted, (on_hidden, on_final))

    ours, theirs = gradients(*encoder(rows, sizes)), gradients(*packed(encoder.rnn, rows, sizes))
    torch.testing.assert_close(ours, theirs, rtol=tolerance, atol=tolerance)


@settings(max_examples=15)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=5), st.integers(0, 1000))
def test_the_lstm_agrees_with_torch_for_any_lengths(lengths: list[int], seed: int) -> None:
    encoder = made("bilstm", seed=seed)
    rows, sizes = some_rows(lengths, seed=seed)
    ours, theirs = encoder(rows, sizes), packed(encoder.rnn, rows, sizes)
    torch.testing.assert_close(cut(ours[0], sizes), cut(theirs[0], sizes), rtol=0, atol=1e-12)
    torch.testing.assert_close(ours[1], theirs[1], rtol=0, atol=1e-12)


def test_the_lstm_sees_its_weights_change() -> None:
    encoder = made("bilstm")
    rows, sizes = some_rows([3, 2])
    before, _ = encoder(rows, sizes)
    with torch.no_grad():
        encoder.rnn.weight_hh_l0_reverse += 0.1
    after, _ = encoder(rows, sizes)
    assert torch.equal(before[..., :4], after[..., :4])
    assert not torch.equal(before[0, :2, 4:], after[0, :2, 4:])


def test_the_lstm_adds_no_weights_to_those_of_torch() -> None:
    assert set(BiLSTM(EMBED, 4).state_dict()) == {f"rnn.{name}" for name in BiLSTM(EMBED, 4).rnn.state_dict()}


@LENGTHS
def test_the_gru_computes_what_torch_computes_on_each_text_alone(lengths: list[int]) -> None:
    encoder = made("gru")
    assert isinstance(encoder, BiGRU)
    rows, sizes = some_rows(lengths)
    hidden, final = encoder(rows, sizes)
    for i, text in enumerate(cut(rows.spread(), sizes)):
        ahead, last = encoder.ahead(text[None])
        behind, first = encoder.behind(text.flip(0)[None])
        expected = torch.cat([ahead[0], behind[0].flip(0)], -1)
        torch.testing.assert_close(hidden[i, : len(text)], expected, rtol=0, atol=1e-12)
        torch.testing.assert_close(final[i], torch.cat([last[0, 0], first[0, 0]]), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["bilstm", "gru"])
def test_the_final_state_is_the_last_one_ahead_and_the_first_one_behind(name: str) -> None:
    rows, sizes = some_rows([3, 6, 1])
    hidden, final = made(name)(rows, sizes)
    for i, size in enumerate(sizes.tolist()):
        assert torch.equal(final[i], torch.cat([hidden[i, size - 1, :4], hidden[i, 0, 4:]]))


@pytest.mark.parametrize("name", ["cnn", "mlp", "average", "transformer-small"])
def test_the_final_state_is_the_mean_over_the_real_tokens(name: str) -> None:
    rows, sizes = some_rows([3, 6, 1])
    hidden, final = made(name)(rows, sizes)
    expected = torch.stack([text.mean(0) for text in cut(hidden, sizes)])
    torch.testing.assert_close(final, expected, rtol=0, atol=1e-14)


@EACH
def test_a_text_has_the_same_states_alone_and_beside_longer_ones(name: str) -> None:
    encoder = made(name)
    rows, sizes = some_rows([3, 9, 1, 6])
    hidden, final = encoder(rows, sizes)
    for i, size in enumerate(sizes.tolist()):
        alone, alone_final = encoder(rows._replace(places=rows.places[i : i + 1, :size]), sizes[i : i + 1])
        torch.testing.assert_close(hidden[i, :size], alone[0], rtol=0, atol=1e-12)
        torch.testing.assert_close(final[i], alone_final[0], rtol=0, atol=1e-12)


@EACH
def test_padding_changes_nothing_in_float32(name: str) -> None:
    encoder = made(name).float()
    rows, sizes = some_rows([3, 9, 1, 6])
    rows = rows._replace(vectors=rows.vectors.float())
    hidden, final = encoder(rows, sizes)
    # Normalising four numbers to unit variance, five times over, magnifies rounding.
    tolerance = 1e-5 if name == "transformer-small" else 1e-6
    for i, size in enumerate(sizes.tolist()):
        alone, alone_final = encoder(rows._replace(places=rows.places[i : i + 1, :size]), sizes[i : i + 1])
        torch.testing.assert_close(hidden[i, :size], alone[0], rtol=0, atol=tolerance)
        torch.testing.assert_close(final[i], alone_final[0], rtol=0, atol=tolerance)


@EACH
def test_what_stands_in_the_padding_has_no_influence_and_gets_no_gradient(name: str) -> None:
    encoder = made(name)
    rows, sizes = some_rows([3, 6, 1])
    valid = valid_tokens(sizes, 6)
    vectors = torch.cat([rows.vectors, torch.full((1, EMBED), 1e3, dtype=torch.float64)]).requires_grad_()
    garbage = Rows(vectors, rows.places.masked_fill(~valid, len(rows.vectors)))
    hidden, final = encoder(rows, sizes)
    other_hidden, other_final = encoder(garbage, sizes)
    torch.testing.assert_close(other_hidden[valid], hidden[valid], rtol=0, atol=1e-12)
    torch.testing.assert_close(other_final, final, rtol=0, atol=1e-12)
    (other_hidden[valid].square().sum() + other_final.square().sum()).backward()
    assert vectors.grad is not None
    assert vectors.grad[-1].tolist() == [0] * EMBED
    assert vectors.grad.isfinite().all()


@EACH
def test_the_order_of_the_texts_in_a_batch_changes_nothing(name: str) -> None:
    encoder = made(name)
    rows, sizes = some_rows([3, 6, 1, 6])
    order = torch.tensor([2, 0, 3, 1])
    hidden, final = encoder(rows, sizes)
    other_hidden, other_final = encoder(rows._replace(places=rows.places[order]), sizes[order])
    valid = valid_tokens(sizes, 6)[order]
    torch.testing.assert_close(other_hidden[valid], hidden[order][valid], rtol=0, atol=1e-12)
    torch.testing.assert_close(other_final, final[order], rtol=0, atol=1e-12)


@EACH
def test_vectors_given_place_by_place_have_the_same_states(name: str) -> None:
    encoder = made(name)
    rows, sizes = some_rows([3, 6, 1])
    for ours, theirs in zip(encoder(rows, sizes), encoder(rows_of(rows.spread()), sizes), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)


@EACH
def test_an_encoder_names_the_size_of_its_output(name: str) -> None:
    encoder = made(name)
    rows, sizes = some_rows([3, 6])
    hidden, final = encoder(rows, sizes)
    assert hidden.shape == (2, 6, encoder.size)
    assert final.shape == (2, encoder.size)


@pytest.mark.parametrize(
    ("name", "size"),
    [("bilstm", 256), ("gru", 256), ("cnn", 256), ("mlp", 128), ("average", 256), ("transformer-small", 128)],
)
def test_without_a_size_an_encoder_has_that_of_the_papers(name: str, size: int) -> None:
    assert ENCODERS[name](EMBED, None).size == size


def test_the_mlp_by_hand() -> None:
    encoder = MLP(2, 1).double()
    set_weights(encoder, layer__weight=[[1.0, -2]], layer__bias=[0.5])
    rows = Rows(torch.tensor([[0, 0], [1, 0.25]], dtype=torch.float64), torch.tensor([[1, 0, 1]]))
    hidden, final = encoder(rows, torch.tensor([2]))
    assert hidden[0, :, 0].tolist() == pytest.approx([math.tanh(1), math.tanh(0.5), math.tanh(1)])
    assert final.item() == pytest.approx((math.tanh(1) + math.tanh(0.5)) / 2)


def test_the_average_by_hand() -> None:
    encoder = Average(2, 1).double()
    set_weights(encoder, layer__weight=[[1.0, -2]], layer__bias=[0.5])
    rows = Rows(torch.tensor([[0, 1], [1, 0.25]], dtype=torch.float64), torch.tensor([[1, 0, 1]]))
    hidden, final = encoder(rows, torch.tensor([2]))
    assert hidden[0, :, 0].tolist() == [1, 0, 1]
    assert final.item() == 0.5


def test_the_cnn_by_hand() -> None:
    encoder = CNN(1, 1).double()
    assert encoder.widths == (1, 3, 5, 7)
    for convolution, kernel in zip(
        encoder.convolutions,
        ([2.0], [1, 10, 100], [1, 10, 100, 1e3, 1e4], [-1, 0, 0, 0, 0, 0, 1]),
        strict=True,
    ):
        set_weights(convolution, weight=[[kernel]], bias=[0.5])
    vectors = torch.tensor([[1], [2], [3], [9]], dtype=torch.float64)
    # The fourth place is padding, so zeros stand on both sides of 1 2 3.
    hidden, final = encoder(Rows(vectors, torch.tensor([[0, 1, 2, 3]])), torch.tensor([3]))
    assert hidden[0, :3].tolist() == [
        [2.5, 210.5, 32100.5, 0.5],
        [4.5, 321.5, 3210.5, 0.5],
        [6.5, 32.5, 321.5, 0.5],
    ]
    assert final[0].tolist() == pytest.approx([4.5, 564.5 / 3, 35632.5 / 3, 0.5])


def test_the_cnn_is_zero_where_a_filter_is_negative() -> None:
    encoder = CNN(1, 1).double()
    set_weights(encoder.convolutions[0], weight=[[[-1.0]]], bias=[0.5])
    vectors = torch.tensor([[0], [2]], dtype=torch.float64)
    hidden, _ = encoder(Rows(vectors, torch.tensor([[0, 1]])), torch.tensor([2]))
    assert hidden[0, :, 0].tolist() == [0.5, 0]


def torch_layer(block: nn.Module, size: int) -> nn.TransformerEncoderLayer:
    """torch's own layer with the weights of one of our blocks."""
    layer = nn.TransformerEncoderLayer(
        size, 4, 4 * size, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
    ).double()
    pairs = {
        "self_attn.in_proj_": "attend.",
        "self_attn.out_proj.": "merge.",
        "linear1.": "widen.",
        "linear2.": "narrow.",
        "norm1.": "norms.0.",
        "norm2.": "norms.1.",
    }
    own = block.state_dict()
    layer.load_state_dict(
        {theirs + kind: own[ours + kind] for theirs, ours in pairs.items() for kind in ("weight", "bias")}
    )
    return layer


def test_the_transformer_computes_what_the_layers_of_torch_compute() -> None:
    encoder = SmallTransformer(EMBED, 8).double()
    rows, sizes = some_rows([3, 6, 1])
    steps, halves = torch.arange(6.0)[:, None], torch.arange(4)
    angles = steps * 1e-4 ** (halves / 4)
    positions = torch.stack([angles.sin(), angles.cos()], -1).flatten(1)
    hidden = encoder.project(rows.spread()) + positions
    padding = ~valid_tokens(sizes, 6)
    for block in encoder.blocks:
        hidden = torch_layer(block, 8)(hidden, src_key_padding_mask=padding)
    expected = encoder.norm(hidden)
    found, _ = encoder(rows, sizes)
    # The positions are float32.
    torch.testing.assert_close(found[~padding], expected[~padding], rtol=0, atol=1e-6)


def test_a_transformer_whose_size_its_heads_do_not_divide_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"expected a multiple of 4, found 30"):
        SmallTransformer(EMBED, 30)


def test_a_text_is_reversed_up_to_its_length() -> None:
    assert reversal(torch.tensor([3, 1, 4]), 4).tolist() == [[2, 1, 0, 3], [0, 1, 2, 3], [3, 2, 1, 0]]


def test_a_place_is_valid_up_to_the_length() -> None:
    assert valid_tokens(torch.tensor([2, 1]), 3).tolist() == [[True, True, False], [True, False, False]]
