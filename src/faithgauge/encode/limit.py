"""How long a row of tokens may be, and what becomes of a longer one: an error, or a cut that is counted."""

from __future__ import annotations

from dataclasses import dataclass, field

from faithgauge.config import EncodeConfig
from faithgauge.encode.tokenizer import SubwordTokenizer, Tokenizer
from faithgauge.errors import DataError
from faithgauge.types import Encoded


@dataclass
class Limit:
    """How many tokens a row may have, whether a longer one is cut, and whose were."""

    tokens: int
    cuts: bool
    way: str
    cut: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, config: EncodeConfig, tokenizer: Tokenizer | None = None) -> Limit:
        longest = getattr(tokenizer, "longest", None)
        cuts = config.too_long == "cut"
        if longest is not None and longest <= config.max_tokens:
            return cls(longest, cuts, "the model can read no more: set --too-long cut")
        return cls(config.max_tokens, cuts, "set --max-tokens {} or --too-long cut")

    def excess(self, tokens: int, where: str) -> int:
        """How many tokens are to be cut of a row of so many."""
        if tokens > self.tokens and not self.cuts:
            raise DataError(
                f"{where}: expected at most {self.tokens:,} tokens, found {tokens:,}; "
                f"{self.way.format(tokens)}"
            )
        if tokens > self.tokens:
            self.cut.add(where)
        return max(tokens - self.tokens, 0)


def cut_rows(encoded: Encoded, tokenizer: Tokenizer) -> dict[int, int]:
    """By row that was cut, how many tokens were left: it has as many as it may, and in full has more.

    The limit is that of texts which nobody can be asked to mend: the general default, or what a model reads.
    """
    most = Limit.of(EncodeConfig(), tokenizer).tokens
    sides = [(encoded.ids, encoded.texts)]
    if encoded.pair_ids is not None and encoded.pair_texts is not None:
        sides.append((encoded.pair_ids, encoded.pair_texts))
    found = {}
    for ids, texts in sides:
        for i in (ids.lengths() == most).nonzero()[0].tolist():
            if encoded.segments is not None and isinstance(tokenizer, SubwordTokenizer):
                (pair,) = tokenizer.encode_pairs([(encoded.text(i), encoded.text_pair(i) or "")])
                tokens = len(pair.ids)
            else:
                tokens = len(tokenizer.encode(texts.row(i).tobytes().decode()).ids)
            if tokens > most:
                found[i] = most
    return found
