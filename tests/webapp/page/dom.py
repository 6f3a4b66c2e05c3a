"""A page as a tree, so that tests can ask for elements: enough of HTML and of CSS selectors for our own pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset({"input", "meta", "link", "br", "hr", "img", "wbr"})
_PART = re.compile(r'^([a-z0-9]+)|#([\w-]+)|\.([\w-]+)|\[([\w-]+)(?:="?([^"\]]*)"?)?\]')


@dataclass
class Node:
    """One element; strings among its children are its text."""

    tag: str
    attrs: dict[str, str]
    children: list[Node | str] = field(default_factory=list)
    parent: Node | None = None

    @property
    def text(self) -> str:
        """All the text in it, as it stands."""
        return "".join(one if isinstance(one, str) else one.text for one in self.children)

    @property
    def words(self) -> str:
        """All the text in it, with single blanks."""
        return " ".join(re.sub(r"\s+", " ", " ".join(self._strings())).split())

    def _strings(self) -> Iterator[str]:
        for one in self.children:
            yield from [one] if isinstance(one, str) else one._strings()

    def walk(self) -> Iterator[Node]:
        """Every element below it, in the order of the page."""
        for one in self.children:
            if isinstance(one, Node):
                yield one
                yield from one.walk()

    def all(self, selector: str) -> list[Node]:
        """The elements below it that a selector names: tag#id.class[attribute=value], blanks between ancestors."""
        *outer, last = selector.split()
        found = [node for node in self.walk() if node.matches(last)]
        return [node for node in found if node.stands_in(outer)]

    def one(self, selector: str) -> Node:
        """The first of them; there must be one."""
        found = self.all(selector)
        assert found, selector
        return found[0]

    def matches(self, selector: str) -> bool:
        """Whether one part of a selector names it."""
        for tag, name, css, attr, value in _PART.findall(selector):
            if (tag and tag != self.tag) or (name and name != self.attrs.get("id")):
                return False
            if css and css not in self.attrs.get("class", "").split():
                return False
            if attr and (attr not in self.attrs or (value and value != self.attrs[attr])):
                return False
        return True

    def stands_in(self, outer: list[str]) -> bool:
        """Whether it has ancestors that the parts name, in that order."""
        at, left = self.parent, list(outer)
        while at is not None and left:
            if at.matches(left[-1]):
                left.pop()
            at = at.parent
        return not left


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = self.at = Node("", {})

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {name: value or "" for name, value in attrs}, parent=self.at)
        self.at.children.append(node)
        if tag not in VOID:
            self.at = node

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.at.children.append(Node(tag, {name: value or "" for name, value in attrs}, parent=self.at))

    def handle_endtag(self, tag: str) -> None:
        assert tag == self.at.tag, f"</{tag}> in <{self.at.tag}>"
        self.at = self.at.parent or self.root

    def handle_data(self, data: str) -> None:
        self.at.children.append(data)


def page(html: str) -> Node:
    """The tree of a page or a part of one. An element that is not closed fails the test."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    assert reader.at is reader.root
    return reader.root
