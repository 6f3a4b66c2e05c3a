"""Pages about the sides of a comparison, made without a server."""

from __future__ import annotations

from typing import Any

from parsers.cases.io import load_case
from parsers.compare.divergence import EXACT, Rules
from webapp.page.compare.asked import NAMES, Asked, CompareLinks, Side
from webapp.page.compare.compare_page import SidesPage, sides_page
from webapp.page.compare.difference import Both, Comparison, compare
from webapp.page.compare.sides import Replayed, Texts, on_one_text, replayed
from webapp.page.inspect.index import index_of
from webapp.runs.runner import Runner


class Pages:
    """Pages about sides of one text, or of others; with a runner of its own, since parsers are exchanged under it."""

    sides: list[Replayed]

    def __init__(self, runner: Runner) -> None:
        self.runner = runner

    def __call__(
        self, text: str, *sides: Side, rules: Rules = EXACT, at: int | None = None, texts: Texts | None = None,
        **more: Any,
    ) -> SidesPage:  # fmt: skip
        case = load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": text}, **more})
        known = zip(NAMES, sides, strict=False)
        self.sides = on_one_text(self.runner, [replayed(self.runner, case, *one, texts) for one in known])
        return self.page(*self.sides, rules=rules, at=at)

    def page(self, *sides: Replayed, rules: Rules = EXACT, at: int | None = None) -> SidesPage:
        links = CompareLinks("/x/compare", Asked(tuple(side.side for side in sides), at=at))
        return sides_page(self.runner, sides, rules, links=links, inspect="/x")

    def compared(self, text: str, a: Side, b: Side) -> Comparison:
        self(text, a, b)
        left, right = self.sides
        return compare(Both.of(index_of(left.run), index_of(right.run)), EXACT)
