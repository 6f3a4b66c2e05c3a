"""In what one message differs from another, in words: what the sentence says where sides are laid by message."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from webapp.glyphs import count, shorten
from webapp.page.compare.difference import CallPair, Comparison, Pair

_NAMED = 3  # calls that are named, at most
_NAME = 40


def differs_in(found: Comparison, title: str) -> str:
    """In what the side called `title` differs from A, as a sentence; empty where nothing of the message does."""
    words = [*_calls(found.calls, title), *(_text(pair, title) for pair in found.texts if not pair.same)]
    return f"{'; '.join(words)}." if words else ""


def _calls(pairs: Sequence[CallPair], title: str) -> Iterator[str]:
    ours, theirs = [pair.a for pair in pairs if pair.a], [pair.b for pair in pairs if pair.b]
    if len(ours) != len(theirs):
        said = [_named([call.name.text for call in calls]) for calls in (ours, theirs)]
        yield f"A has {said[0]}, {title} {said[1]}"
    for pair in pairs:
        if pair.a is None or pair.b is None:
            continue
        parts = [part.name.part for part in pair.parts if not part.same]
        if parts:
            yield f"call {pair.a.number} differs in its {' and '.join(parts)}"
        elif pair.a.complete != pair.b.complete:
            yield f"call {pair.a.number} is cut off on {title if pair.a.complete else 'A'} only"


def _named(names: Sequence[str]) -> str:
    if not names:
        return "no call"
    listed = ", ".join([shorten(name, _NAME) or "without a name" for name in names[:_NAMED]])
    return f"{count(len(names), 'call')} ({listed}{' …' if len(names) > _NAMED else ''})"


def _text(pair: Pair, title: str) -> str:
    """What the texts of one channel lack of each other."""
    more = sum([hunk.a1 - hunk.a0 for hunk in pair.hunks]), sum([hunk.b1 - hunk.b0 for hunk in pair.hunks])
    sides = ((more[0], "A", title), (more[1], title, "A"))
    lacks = [f"{count(size, 'character')} of {owner} that {other} lacks" for size, owner, other in sides if size]
    return f"the {pair.name} has {' and '.join(lacks)}"
