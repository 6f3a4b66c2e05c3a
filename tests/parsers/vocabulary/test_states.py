"""The state of parts: what it is, when two are equal, and what going back to one changes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar

import pytest

from parsers.vocabulary.states import Constant, Part, Pieces, Placed, go_back, state_of


class Colour(Enum):
    RED = 1


@dataclass(slots=True)
class Leaf(Part):
    text: Pieces = field(default_factory=Pieces)
    depth: int = 0


class Tree(Part):
    APART: ClassVar[frozenset[str]] = frozenset({"made", "low", "high"})
    INSTEAD: ClassVar[tuple[str, ...]] = ("middle",)

    def __init__(self) -> None:
        self.made = object()
        self.low, self.high = 0, 10
        self.words: list[str] = []
        self.waits = Placed()
        self.kinds: set[type] = set()
        self.counts: Counter[str] = Counter()
        self.leaf: Leaf | None = None
        self.leaves: list[Leaf] = []
        self.pair: tuple[str, int] | None = None
        self.value: Any = None

    @property
    def middle(self) -> int:
        return (self.low + self.high) // 2

    @middle.setter
    def middle(self, middle: int) -> None:
        self.low = self.high = middle


class Oak(Tree):
    APART: ClassVar[frozenset[str]] = frozenset({"acorns"})

    def __init__(self) -> None:
        super().__init__()
        self.acorns = [object()]


def tree(**values: Any) -> Tree:
    made = Tree()
    for name, value in values.items():
        setattr(made, name, value)
    return made


ALIKE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "nothing": ({}, {}),
    "pieces that say the same": ({"leaf": Leaf(Pieces(["ab", "c"]))}, {"leaf": Leaf(Pieces(["a", "", "bc"]))}),
    "text that goes on": ({"waits": Placed([("a", 1), ("b", 2)])}, {"waits": Placed([("ab", 1)])}),
    "text with an end": ({"waits": Placed([("a", 1, 2), ("b", 2, 3)])}, {"waits": Placed([("ab", 1, 3)])}),
    "a property": ({"low": 2, "high": 6}, {"low": 4, "high": 4}),
    "what is apart": ({"made": 1}, {"made": 2}),
    "counts of nothing": ({"counts": Counter(a=1, b=0)}, {"counts": Counter(a=1)}),
}
DIFFERENT: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a word": ({"words": ["a"]}, {"words": ["b"]}),
    "words that are no pieces": ({"words": ["ab", "c"]}, {"words": ["a", "bc"]}),
    "a list and pieces": ({"value": ["a"]}, {"value": Pieces(["a"])}),
    "a gap": ({"waits": Placed([("a", 1), ("b", 3)])}, {"waits": Placed([("ab", 1)])}),
    "text written otherwise": ({"waits": Placed([("a", 1, 3), ("b", 3, 4)])}, {"waits": Placed([("ab", 1, 4)])}),
    "text before text written otherwise": (
        {"waits": Placed([("a", 1, 2), ("b", 2, 4)])},
        {"waits": Placed([("ab", 1, 4)])},
    ),
    "another part": ({"leaf": Leaf(depth=1)}, {"leaf": Leaf(depth=2)}),
    "no part": ({"leaf": Leaf()}, {"leaf": None}),
    "one part or two alike": ({"leaves": [Leaf(), Leaf()]}, {"leaves": [(one := Leaf()), one]}),
    "kinds": ({"kinds": {str}}, {"kinds": {int}}),
    "a constant": ({"value": Colour.RED}, {"value": None}),
    "JSON data": ({"value": {"type": "string"}}, {"value": {"type": "number"}}),
    "a pair": ({"pair": ("a", 1)}, {"pair": ("a", 2)}),
    "a property": ({"low": 2, "high": 6}, {"low": 2, "high": 8}),
}


@pytest.mark.parametrize("name", ALIKE)
def test_states_are_equal_where_parts_would_do_the_same(name: str) -> None:
    one, other = ALIKE[name]
    assert state_of(tree(**one)) == state_of(tree(**other))


@pytest.mark.parametrize("name", DIFFERENT)
def test_states_differ_where_a_value_does(name: str) -> None:
    one, other = DIFFERENT[name]
    assert state_of(tree(**one)) != state_of(tree(**other))


def test_a_part_of_another_class_is_in_another_state() -> None:
    assert state_of(Oak()) != state_of(Tree())


def test_to_go_back_gives_every_value_back_and_leaves_alone_what_is_apart() -> None:
    leaf, made = Leaf(Pieces(["a", "b"]), 3), object()
    grown = tree(
        leaf=leaf, leaves=[leaf, Leaf(depth=1)], words=["x"], kinds={str}, counts=Counter("ab"), pair=("p", 1),
        made=made, waits=Placed([("a", 1), ("b", 2)]), low=2, high=6, value=Colour.RED,
    )  # fmt: skip
    state = state_of(grown)
    second = grown.leaves[1]
    for _ in range(2):  # what was changed after it was put back is put back again
        leaf.text.append("c")
        leaf.depth = second.depth = 9
        grown.words.append("y")
        grown.kinds.add(int)
        grown.counts["z"] += 1
        grown.waits.append(("c", 3))
        grown.leaf, grown.leaves, grown.pair, grown.value, grown.made = None, [], None, 5, None
        go_back(state)
        found: Any = grown.leaf
        assert (found, grown.leaves, leaf.depth, second.depth) == (leaf, [leaf, second], 3, 1)
        assert found is grown.leaves[0] is leaf
        assert (leaf.text, grown.words, grown.kinds) == (["ab"], ["x"], {str})
        assert repr(grown.pair) == "('p', 1)"
        assert (grown.counts, grown.waits, grown.value) == (Counter("ab"), [("ab", 1)], Colour.RED)
        assert (grown.low, grown.high, grown.made) == (4, 4, None)
        assert state_of(grown) == state
    assert type(leaf.text) is Pieces
    assert type(grown.waits) is Placed


def test_an_empty_text_goes_back_to_no_pieces() -> None:
    leaf = Leaf()
    state = state_of(leaf)
    leaf.text.append("a")
    go_back(state)
    assert leaf.text == []


@pytest.mark.parametrize("value", [object(), bytearray(), tree().__init__, [[]], {1: []}.items()])  # type: ignore[misc]
def test_a_value_that_may_be_state_or_not_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="nothing says whether a"):
        state_of(tree(value=value))


def test_a_state_weighs_more_the_more_it_is() -> None:
    class Heavy(Constant):
        weight = 50

    light = state_of(Leaf()).weight
    assert state_of(Leaf(Pieces(["x" * 5_000]))).weight == light + 5
    assert state_of(tree(value=Heavy())).weight == state_of(tree(value=Colour.RED)).weight + 49
    assert state_of(tree(leaves=[Leaf()] * 3)).weight > state_of(tree(leaves=[Leaf()])).weight
    assert state_of(tree(leaves=[Leaf(), Leaf()])).weight >= state_of(tree(leaves=[Leaf()])).weight + light
