"""`elements`: arguments as elements that nest, every tag behind a namespace marker, turned into JSON while they
arrive.

    ]<]minimax[>[<city>Bern]<]minimax[>[</city>

Literals (options): `open` and `close` begin an opening and a closing tag, `tag_end` ends both, and `implied_close` are
texts that show that every element ended (they are read again afterwards). An element is named after its argument. Its
schema, or without one the first thing in it, decides what it is: text is a value, elements are an object, or an array
where the first one is called `item`. Elements of one name that follow each other inside another one are a list of
values, if the schema says nothing about them (as in vLLM 0.33.0); what they hold waits for what follows.

The namespace marker is what tells tags from text, so a tag never is part of a value: an opening tag inside a text ends
it, and so does the closing tag of an element further out. A closing tag that closes nothing is text. A text that ends
in its element's closing tag without the marker ends there, if another tag follows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar, Literal

from parsers.arguments.coerce import can_stream, item_schema, property_schema, types_of
from parsers.arguments.contract import ESCAPED, OPEN, ArgumentParser, Output, Waiting
from parsers.arguments.json_build import JsonBuilder, Piece
from parsers.vocabulary.drops import CUT, Cause, DropReason
from parsers.vocabulary.events import Segment
from parsers.vocabulary.seen import Standing
from parsers.vocabulary.states import NOWHERE, Part, Placed
from parsers.vocabulary.trace import CodecState

TAG, VALUE = "tag", "value"
_LONGEST_BARE_CLOSER = 64
_Kind = Literal["new", "text", "object", "array"]


@dataclass(slots=True)
class _Element(Part):
    """An open element. `kept` is text that waits: white space before the first thing, or half of a bare closing tag;
    `listed` the name of the last thing in it, if more of that name make a list; `place` says that it is inside."""

    APART: ClassVar[frozenset[str]] = frozenset({"place"})
    name: str
    schema: Mapping[str, Any] | None
    kind: _Kind = "new"
    kept: Placed = field(default_factory=Placed)
    listed: str | None = None
    place: CodecState | None = None


class Elements(ArgumentParser):
    """Reads nested elements until the machine's own terminal ends the call."""

    APART: ClassVar[frozenset[str]] = frozenset({"_close_text", "_tag_end", "_item"})
    PLACES: ClassVar[frozenset[str]] = frozenset({"_lead", "_tag_at", "_stop"})
    triggers: ClassVar[tuple[str, ...]] = ()
    options: ClassVar[Mapping[str, Any]] = {
        "open": "<",
        "close": "</",
        "tag_end": ">",
        "item": "item",
        "implied_close": [],
    }

    def __init__(self, out: Output, options: Mapping[str, Any]) -> None:
        super().__init__(out, options)
        chosen = self.settings
        self._close_text: str = chosen["close"]
        self._tag_end: str = chosen["tag_end"]
        self._item: str = chosen["item"]
        self._build = JsonBuilder(out)
        self._stack: list[_Element] = []
        self._names: Counter[str] = Counter()
        self._tag = Waiting()
        self._closing = False
        self._lead = self._tag_at = self._stop = NOWHERE

    @classmethod
    def scopes(cls, options: Mapping[str, Any]) -> Mapping[str, Mapping[str, str]]:
        chosen = {**cls.options, **options}
        tags = {"ELEMENT_OPEN": chosen["open"], "ELEMENT_CLOSE": chosen["close"]}
        implied = {f"IMPLIED_{n}": text for n, text in enumerate(chosen["implied_close"])}
        return {OPEN: tags, TAG: {"TAG_END": chosen["tag_end"]}, VALUE: {**tags, **implied}}

    @classmethod
    def closers(cls, options: Mapping[str, Any]) -> tuple[str, ...]:
        chosen = {**cls.options, **options}
        return (chosen["open"], *chosen["implied_close"])

    def text(self, buffer: str, pos: int, end: int, base: int, *, final: bool) -> int:
        if self.scope == TAG:
            self._tag.add(buffer[pos:end], base + pos)
        elif self._stack and self._stack[-1].kind in ("new", "text"):
            self._value(buffer[pos:end], base + pos)
        else:
            end = self.drop_words(buffer, pos, end, base, DropReason(Cause.BETWEEN_ELEMENTS))
        self._at = base + end
        return end

    def _value(self, text: str, at: int) -> None:
        """Text of the innermost element, which makes it a value unless it is white space."""
        top = self._stack[-1]
        if top.kind == "new" and not text.strip():
            top.kept.append((text, at, at + len(text)))
            return
        self._become_text(top, at)
        kept, top.kept, start = top.kept, Placed(), at
        if kept and kept[-1][2] == at:
            before, start, _ = kept.pop()
            text = before + text
        for piece in kept:
            self._build.string(*piece)
        cut = len(text) - _half_closer(text, top.name)
        if cut:
            self._build.string(text[:cut], start, start + cut)
        if cut < len(text):
            top.kept.append((text[cut:], start + cut, start + len(text)))

    def _become_text(self, top: _Element, at: int) -> None:
        if top.kind == "new":
            top.kind = "text"
            self._build.begin_string(top.kept[0][1] if top.kept else at, typed=False)

    def literal(self, name: str, start: int, end: int) -> int:
        if name.startswith("IMPLIED"):
            self._missing(start)
            while self._stack:
                self._end_element(start)
            self.scope = OPEN
            return start
        if name == "TAG_END":
            self._at, self._stop = end, start
            if self._closing:
                self._closing_tag(start, end)
            else:
                named = self._tag.trimmed() or [Segment("", self._tag_at, self._tag_at)]
                self._open_element([(run.text, run.start, run.end) for run in named], end)
            self.scope, self._tag = VALUE if self._stack else OPEN, Waiting()
            self._lead = self._tag_at = self._stop = NOWHERE
            return end
        if name == "ELEMENT_OPEN" and self._stack and self._stack[-1].kind == "text":
            self._missing(start)
            self._end_element(start)
        self._closing = name == "ELEMENT_CLOSE"
        self.scope, self._tag, self._lead, self._tag_at, self._at = TAG, Waiting(), start, end, end
        return end

    def closed(self, at: int) -> None:
        if self.scope == VALUE:
            self.literal("IMPLIED", at, at)

    def _missing(self, at: int) -> None:
        message = f"The element {self._stack[-1].name} has no closing tag; it ends where the next tag begins."
        self.out.diagnostic("missing_value_close", message, at, at)

    def _open_element(self, named: list[Piece], end: int) -> None:
        """An element begins; `named` is its name in the tag that ends at `end`."""
        name = "".join([text for text, _, _ in named])
        parent = self._stack[-1] if self._stack else self._root(end)
        if parent.kind == "new":
            self._become_container(parent, name)
        if parent.kind == "array" or parent.listed == name:
            schema = item_schema(parent.schema) if parent.kind == "array" else None
            if parent.listed is not None:
                self._build.comma()
            self._mark_tag(self._lead, end, "element_open")
        else:
            schema = property_schema(parent.schema, name)
            self._end_list(parent, self._lead)
            self._build.key(named)
            if schema is None and self._stack:
                parent.listed = name
                self._build.open("(", named[0][1], unsure=True)
            self._mark_tag(self._lead, named[0][1], "element_open")
            self._mark_tag(named[-1][2], end, "element_open")
        element = _Element(name, schema)
        self._stack.append(element)
        self._names[name] += 1
        if types_of(schema) is not None and can_stream(schema):
            self._become_text(element, end)

    def _end_list(self, parent: _Element, at: int) -> None:
        """No more elements of the last name follow."""
        if parent.listed is not None:
            self._build.close(at)
            parent.listed = None

    def _tag_parts(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The characters of the tag in [start, end), around what was dropped in it."""
        parts = [(self._lead, self._tag_at), *[(run.start, run.end) for run in self._tag.runs()], (self._stop, end)]
        for (_, stop), (begin, _) in pairwise(parts):
            if start < stop < begin and stop <= end:
                yield start, stop
                start = begin
        yield start, end

    def _mark_tag(self, start: int, end: int, terminal: str) -> None:
        for part in self._tag_parts(start, end):
            self.out.marker(*part, terminal)

    def _root(self, at: int) -> _Element:
        """Return the element all arguments stand in: an object, whatever they are called."""
        if not self._build.depth:
            self._build.open("{", at if self._at == NOWHERE else self._at)
        return _Element("", self.out.schema, "object")

    def _become_container(self, parent: _Element, first: str) -> None:
        """The first thing in an element is another element."""
        types = types_of(parent.schema) or frozenset({"array", "object"})
        listed = "array" in types and (first == self._item or "object" not in types)
        parent.kind = "array" if listed else "object"
        self._build.open("[" if listed else "{", self._lead)
        for _, start, end in parent.kept:
            self.out.marker(start, end)
        parent.kept = Placed()

    def _closing_tag(self, start: int, end: int) -> None:
        """A closing tag is over, with its end at [start, end)."""
        name = self._tag.text().strip()
        if not self._names[name]:  # it closes nothing
            if self._stack and self._stack[-1].kind in ("new", "text"):
                self._value(self._close_text, self._lead)
                for run in self._tag.runs():
                    self._value(run.text, run.start)
                self._value(self._tag_end, start)
            else:
                for part in self._tag_parts(self._lead, end):
                    self.out.drop(*part, DropReason(Cause.TAG_CLOSES_NOTHING))
            return
        while self._stack[-1].name != name:
            self._missing(self._lead)
            self._end_element(self._lead)
        self._end_element(self._lead, own=True)
        self._mark_tag(self._lead, end, "element_close")

    def _end_element(self, at: int, *, own: bool = False) -> None:
        """The innermost element is over; `own`: by its own closing tag."""
        top = self._stack.pop()
        self._names[top.name] -= 1
        if top.kind == "new":
            self._end_empty(top, at)
        elif top.kind == "text":
            self._end_text(top, at, own=own)
        else:
            self._end_list(top, at)
            self._build.close(at)

    def _end_empty(self, top: _Element, at: int) -> None:
        """An element with nothing in it is an empty list or object where its schema wants one, else an empty text."""
        types = types_of(top.schema) or frozenset()
        wanted = [bracket for name, bracket in (("array", "["), ("object", "{")) if name in types - {"string"}]
        if wanted and "string" not in types:
            self._build.open(wanted[0], at)
            self._build.close(at)
            for _, start, end in top.kept:
                self.out.marker(start, end)
        else:
            self._become_text(top, at)
            self._end_text(top, at, own=True)

    def _end_text(self, top: _Element, at: int, *, own: bool) -> None:
        for text, start, end in top.kept:
            if not own and text == f"</{top.name}>":
                self.out.marker(start, end)
            else:
                self._build.string(text, start, end)
        self._build.end_string(at)

    def finish(self, at: int) -> None:
        """At a terminal between arguments the object is whole; elsewhere it was cut off."""
        if self.scope == OPEN:
            self.complete = not self.over
        elif self.scope == TAG:
            self._stop = at
            for part in self._tag_parts(self._lead, at):
                self.out.drop(*part, CUT)
        if self.complete or self.out.closes:
            self._root(at)
        for _, start, end in [piece for element in self._stack for piece in element.kept]:
            self.out.drop(start, end, CUT)
        if self.complete:
            self._build.close_all(at)
        else:
            self._build.cut(at)

    def passes(self) -> str | None:
        """See ArgumentParser.passes: text of an element."""
        top = self._stack[-1] if self._stack and self.scope == VALUE else None
        plain = top is not None and top.kind == "text" and not top.kept and self._build.passes
        return f"{ESCAPED}|<" if plain else None

    def look(self, fed: int) -> Standing:
        in_tag, start, top = self.scope == TAG, self._build.held_from(), self._stack[-1] if self._stack else None
        state = _IN_TAG if in_tag else _OUTSIDE if top is None else top.place or self._inside(top)
        if start is not None:
            return state, self._waits(self._build.wanted(), start, fed)
        if top is not None and top.kept:
            return state, self._waits("What follows says whether this is part of the value.", top.kept[0][1], fed)
        return state, self._waits("A tag is read whole.", self._lead, fed) if in_tag else None

    def _inside(self, top: _Element) -> CodecState:
        """The state inside the innermost element, which stays as it is."""
        path = "/".join([element.name for element in self._stack[-8:]])
        top.place = CodecState(f"in {path}") if path else _OUTSIDE
        return top.place


_IN_TAG = CodecState("in a tag")
_OUTSIDE = CodecState("between arguments")


def _half_closer(text: str, name: str) -> int:
    """Return how many characters at the end of the text may belong to the element's closing tag without its marker."""
    closer = f"</{name}>"
    if len(closer) > _LONGEST_BARE_CLOSER:
        return 0
    sizes = range(min(len(closer), len(text)), 0, -1)
    return next((size for size in sizes if text.endswith(closer[:size])), 0)
