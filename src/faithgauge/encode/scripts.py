"""The pattern of words in any script, which the standard library's regular expressions cannot say directly.

They know no Unicode categories: ``\\w`` holds neither vowel signs (हिन्दी would fall apart) nor joiners, and
Chinese and Japanese, which are written without blanks, would be one word a sentence. The classes are
therefore gathered from `unicodedata`, when a text that is not ASCII is first seen.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable

_BLANKLESS = (
    "\u3005-\u3007\u3040-\u3098\u309b-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d"
)
_BLANKLESS_BEYOND = "\U0001b000-\U0001b16f\U00020000-\U0003347f"
"""Han and Kana: every character is a token."""
_BEYOND = "\U00010000-\U0001afff\U0001b170-\U0001efff"
"""The rarer scripts as a whole: long lists of ranges beyond the basic plane make the pattern much slower."""
_JOINERS = "\u200c\u200d"
_TAGS = "\U000e0020-\U000e007f\U000e0100-\U000e01ef"
_SKIN = "\U0001f3fb-\U0001f3ff"
_FLAG = "[\U0001f1e6-\U0001f1ff]"
_INVISIBLE = "\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff"


@functools.cache
def unicode_pattern() -> re.Pattern[str]:
    """One group that matches a token; it agrees with the pattern for ASCII texts where both apply."""
    mark = _basic("M") + _JOINERS
    letter = _basic("LN") + _BEYOND
    word = f"[{letter}][{letter}{mark}]*"
    end = f"(?![{letter}{mark}])"
    short = "(?:[sS]|[rR][eE]|[vV][eE]|[lL][lL]|[dD]|[mM])"
    modifier = f"[{mark}{_SKIN}{_TAGS}]"
    return re.compile(
        rf"""( [nN]['’][tT]{end}
            | ['’]{short}{end}
            | [0-9]+(?:[.,][0-9]+)+
            | {word}(?!(?<=[nN])['’][tT]{end})(?:['’](?!(?:{short}|[tT]){end}){word})*
            | [{_BLANKLESS}{_BLANKLESS_BEYOND}]{modifier}*
            | {_FLAG}{{2}}
            | [^\w\s{_INVISIBLE}]{modifier}*(?:(?<=\u200d)[^\w\s]{modifier}*)*
            | [^\s{_INVISIBLE}] )""",
        re.VERBOSE,
    )


def _basic(categories: str) -> str:
    """The basic plane's characters of some major categories, without those that are tokens by themselves."""
    blankless = re.compile(f"[{_BLANKLESS}]")
    codes = (
        code
        for code in range(0x10000)
        if unicodedata.category(chr(code))[0] in categories and not blankless.match(chr(code))
    )
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in _ranges(codes))


def _ranges(codes: Iterable[int]) -> list[tuple[int, int]]:
    ranges: list[tuple[int, int]] = []
    for code in codes:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1] = (ranges[-1][0], code)
        else:
            ranges.append((code, code))
    return ranges
