"""`label`: the first line of a block may be its label, which is structure; the rest is left to the next state.

    <|channel>thought
    Let me see.<channel|>

LABEL fires after a label and its line break, OTHER before any other text. With `after_marker` the block has just been
opened, so a known label needs no line break when a marker follows it, and with `any_word` any single word with a line
break after it is a label. Without, only a known label with its line break counts: the opening marker may be missing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from parsers.arguments.contract import ArgumentParser, Output

_WORD = re.compile(r"[A-Za-z_]*")
_LONGEST = 11


class Label(ArgumentParser):
    """Reads a label, or nothing."""

    APART: ClassVar[frozenset[str]] = frozenset({"_labels", "_after_marker", "_any_word"})
    triggers: ClassVar[tuple[str, ...]] = ("LABEL", "OTHER")
    awaits: ClassVar[str] = "It may be a label, which ends with a line break."
    options: ClassVar[Mapping[str, Any]] = {"labels": ["thought"], "after_marker": False, "any_word": True}

    def __init__(self, out: Output, options: Mapping[str, Any]) -> None:
        super().__init__(out, options)
        chosen = self.settings
        self._labels = frozenset(chosen["labels"])
        self._after_marker: bool = chosen["after_marker"]
        self._any_word: bool = self._after_marker and chosen["any_word"]

    def text(self, buffer: str, pos: int, end: int, base: int, *, final: bool) -> int:
        run = _WORD.match(buffer, pos, end)
        word, stop = ("", pos) if run is None else (run.group(), run.end())
        if stop < end:
            is_label = word in self._labels or (self._any_word and 0 < len(word) <= _LONGEST)
            is_label = is_label and buffer[stop] == "\n"
            stop += 1
        elif final or stop < len(buffer):
            is_label = self._after_marker and word in self._labels
        elif self._may_become(word):
            return pos
        else:
            is_label = False
        if not is_label:
            self.queue.append("OTHER")
            return pos
        self.out.marker(base + pos, base + stop, "label")
        self.queue.append("LABEL")
        return stop

    def _may_become(self, word: str) -> bool:
        if self._any_word and len(word) <= _LONGEST:
            return True
        return any(label.startswith(word) for label in self._labels)
