"""Explanations by perturbed texts against captum and against plain PyTorch, the same model and values.

The model is the papers' BiLSTM with additive attention. The baselines run the same weights as torch's own
modules, without gradients and, since perturbed texts are equally long, without packing. Captum gets token
ids, the cheaper of its two ways in; it is measured one perturbed text at a time, as neely-2022 used it, and
at the best of several batch sizes. Leave-one-out is compared with one forward pass per removed token.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor, nn

from bench.measure import Row, medians
from bench.plain import Plain
from faithgauge.config import ModelConfig
from faithgauge.explain.kernel_shap import kernel_shap
from faithgauge.explain.leave_one_out import leave_one_out
from faithgauge.explain.lime import lime
from faithgauge.models.classifier import AttentionClassifier, Shape, build
from faithgauge.models.question import Known, Question
from faithgauge.types import Batch

VOCABULARY = 14_829
MASK = 1
SAMPLES = 1000
BATCHES = (20, 50, 100, 200, 500)
"""How many perturbed texts captum may be given at once; the best counts."""

GOALS = {25: (8.0, 3.0, 10.0, 3.5), 200: (4.0, 2.5, 4.0, 2.5)}
"""By length: LIME one by one and batched, kernel SHAP one by one and batched."""
GOALS_LEAVE_ONE_OUT = {(20, 32): 3.0, (20, 1): None, (200, 1): 4.0}
"""By length, and how many texts are explained together."""


def rows() -> Iterator[Row]:
    torch.set_num_threads(1)
    vectors = torch.randn(VOCABULARY, 300, generator=torch.Generator().manual_seed(0))
    model = build(ModelConfig(), Shape(VOCABULARY, ("0", "1"), "single"), seed=0, vectors=vectors).eval()
    model.requires_grad_(False)  # as `explain_split` has it
    plain = Answer(model)
    for length, goals in GOALS.items():
        yield from _against_captum(model, plain, texts(length), goals=goals)
    for (length, n), goal in GOALS_LEAVE_ONE_OUT.items():
        yield from _against_one_by_one(model, plain, texts(length, n), goal=goal)


def texts(length: int, n: int = 1) -> Batch:
    """Random words between two special tokens."""
    ids = torch.randint(4, VOCABULARY, (n, length), generator=torch.Generator().manual_seed(length))
    ids[:, 0], ids[:, -1] = 2, 3
    return Batch(ids, torch.full((n,), length), ids > 0, ids > 3)


class Answer(nn.Module):
    """The probability of class 1 for texts of equal length, by the plain network with our weights."""

    def __init__(self, model: AttentionClassifier) -> None:
        super().__init__()
        self.plain = Plain(VOCABULARY, "bilstm").eval()
        names = {"attention.0": "attention.attn1", "attention.2": "attention.attn2", "rnn": "encoder.rnn"}
        own = model.state_dict()
        renamed = {}
        for name in self.plain.state_dict():
            prefix = next((prefix for prefix in names if name.startswith(prefix)), "")
            renamed[name] = own[names.get(prefix, "") + name.removeprefix(prefix)]
        self.plain.load_state_dict(renamed)

    def forward(self, ids: Tensor) -> Tensor:
        hidden, _ = self.plain.rnn(self.plain.embedding(ids))
        weights = self.plain.attention(hidden)[:, 1:-1, 0].softmax(-1)
        context = torch.bmm(weights[:, None], hidden[:, 1:-1])[:, 0]
        return torch.as_tensor(self.plain.decoder(context)[:, 0].sigmoid())


def _against_captum(
    model: AttentionClassifier, plain: Answer, batch: Batch, *, goals: tuple[float, float, float, float]
) -> Iterator[Row]:
    question = Question(torch.tensor([1]), known=Known(mask=MASK))
    length = batch.ids.shape[1]
    methods = {
        "LIME": (lambda: lime(model, batch, question, samples=SAMPLES), captum_lime),
        "kernel SHAP": (lambda: kernel_shap(model, batch, question, samples=SAMPLES), captum_kernel_shap),
    }
    for (name, (ours, theirs)), one, many in zip(methods.items(), goals[::2], goals[1::2], strict=True):
        works: dict[str, Callable[[], object]] = {"ours": ours}
        for size in (1, *BATCHES):
            works[str(size)] = lambda size=size, theirs=theirs: theirs(plain, batch, size)
        seconds = medians(works)
        single, best = seconds["1"], min(seconds[str(size)] for size in BATCHES)
        title = f"{name}, {length} tokens, captum"
        yield Row(f"{title} one by one", single / seconds["ours"], one, seconds["ours"], single, "CPU s")
        yield Row(f"{title} batched", best / seconds["ours"], many, seconds["ours"], best, "CPU s")
    drawn = question.random(batch, 0, "lime").integers(0, 2, (SAMPLES, length - 2), dtype=np.int8)
    ours_ = lime(model, batch, question, samples=SAMPLES).scores[0, 1:-1]
    gap = float((ours_ - captum_lime(plain, batch, 100, drawn=drawn)[0, 1:-1]).abs().max())
    yield Row(f"LIME, {length} tokens, largest gap", gap, None, gap, 0.0, "")


def captum_lime(plain: Answer, batch: Batch, size: int, *, drawn: np.ndarray | None = None) -> Tensor:
    """The same kernel and ridge; perturbations are captum's own where none are given."""
    from captum._utils.models.linear_model import SkLearnRidge
    from captum.attr import Lime

    def near(_text: Tensor, _perturbed: Tensor, kept: Tensor, **_: object) -> Tensor:
        distance = 1 - kept[0, 1:].float().mean().sqrt()
        return torch.exp(-(distance**2) / (2 * 0.25**2))

    def draw(_text: Tensor, **_: object) -> Iterator[Tensor]:
        for row in drawn if drawn is not None else ():
            yield torch.cat(
                [torch.ones(1, 1, dtype=torch.long), torch.from_numpy(row.astype(np.int64))[None]], 1
            )

    options = {} if drawn is None else {"perturb_func": draw}
    explainer = Lime(plain, interpretable_model=SkLearnRidge(alpha=1.0), similarity_func=near, **options)
    return _attribute(explainer, batch, size)


