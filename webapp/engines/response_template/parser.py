"""The StreamParser over transformers' ResponseParser: it reads, `regions` say what became of what it read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from parsers.vocabulary.events import ContentText, Diagnostic, Event, Failure
from parsers.vocabulary.trace import Hold, RejectedCall, StateView, Transition
from parsers.vocabulary.types import Context, Delta, Mode, UsageError
from webapp.engines.response_template.about import NAME
from webapp.engines.response_template.emitter import Emitter
from webapp.engines.response_template.patterns import Budget
from webapp.engines.response_template.regions import Regions
from webapp.engines.response_template.table import Table
from webapp.engines.response_template.watching import StuckError, observe


@dataclass(slots=True)
class Template:
    """A template that transformers has loaded, and its table."""

    spec: Any
    table: Table


class TemplateParser:
    """A StreamParser. Ids and markers are of no use to it: ResponseParser reads text.

    A replay whose patterns cost more than they may is refused: every method may raise OverBudgetError then.
    """

    def __init__(self, template: Template) -> None:
        self.name = NAME
        self.transitions: list[Transition] | None = None
        self.rejected: list[RejectedCall] = []
        self.examined = 0
        self._template = template
        self._begun = self._over = False

    def begin(self, context: Context, *, mode: Mode = "text", markers: Mapping[str, int] | None = None) -> None:
        """See StreamParser.begin."""
        spec, table = self._template.spec, self._template.table
        self._out = Emitter(context)
        self._regions = Regions(spec, table, self._out)
        self._budget = Budget()
        self._parser: Any = None
        self._at = 0
        self.rejected = self._regions.rejected
        self._begun, self._over = True, False
        prefix = context.prompt_tail or ""
        tools = [{"name": tool.name, "parameters": tool.parameters} for tool in context.tools]
        try:
            self._parser = observe(spec, prefix, tools, self._regions, self._budget)
        except StuckError as error:
            self._give_up(error, "")
            return
        if not self._parser.anchored:
            words = "The start anchor is not in the prompt prefix, so the parser reads all of it."
            self._out.tell("anchor_not_found", 0, 0, words)

    @property
    def region(self) -> str | None:
        """The field that text goes to now; None: to none."""
        return self._regions.state

    def feed(self, delta: Delta) -> list[Event]:
        """See StreamParser.feed."""
        if not self._begun or self._over:
            raise UsageError("feed() needs begin() first, and none after finish()")
        self._step()
        text = delta.text
        if self._parser is None:
            self._out.text(ContentText, text, self._at)
        else:
            try:
                self._parser.push(text)
            except StuckError as error:
                self._give_up(error, text)
        self._at += len(text)
        return self._taken()

    def finish(self, reason: str | None = None) -> list[Event]:
        """See StreamParser.finish."""
        if not self._begun or self._over:
            raise UsageError("finish() needs begin() first, and is called once")
        self._over = True
        self._step()
        if self._parser is not None:
            self._finalize()
        return self._taken()

    def view(self) -> StateView:
        """See StreamParser.view."""
        parser, table = self._parser, self._template.table
        state = table.states[self._regions.state]
        if parser is None or self._over:
            return StateView(state)
        holds = self._regions.holds(max(parser.at, 0))
        watching, held = parser.watching(), parser.held
        accepts = [name for kind, one in watching for name in self._names(kind, one)]
        candidates: tuple[str, ...] = ()
        if held and parser.at + len(held) > 0:
            candidates = tuple(name for kind, one in watching for name in self._names(kind, one, held))
            holds.append(self._waiting(max(parser.at, 0), candidates))
        return StateView(state, tuple(holds), candidates, tuple(dict.fromkeys(accepts)), self._regions.call)

    def _waiting(self, start: int, candidates: tuple[str, ...]) -> Hold:
        """Why the parser's own buffer waits. The end of a match of a pattern is only known by what follows."""
        patterns = set(self._template.table.patterns.values())
        literal = not patterns & set(candidates)
        return Hold(start, self._at, "lexer" if literal else "policy", f"Could begin {' or '.join(candidates)}.")

    def _names(self, kind: str, one: Any, held: str = "") -> list[str]:
        """The names of a field's delimiters of a kind; with `held` those that it may become. A pattern always may."""
        table = self._template.table
        if (one.name, kind) in table.patterns:
            return [table.patterns[one.name, kind]]
        return [table.terminals[text] for text in getattr(one, f"{kind}_literals") if text.startswith(held)]

    def told(self) -> list[Diagnostic]:
        """Return what there is to say before any output is read."""
        return [event for event in self._out.take() if isinstance(event, Diagnostic)]

    def _step(self) -> None:
        self._regions.sub = 0
        self._regions.transitions = self.transitions

    def _taken(self) -> list[Event]:
        self.examined = self._budget.examined
        return self._out.take()

    def _finalize(self) -> None:
        try:
            self._parser.finalize()
        except StuckError as error:
            self._give_up(error, "")
            return
        except ValueError as error:
            self._out.fail(self._at, self._at, Failure("transformers raises ValueError at the end", str(error)))
        self._regions.over(self._at)

    def _give_up(self, error: Exception, text: str) -> None:
        """The template cannot be run: everything from here on is content. `text` is the delta that was being fed."""
        parser, self._parser = self._parser, None
        whole = self._at + len(text)
        at = 0 if parser is None else max(parser.at, 0)
        self._regions.give_up(at)
        if parser is not None:
            rest = parser.held
            unfed = text[len(text) - (whole - at - len(rest)) :]
            self._out.text(ContentText, rest + unfed, whole - len(rest + unfed))
        self._out.tell("template_stopped", at, at, f"Reading stopped, and the rest is content: {error}.", "error")
