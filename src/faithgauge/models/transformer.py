"""A classifier of the transformers library behind the Classifier protocol.

    logits = head(layer_L(… layer_1(position + type + word vectors)))

Words enter as vectors, so that what is asked with vectors and what is asked with ids is one computation.
Attention is computed eagerly, since no other way shows it. A pair of texts is one row with separators, and
`Batch.segments` says which text each token belongs to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, cast

import torch
from jaxtyping import Float
from torch import Tensor, nn

from faithgauge.errors import DataError, UnsupportedError
from faithgauge.models.attention import DISTRIBUTIONS
from faithgauge.models.classified import first_only
from faithgauge.models.onednn import OneDNN
from faithgauge.models.replaced import Replacement, attending
from faithgauge.types import Batch, Output

TOLERANCE = 1e-4
"""How far a row of attention may be from a sum of 1."""


@dataclass(frozen=True)
class Heads:
    """What all heads of all layers do with a batch.

    logits       (batch, class)
    attentions   one (batch, head, token, token) for each layer: how much a token (third axis) attends to each
                 (last axis); what a padding token attends to means nothing
    hidden       (batch, token, hidden): what enters the first layer, then the states after each layer
    """

    logits: Tensor
    attentions: tuple[Tensor, ...]
    hidden: tuple[Tensor, ...]


class Transformer(nn.Module):
    """An encoder with a head for sequences, as transformers' AutoModelForSequenceClassification makes it.

    It has no one distribution of attention over tokens, but one for each token, head and layer (`heads`); an
    `Output` of it has none. Its word vectors are those of the table alone, without positions and types.

    Attention that is given is therefore (batch, layer, head, token, token), where one layer or one head may
    stand for all; `distribution` (see `models.attention`) is how the scores of every head become weights.
    `places` is how many tokens it reads at once fastest: more leave the caches.
    """

    places = 2_048

    def __init__(self, network: nn.Module, distribution: str = "softmax") -> None:
        super().__init__()
        self.network = network
        self.distribution = distribution
        if distribution != "softmax":
            DISTRIBUTIONS[distribution]
            self.refuse_read_only()
        self.n_classes = int(self.config.num_labels)
        self.capabilities = frozenset({"embedding", "heads"})
        self.train(network.training)

    def extra_repr(self) -> str:
        return "" if self.distribution == "softmax" else f"distribution={self.distribution!r}"

    @property
    def config(self) -> Any:
        """That of the network: its family and sizes."""
        return self.network.config

    @property
    def body(self) -> nn.Module:
        """The network without its head."""
        return cast("nn.Module", self.network.base_model)

    @property
    def positions(self) -> int:
        """How many tokens a row may have."""
        for name, module in self.body.named_modules():
            if isinstance(module, nn.Embedding) and name.endswith("position_embeddings"):
                # Where padding has a position of its own (RoBERTa), the first token comes after it.
                before = 0 if module.padding_idx is None else module.padding_idx + 1
                return module.num_embeddings - before
        return int(getattr(self.config, "max_position_embeddings", 0)) or 2**31

    @property
    def replaceable(self) -> bool:
        """Whether its attention can be replaced through transformers' public interface for that."""
        return bool(cast("Any", self.network).is_backend_compatible())

    def refuse_read_only(self) -> None:
        """Whoever replaces attention asks first: that of DeBERTa, for one, can only be read."""
        if not self.replaceable:
            raise UnsupportedError(
                f"the attention of a {self.config.model_type} model can be read and not replaced: expected "
                "a model that uses transformers' attention interface (BERT, DistilBERT, RoBERTa, ELECTRA, "
                "ALBERT); choose one of these, or a test that reads attention only"
            )

    def get_input_embeddings(self) -> nn.Embedding:
        return cast("nn.Embedding", cast("Any", self.network).get_input_embeddings())

    def forward(self, batch: Batch, attention: Tensor | None = None) -> Output:
        return self.forward_embedded(self.embed(batch), batch, attention)

    def embed(self, batch: Batch) -> Float[Tensor, "batch token embed"]:
        self._refuse_what_is_too_long(batch)
        return cast("Tensor", self.get_input_embeddings()(batch.ids))

    def forward_embedded(
        self, embedded: Float[Tensor, "batch token embed"], batch: Batch, attention: Tensor | None = None
    ) -> Output:
        if attention is not None and attention.dim() != 5:
            raise UnsupportedError(
                "a transformer has a distribution of attention for each token, head and layer: expected "
                f"(batch, layer, head, token, token), found one of {attention.dim()} axes"
            )
        with _caught(self.body) as last, self._attending(attention):
            logits = _among(self._network(embedded, batch).logits, batch)
        return Output(logits, hidden=last[0] if last else None)

    def heads(self, batch: Batch, *, embedded: Float[Tensor, "batch token embed"] | None = None) -> Heads:
        """The attention of every head of every layer, with a graph where one is recorded.

        `embedded` are word vectors in place of those of the ids.
        """
        vectors = self.embed(batch) if embedded is None else embedded
        with self._attending():
            output = self._network(vectors, batch, output_attentions=True, output_hidden_states=True)
        attentions = output.get("attentions") or ()
        self._refuse_what_is_no_attention(attentions, batch)
        return Heads(_among(output.logits, batch), tuple(attentions), tuple(output.hidden_states))

    @contextmanager
    def only_logits(self) -> Iterator[None]:
        """Inside, `forward` may leave out whatever the logits do not depend on; no gradient is recorded."""
        own = self.distribution != "softmax"
        with torch.inference_mode(), nullcontext() if own else first_only(self.network):
            yield

    def _attending(self, given: Tensor | None = None) -> AbstractContextManager[object]:
        """Inside, one forward pass of the network attends as this model does, or as is given."""
        if given is None and self.distribution == "softmax":
            return nullcontext()
        return attending(self.network, Replacement(self.distribution, given))

    def _network(self, vectors: Tensor, batch: Batch, **options: bool) -> Any:
        """The network's own output; padding is hidden from it by a mask."""
        self._refuse_what_is_too_long(batch)
        if batch.pair is not None:
            raise UnsupportedError(
                "a transformer reads a pair as one row with separators: expected segments, found a second "
                "batch; encode the pair with the tokenizer of the model"
            )
        types: dict[str, Tensor] = {}
        if batch.segments is not None and int(getattr(self.config, "type_vocab_size", 0) or 0) > 1:
            types["token_type_ids"] = batch.segments.to(batch.ids.dtype)
        mask = batch.valid.to(batch.ids.dtype)
        with OneDNN():
            return self.network(inputs_embeds=vectors, attention_mask=mask, **types, **options)

    def _refuse_what_is_too_long(self, batch: Batch) -> None:
        if batch.ids.shape[1] > self.positions:
            raise DataError(
                f"expected rows of at most {self.positions} tokens, which are the positions of the model, "
                f"found {batch.ids.shape[1]}; cut the texts: --too-long cut"
            )

    def _refuse_what_is_no_attention(self, attentions: tuple[Tensor, ...], batch: Batch) -> None:
        """Every layer shows its attention, and every real token's is a distribution over real tokens."""
        tokens = batch.ids.shape[1]
        shown = [one for one in attentions if one is not None and one.shape[-2:] == (tokens, tokens)]
        if not shown or len(shown) < len(attentions):
            raise UnsupportedError(
                f"expected attention (batch, head, token, token) of every layer, found a "
                f"{self.config.model_type} model that returns none; choose another explainer or model"
            )
        if self.training:  # dropout takes some of it away
            return
        for layer, one in enumerate(shown):
            rows = one.detach().transpose(1, 2)[batch.valid]  # (token, head, token)
            seen = batch.valid[:, None].expand(-1, tokens, -1)[batch.valid]
            off = max((rows.sum(-1) - 1).abs().max().item(), (rows * ~seen[:, None]).abs().max().item())
            if not off <= TOLERANCE:
                raise UnsupportedError(
                    f"expected attention of real tokens that sums to 1 over real tokens, found layer "
                    f"{layer + 1} off by {off:.2g}; such a model cannot be explained by its attention"
                )


