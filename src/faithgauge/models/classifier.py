"""The papers' classifier: encode, attend, decode.

    p(class) = decode(Σ_t α_t h_t),  h = encoder(x),  α = distribution(attention(h, query))

One module serves single texts, pairs and cloze questions. A binary task has one logit (a sigmoid), any other
one per class. Attention that is given from outside, be it uniform, guided, permuted or adversarial, is an
argument: it takes the place of α and of nothing else.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, cast

import torch
from jaxtyping import Float
from torch import Tensor, nn

from faithgauge.config import ModelConfig
from faithgauge.models.attention import ATTENTIONS, DISTRIBUTIONS
from faithgauge.models.embedding import Embedding, Rows, rows_of
from faithgauge.models.encoders import ENCODERS
from faithgauge.models.line import Line
from faithgauge.seeds import derive
from faithgauge.types import Batch, Output, Task


@dataclass(frozen=True)
class Shape:
    """What the data decide of a model: how many words, which classes, and how texts come."""

    vocabulary: int
    classes: tuple[str, ...]
    task: Task

    @property
    def logits(self) -> int:
        return 1 if len(self.classes) == 2 and self.task != "cloze" else len(self.classes)


class _Second(NamedTuple):
    """The second text: as a query its final state, else its weighted states with their attention."""

    state: Tensor
    attention: Tensor | None = None
    hidden: Tensor | None = None


class AttentionClassifier(nn.Module):
    """Attention over an encoder, with a head for the task.

    single     logits = W c + b
    queried    logits = W tanh(P c + Q q) + b, where q is the final state of the second text's own encoder,
               and the attention's query as well (pairs of jain-wallace-2019, cloze questions)
    two_sided  logits = W [c; c′; |c − c′|; c ⊙ c′] + b, with one encoder and one attention for both texts
               (neely-2022)

    Here c = Σ_t α_t h_t. Cloze questions are queried, and what is not a candidate has logit −∞.

    Paper: jain-wallace-2019, section 2; recursive-roar-2022, appendix C.1; neely-2022, section 4.2.
    Differs: the queried head with tanh is that of the papers' code; their words are a dense layer on c.
    """

    def __init__(self, config: ModelConfig, shape: Shape) -> None:
        super().__init__()
        self.config, self.shape = config, shape
        self.form = _form(config, shape.task)
        self.n_classes = len(shape.classes)
        embed_size = config.embed_size or 300
        self.embedding = Embedding(shape.vocabulary, embed_size)
        make_encoder = ENCODERS[config.encoder]
        self.encoder = make_encoder(embed_size, config.hidden_size)
        size = cast("int", self.encoder.size)
        half = max(size // 2, 1)
        queried = self.form == "queried"
        self.pair_encoder = make_encoder(embed_size, config.hidden_size) if queried else None
        attention_size = config.attention_size or half
        self.attention = ATTENTIONS[config.attention](size, size if queried else 0, attention_size)
        self.distribution = DISTRIBUTIONS[config.distribution]
        self.context = nn.Linear(size, half) if queried else None
        self.query = nn.Linear(size, half) if queried else None
        width = {"single": size, "queried": half, "two_sided": 4 * size}[self.form]
        self.decoder = nn.Linear(width, shape.logits)
        own = {"single": {"linear"}, "queried": set(), "two_sided": {"two_sided"}}[self.form]
        self.capabilities = frozenset({"embedding", "attention", "decode", "entry"} | own)

    def extra_repr(self) -> str:
        return f"{self.config}, {self.shape}"

    def forward(self, batch: Batch, attention: Tensor | None = None) -> Output:
        return self._from_rows(self.embedding(batch.ids), batch, attention)

    def forward_stateless(self, batch: Batch, attention: Tensor | None = None) -> Output:
        """As `forward`, without the states of the tokens where these are those of their words.

        Each distinct word of the batch is then encoded, and scored, once: what a training asks for.
        """
        if self.form != "single" or not hasattr(self.encoder, "states"):
            return cast("Output", self(batch, attention))
        return self._by_word(self.embedding(batch.ids), batch, attention)

    def embed(self, batch: Batch) -> Float[Tensor, "batch token embed"]:
        return cast("Rows", self.embedding(batch.ids)).spread()

    def forward_embedded(
        self, embedded: Float[Tensor, "batch token embed"], batch: Batch, attention: Tensor | None = None
    ) -> Output:
        return self._from_rows(rows_of(embedded), batch, attention)

    def enter(self, vectors: Float[Tensor, "vocab embed"]) -> Float[Tensor, "vocab hidden"]:
        """The affine map that the encoder begins with, where it has one; else the vectors as they are."""
        enter = cast("Callable[[Tensor], Tensor]", getattr(self.encoder, "enter", nn.Identity()))
        return enter(vectors)

    def beside(self, batch: Batch) -> Float[Tensor, "batch hidden"] | None:
        """What the second texts come to, which no change of the first ones touches."""
        return None if self.form == "single" else self._second(batch).state

    def forward_entered(
        self, rows: Rows, batch: Batch, attention: Tensor | None = None, *, beside: Tensor | None = None
    ) -> Output:
        """The output for what has entered; of `batch` only lengths, `maskable` and candidates are read."""
        second = None if beside is None else _Second(beside)
        encode = getattr(self.encoder, "forward_entered", self.encoder)
        hidden, _ = cast("tuple[Tensor, Tensor]", encode(rows, batch.lengths))
        return self._from_hidden(hidden, batch, second, given=attention)

    def forward_along(
        self, line: Line, batch: Batch, attention: Tensor | None = None, *, beside: Tensor | None = None
    ) -> Output:
        """The output at all points of lines between what has entered, as `forward_entered` gives it for each.

        A gradient reaches the starts of the lines, and need not reach anything else.
        """
        if not hasattr(self.encoder, "along"):
            return self.forward_entered(line.rows(), batch, attention, beside=beside)
        second = None if beside is None else _Second(beside)
        along = cast("Callable[[Line, Tensor], Tensor]", self.encoder.along)
        return self._from_hidden(along(line, batch.lengths), batch, second, given=attention)

    def swapped(self) -> AttentionClassifier:
        """A two-sided model with its texts exchanged: what explains a first text then explains the second.

        Both texts have one encoder and one attention, so all that differs is where the decoder expects them.
        """
        if self.form != "two_sided":
            raise ValueError(f"only a two-sided model can be swapped, this one is {self.form}")
        other = copy.copy(self)
        other._modules = dict(self._modules)
        other.decoder = copy.deepcopy(self.decoder)
        first, second, *rest = self.decoder.weight.detach().chunk(4, -1)
        other.decoder.weight.data = torch.cat([second, first, *rest], -1)
        return other

    def decode(
        self,
        hidden: Float[Tensor, "batch token hidden"],
        attention: Float[Tensor, "batch token"],
        batch: Batch,
        *,
        beside: Tensor | None = None,
    ) -> Float[Tensor, "batch class"]:
        """The logits for these states under this attention; the second text is encoded as it is.

        Where the states are decoded again and again, `beside` is what `beside(batch)` gave.
        """
        context = _weigh(attention, hidden)
        if self.form == "single":
            return self._logits(context, batch)
        return self._logits(context, batch, self._second(batch) if beside is None else _Second(beside))

    def _from_rows(self, rows: Rows, batch: Batch, given: Tensor | None) -> Output:
        hidden, _ = self.encoder(rows, batch.lengths)
        second = None if self.form == "single" else self._second(batch)
        return self._from_hidden(hidden, batch, second, given=given)

    def _by_word(self, rows: Rows, batch: Batch, given: Tensor | None) -> Output:
        states = cast("Callable[[Tensor], Tensor]", self.encoder.states)(rows.vectors)
        attention = given
        if attention is None:
            by_word = self.attention(states[None], None)[0]
            scores = by_word.index_select(0, rows.places.flatten()).view(rows.places.shape)
            attention = self.distribution(scores, batch.maskable, self.config.temperature)
        weights = states.new_zeros(len(batch), len(states)).scatter_add(1, rows.places, attention)
        return Output(self._logits(weights @ states, batch), attention)

    def _from_hidden(
        self, hidden: Tensor, batch: Batch, second: _Second | None, *, given: Tensor | None
    ) -> Output:
        query = second.state if self.form == "queried" and second is not None else None
        attention = self._attend(hidden, batch, query) if given is None else given
        logits = self._logits(_weigh(attention, hidden), batch, second)
        pair = None
        if second is not None and second.attention is not None:
            pair = Output(logits, second.attention, second.hidden)
        return Output(logits, attention, hidden, pair)

    def _attend(self, hidden: Tensor, batch: Batch, query: Tensor | None) -> Tensor:
        scores = self.attention(hidden, query)
        return self.distribution(scores, batch.maskable, self.config.temperature)

    def _second(self, batch: Batch) -> _Second:
        if batch.pair is None:
            raise ValueError("this model reads two texts, the batch holds one")
        rows = self.embedding(batch.pair.ids)
        if self.pair_encoder is not None:
            return _Second(self.pair_encoder(rows, batch.pair.lengths)[1])
        hidden, _ = self.encoder(rows, batch.pair.lengths)
        attention = self._attend(hidden, batch.pair, None)
        return _Second(_weigh(attention, hidden), attention, hidden)

    def _logits(self, context: Tensor, batch: Batch, second: _Second | None = None) -> Tensor:
        if second is None:
            features = context
        elif self.context is not None and self.query is not None:
            features = torch.tanh(self.context(context) + self.query(second.state))
        else:
            other = second.state
            features = torch.cat([context, other, (context - other).abs(), context * other], -1)
        logits = self.decoder(features)
        if batch.candidates is not None:
            logits = logits.masked_fill(~batch.candidates, -torch.inf)
        return torch.as_tensor(logits)


def build(
    config: ModelConfig, shape: Shape, seed: int, *, vectors: Tensor | None = None
) -> AttentionClassifier:
    """A new model: every layer as torch initialises it under `seed`, the word vectors as given.

    Two models that differ in nothing but their vectors start from the same other weights.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive(seed, "weights"))
        model = AttentionClassifier(config, shape)
        with torch.no_grad():
            if vectors is None:
                model.embedding.weight.normal_(std=0.1)
                model.embedding.weight[0] = 0
            else:
                model.embedding.weight.copy_(vectors)
    return model


def probabilities(logits: Float[Tensor, "batch #class"]) -> Float[Tensor, "batch class"]:
    """One column per class, whether the model ends in one sigmoid or in a softmax."""
    if logits.shape[-1] == 1:
        positive = logits.sigmoid()
        return torch.cat([1 - positive, positive], -1)
    return logits.softmax(-1)


def _form(config: ModelConfig, task: Task) -> str:
    return {"single": "single", "pair": config.pair, "cloze": "queried"}[task]


def _weigh(attention: Tensor, hidden: Tensor) -> Tensor:
    return torch.bmm(attention[:, None], hidden)[:, 0]
