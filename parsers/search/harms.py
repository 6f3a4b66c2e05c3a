"""How two messages differ, as a value that is the same for the same harm."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Hashable, Sequence

from parsers.compare.divergence import Rules, grade, message_key, shared_prefix
from parsers.search.sweep import MARKUP
from parsers.vocabulary.types import Message

LOOSE = Rules(arguments="json", whitespace="soft", ids=False)


def kind_of(wrong: Message, right: Message, rules: Rules) -> frozenset[Hashable]:
    """Return what differs: whether calls are more or fewer, and which of them, or which part of the first one that is
    another, and of each text whether it gained or lost something, and what."""
    if grade(wrong, right, rules) is None:
        return frozenset()
    found: set[Hashable] = {_call_kind(wrong, right, rules)}
    found |= {
        (name, *change)
        for name, a, b in (("content", wrong.content, right.content), ("reasoning", wrong.reasoning, right.reasoning))
        if (change := changed_at("".join((b or "").split()), "".join((a or "").split()))) is not None
    }
    return frozenset(found)


def of_calls(kind: frozenset[Hashable]) -> frozenset[Hashable]:
    """Return what of it is about calls."""
    return frozenset(part for part in kind if isinstance(part, tuple) and part[0] == "calls")


def _call_kind(wrong: Message, right: Message, rules: Rules) -> Hashable:
    level = grade(wrong, right, rules)
    (ones, a_order), (others, b_order) = message_key(wrong, rules)[2], message_key(right, rules)[2]
    if level != "calls":
        return level
    if len(ones) != len(others):
        fewer, more = sorted(([one[0] for one in ones], [one[0] for one in others]), key=len)
        return level, "number", len(ones) > len(others), *_kept(fewer, more)
    if ones == others:
        return level, (a_order, b_order)
    a_call, b_call = next(pair for pair in zip(ones, others, strict=True) if pair[0] != pair[1])
    part = list(map(operator.ne, a_call, b_call)).index(True)
    return level, "part", part, changed_at(str(b_call[part]), str(a_call[part]))


def _kept(fewer: Sequence[str], more: Sequence[str]) -> tuple[bool, bool, bool]:
    """Whether any calls are in both, whether those are the first ones, and whether they are the last ones."""
    size = len(fewer)
    return size > 0, more[:size] == fewer, more[len(more) - size :] == fewer


def changed_at(right: str, wrong: str) -> tuple[str, str] | None:
    """Whether characters came, went or both, and of what sort the first of them is: which markup, or a word or a sign.
    None for equal texts."""
    if right == wrong:
        return None
    new, gone = Counter(wrong) - Counter(right), Counter(right) - Counter(wrong)
    how = "changed" if bool(new) == bool(gone) else "gained" if new else "lost"
    at = shared_prefix(right, wrong)
    rest = (wrong if new and not gone else right)[at:]
    markup = MARKUP.match(rest)
    return how, markup.group() if markup is not None else "word" if rest[:1].isalnum() else "sign"