def captum_kernel_shap(plain: Answer, batch: Batch, size: int) -> Tensor:
    from captum.attr import KernelShap

    return _attribute(KernelShap(plain), batch, size)


def _attribute(explainer: object, batch: Batch, size: int) -> Tensor:
    # Feature 0 are the special tokens, which stay: their baseline is themselves.
    features = torch.arange(batch.ids.shape[1])[None] * batch.maskable
    found = explainer.attribute(  # type: ignore[attr-defined]
        batch.ids,
        baselines=batch.ids.masked_fill(batch.maskable, MASK),
        feature_mask=features,
        n_samples=SAMPLES,
        perturbations_per_eval=size,
    )
    return torch.as_tensor(found)


def _against_one_by_one(
    model: AttentionClassifier, plain: Answer, batch: Batch, *, goal: float | None
) -> Iterator[Row]:
    n, length = batch.ids.shape
    question = Question(torch.ones(n, dtype=torch.long))

    def one_by_one() -> Tensor:
        with torch.inference_mode():
            changes = []
            for ids in batch.ids:
                rest = [plain(torch.cat([ids[:t], ids[t + 1 :]])[None]) for t in range(1, length - 1)]
                changes.append(plain(ids[None]) - torch.cat(rest))
            return torch.stack(changes)

    seconds = medians({"ours": lambda: leave_one_out(model, batch, question), "theirs": one_by_one}, 5)
    ratio = seconds["theirs"] / seconds["ours"]
    title = f"leave-one-out, {length} tokens, {n} text{'s' if n > 1 else ''}"
    yield Row(f"{title}, one by one", ratio, goal, seconds["ours"], seconds["theirs"], "CPU s")
    gap = float((leave_one_out(model, batch, question).scores[:, 1:-1] - one_by_one()).abs().max())
    yield Row(f"{title}, largest gap", gap, None, gap, 0.0, "")
