"""What takes back the thing beside which it stands: `not B`, `B (could be C)`, `B: wrong`, `B?`.

A forecast that its own text denies or weighs against another one is none. The same words say so of
boxes, options, names and numbers: in front of them, and right behind.
"""

from __future__ import annotations

import re
from typing import Final

from .patterns import lazy

CROSSES: Final = "✕✖✗✘❌❎⛔🚫"
# In front of what they deny
DENIALS: Final = (
    r"not(?:\s(?:be|answer|say|predict))?|never|neither|nor|non|except(?:\sfor)?|excluding|without"
    r"|(?:any|every)(?:thing|one)\sbut|rather\sthan|instead\sof|doubt|against"
    r"|(?:is|are|was|were|do|does|did|will|would|ca|could)n'?t"
    r"|(?:refuse|decline|cannot)(?:\s(?:to\s)?(?:say|name|answer|predict))?"
)
DENIALS_CJK: Final = "而不是|不是|不会是|而非|并非|非|不选|没有|除了|排除"
# The answers that what is unlikely agrees with
NO: Final = ("no", "false", "否", "不", "不是", "不会")
# Behind what they deny or weigh
_IMPROBABLE: Final = r"(?:unlikely|not\slikely)\b(?!\sto\s(?:be|change|move)\b)"
_DENIED: Final = rf"""(?:[{CROSSES}?？]
   |(?:\n?(?:is|was|are|has\s+been)\s(?:now\s|hereby\s)?)?(?:
      (?:withdrawn|retracted|superseded|replaced|discarded|rejected|wrong|false|incorrect|untrue
        |no\slonger|not\s(?:correct|right|true))\b
     |not\s(?:my|the)\s(?:final\s)?answer)
   |\n?(?:is|was|are)\s(?:now\s)?{_IMPROBABLE}
   |(?:with\s)?(?:confidence|certainty)[\s:=*]{{0,4}}(?:of\s)?(?:0(?:\.0+)?(?![.0-9])|none\b|zero\b)
   |(?:with\s)?(?:a\s)?0(?:\.0+)?\s?%?\s(?:confidence|certainty)
   |(?:已|被)?(?:作废|撤回)|是?(?:错[误了的]?|不对)(?!\w)
   |{_IMPROBABLE}
   |(?-i:[Nn]ot?)(?:\s?[)\]!]|\s?\.?\s*\Z)
   |(?:with\s)?probability[\s:=*]{{0,4}}(?:of\s)?(?:0(?:\.0+)?(?![.0-9])|none\b|zero\b)
   |(?:with\s)?(?:a\s)?0(?:\.0+)?\s?%?\s(?:probability|chance)(?!\sof\s(?!\w+ing\b)))"""
# Not in front of another answer, but of prose: `could be close`, `perhaps surprisingly`
_PROSE: Final = (
    r"(?!\s(?!(?:an?|the|my|it|that|this|yes|no|not|either|both|any|another|true|false)\b)"
    r"(?-i:[a-z]{2}))"
)
_WEIGHED: Final = rf"""(?:
    \n?n?or\s{{1,4}}(?!(?:(?-i:[a-z]{{2,12}})\s){{0,2}}
      (?:so|more|less|higher|lower|above|below|over|under|thereabouts|close)\b)\w
   |(?:perhaps|maybe|possibly|alt(?:ernative(?:ly)?)?|backup|if\snot(?!,)|not\ssure)\b{_PROSE}
   |(?:could|might|may)\s(?:also\s|well\s)?be\b{_PROSE}
   |(?:(?!(?-i:\b(?:no|not|nothing|none|half|twice|times)\b|n't\b))[^()\n]){{0,60}}?\b(?:as|equally)\slikely\b
   |(?:they|others|some|many|most|people)\s(?:say|think|believe)\b
   |(?:say|think|believe|according\sto)\s(?:they|others|some|many|most|people)\b
   |\n?(?-i:Actually|Wait|Correction|Scratch)\b{_PROSE}
   |(?:也?可能|或许)(?![性有会略稍更在因受随被])|或(?![许有略更因会]|以[上下])|(?<![，,])还是|备选|其实(?=[是应]|\s?[A-Za-z0-9])|\n其实是|\n?更正)"""
_JOINT: Final = r"[ \t,，;；:：$*–—-]{0,6}[(（\[【]?[ \t]?"  # on the same line
# A number that is taken back, with all that is said of another one
_WRITTEN: Final = r"[0-9][0-9.,]{0,20}(?:\s?%|(?<![.,])\s?[^\W\d_]{1,12})?"  # perhaps with a unit
NUMBER: Final = rf"(?i:{_WRITTEN}{_JOINT}(?:{_DENIED}|{_WEIGHED}[^\n]*))"

# A glance: without one of these nothing is denied or weighed behind anything.
_SIGNS: Final = lazy(f"[{CROSSES}?？作撤错对能或还备其更]")
_WORD: Final = lazy("[a-z]+")
_WORDS: Final = """
no not or nor wrong false incorrect untrue withdrawn retracted superseded replaced
discarded rejected unlikely likely perhaps maybe possibly alt alternative alternatively backup could
might may confidence certainty probability chance say think believe according actually wait
correction scratch sure longer"""
_DOUBTS: Final = frozenset(_WORDS.split())
_TAKEN_BACK: Final = lazy(f"{_JOINT}(?:{_DENIED}|{_WEIGHED})", re.X | re.I)


def may_doubt(text: str) -> bool:
    """Return whether a text holds a word or a sign of doubt."""
    words = _WORD.findall(text.lower())
    return not _DOUBTS.isdisjoint(words) or bool(_SIGNS.search(text))


def find_doubt(text: str, end: int = 0) -> bool:
    """Return whether a text takes back what ends at a position: it is denied or weighed there.

    >>> find_doubt("B: wrong", 1), find_doubt("B (could be C)", 1), find_doubt("B (a draw)", 1)
    (True, True, False)
    """
    return bool(_TAKEN_BACK.match(text, end))