class AllEmbeddings(nn.Module):
    """A transformer whose "word vectors" are what enters its first layer: word, position and type, normed.

    What is attributed to a token is then due to its place as well. It reads ids as the whole model does.
    """

    places = Transformer.places

    def __init__(self, whole: Transformer) -> None:
        super().__init__()
        self.whole = whole
        self.n_classes = whole.n_classes
        self.capabilities = frozenset({"embedding"})
        self.train(whole.training)

    def forward(self, batch: Batch, attention: Tensor | None = None) -> Output:
        return self.whole(batch, attention)  # type: ignore[no-any-return]

    def embed(self, batch: Batch) -> Float[Tensor, "batch token embed"]:
        with _caught(self._table()) as found:
            self.whole(batch)
        return found[0]

    def forward_embedded(
        self, embedded: Float[Tensor, "batch token embed"], batch: Batch, attention: Tensor | None = None
    ) -> Output:
        with _hooked(self._table(), lambda _module, _inputs, _output: embedded):
            return self.whole(batch, attention)  # type: ignore[no-any-return]

    def _table(self) -> nn.Module:
        found = getattr(self.whole.body, "embeddings", None)
        if not isinstance(found, nn.Module):
            raise UnsupportedError(
                f"expected the embeddings of a {self.whole.config.model_type} model in one module, found "
                "none; choose embeddings=word"
            )
        return found


def whole_embeddings(model: nn.Module) -> nn.Module:
    """The same model, begun behind all of its embeddings; another model has only those of words."""
    return AllEmbeddings(model) if isinstance(model, Transformer) else model


def _among(logits: Tensor, batch: Batch) -> Tensor:
    """The logits, −∞ of classes that are no candidates of a question."""
    return logits if batch.candidates is None else logits.masked_fill(~batch.candidates, -torch.inf)


@contextmanager
def _hooked(module: nn.Module, hook: Callable[..., object]) -> Iterator[None]:
    handle = module.register_forward_hook(hook)
    try:
        yield
    finally:
        handle.remove()


@contextmanager
def _caught(module: nn.Module) -> Iterator[list[Tensor]]:
    """A list that gets what a module returns inside, the first part of it where there are several."""
    found: list[Tensor] = []

    def keep(_module: nn.Module, _inputs: object, output: Any) -> None:
        found.append(output if isinstance(output, Tensor) else output[0])

    with _hooked(module, keep):
        yield found
