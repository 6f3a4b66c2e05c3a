"""A Format made ready to run: rows by trigger, literals compiled, policies applied.

Compilation happens at begin(), because it depends on the policies (row guards), on the marker mode (literals that
only a token id can mean are out of every scope) and on tool_choice none (rows that lead into tool calls are out).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from parsers.arguments import ARGUMENT_PARSERS
from parsers.arguments.contract import OPEN, ArgumentParser, Output
from parsers.formats.model import CodecRef, Emit, Format, Row, State, TextKind, guard_holds, row_ids
from parsers.machine.lexer import Scope
from parsers.machine.reasoning import prompt_opens
from parsers.vocabulary.drops import Cause, DropReason
from parsers.vocabulary.states import Constant
from parsers.vocabulary.types import Context, FormatError

_SKIPPING = "It may be a marker at which a call that is passed over ends (recovery)."
TOPMOST = ("content", "reasoning")
END_TOKEN = "end token"  # the name of an end token's literal begins with it; no terminal is called so


@dataclass(slots=True)
class CompiledRow:
    """A row with its id. `guard` is the policy that has it in force, if one does; `target` the state it leads to;
    `refusal` why there is no call where it rejects one."""

    id: str
    to: str
    emit: tuple[Emit, ...]
    keep: str
    diagnostic: str | None
    note: str
    guard: str | None
    target: CompiledState | None = None
    refusal: DropReason = field(init=False)

    def __post_init__(self) -> None:
        note = self.note.rstrip(".")
        self.refusal = DropReason(Cause.STATED if note else Cause.NOT_A_CALL, note, self.guard)


class CompiledState(Constant):
    """A state with its rows by trigger and the literals it can see.

    `scopes` are the literals by the scope that its argument parser is in; `plain` are those where there is none.
    `make_parser` gives a new argument parser for a visit to the state. `codec` names it: states that refer to the same
    one share an instance.
    """

    __slots__ = (
        *(
            "_becomes",
            "_joint",
            "_literals",
            "_own",
            "accepts",
            "awaits",
            "by_text",
            "codec",
            "inert",
            "make_parser",
            "name",
            "searches",
        ),
        *("plain", "rows", "scopes", "text", "unquote"),
    )

    def __init__(
        self,
        name: str,
        state: State,
        rows: Mapping[str, CompiledRow],
        terminals: Mapping[str, str],
        ends: Mapping[str, str],
        by_id: frozenset[str],
    ) -> None:
        self.name = name
        self.text: TextKind | None = state.text
        self.unquote = state.unquote
        self.rows = dict(rows)
        self.inert = frozenset(state.inert)
        self.accepts = tuple(trigger for trigger in rows if trigger in terminals)
        self.by_text = {terminals[trigger]: trigger for trigger in self.accepts}
        self.codec = state.codec
        self.make_parser: Callable[[Output], ArgumentParser] | None = None
        self.awaits, own = _SKIPPING, _own_literals(state.codec)
        if state.codec is not None:
            kind = ARGUMENT_PARSERS[state.codec.name]
            self.make_parser, self.awaits = partial(kind, options=state.codec.options), kind.awaits
        seen = {**{n: terminals[n] for n in (*self.accepts, *state.inert)}, **ends}
        self._own = {key: {text: n for n, text in literals.items()} for key, literals in own.items()}
        scopes = {**own, OPEN: {**seen, **own.get(OPEN, {})}}
        self.scopes = {
            key: Scope({n: text for n, text in literals.items() if text not in by_id})
            for key, literals in scopes.items()
        }
        self.plain = self.scopes[OPEN]
        self._joint: dict[str, Scope] = {}
        self.searches: dict[tuple[Scope | None, str], Callable[[str], object]] = {}  # for what matters in open text
        self._becomes: dict[tuple[Scope | None, str], tuple[tuple[str, ...], str]] = {}
        self._literals = {**terminals, **{n: text for literals in scopes.values() for n, text in literals.items()}}

    def scope(self, parser: ArgumentParser | None) -> Scope | None:
        """The literals in force while an argument parser reads; None where nothing can match."""
        if parser is None:
            return self.plain
        return None if parser.scope is None else self.scopes[parser.scope]

    def own(self, scope: str | None) -> Mapping[str, str]:
        """The argument parser's own literals in this scope, as names by text."""
        return self._own.get(scope or "", {})

    def joint(self, other: CompiledState) -> Scope:
        """The literals of both states."""
        if other.name not in self._joint:
            self._joint[other.name] = Scope({**other.plain.literals, **self.plain.literals})
        return self._joint[other.name]

    def may_become(self, held: str, scope: Scope | None) -> tuple[tuple[str, ...], str]:
        """The literals that held text may become, and why it is held in words."""
        found = self._becomes.get((scope, held))
        if found is None:
            candidates = () if scope is None else scope.candidates(held)
            if not candidates:
                return (), self.awaits
            texts = [self._literals[name] for name in candidates]
            words = " or ".join([f"{text} ({len(held)} of {len(text)} characters)" for text in texts])
            found = self._becomes[scope, held] = candidates, f"Could begin {words}."
        return found

    @property
    def longest(self) -> int:
        """Length of the longest literal in sight."""
        return max(scope.longest for scope in self.scopes.values())


def _own_literals(codec: CodecRef | None) -> Mapping[str, Mapping[str, str]]:
    return {} if codec is None else ARGUMENT_PARSERS[codec.name].scopes(codec.options)


def literals(fmt: Format) -> Iterator[str]:
    """Every literal of a format: its terminals, its end tokens, and those of its argument parsers."""
    yield from fmt.terminals.values()
    yield from fmt.end_tokens
    for state in fmt.states.values():
        for own in _own_literals(state.codec).values():
            yield from own.values()


class Program:
    """All states of a format under one set of policies."""

    def __init__(self, fmt: Format, policy: Mapping[str, str], by_id: frozenset[str], *, skip_tools: bool) -> None:
        self._format = fmt
        self.end_tokens = frozenset(fmt.end_tokens)
        ends = {f"{END_TOKEN} {text}": text for text in fmt.end_tokens}
        ids = row_ids(fmt)
        self._states: dict[str, CompiledState] = {}
        for name, state in fmt.states.items():
            rows: dict[str, CompiledRow] = {}
            for index, given in enumerate(state.rows):
                if given.on in rows or not guard_holds(given, policy):
                    continue
                tool_row = skip_tools and self._calls(state, given)
                row = self._without_tools(state, given) if tool_row else given
                if row is not None:
                    guard = next(iter(row.when), None)
                    made = CompiledRow(ids[name, index], row.to, row.emit, row.keep, row.diagnostic, row.note, guard)
                    rows[row.on] = made
            self._states[name] = CompiledState(name, state, rows, fmt.terminals, ends, by_id)
        for compiled in self._states.values():
            for reached in compiled.rows.values():
                reached.target = self._states.get(reached.to)

    def _calls(self, state: State, row: Row) -> bool:
        """Return whether a row leads from ordinary text towards a tool call, and not through a header to reasoning."""
        target = self._format.states.get(row.to)
        if "CallStart" in row.emit or target is None or state.text not in TOPMOST:
            return "CallStart" in row.emit
        return target.text not in TOPMOST and "reasoning" not in self._exits(row.to)

    def _without_tools(self, state: State, row: Row) -> Row | None:
        """Return what is left of a row that leads to a call: a marker that ends reasoning still does, as content."""
        content = next((name for name, one in self._format.states.items() if one.text == "content"), None)
        if state.text != "reasoning" or "ReasoningEnd" not in row.emit or content is None:
            return None
        return row.model_copy(update={"to": content, "emit": ("ReasoningEnd",), "keep": "text", "diagnostic": None})

    def _exits(self, name: str) -> set[TextKind | None]:
        """Return what the text is of the first ordinary states that are reached from a state without a call."""
        states, queue = self._format.states, [name]
        for reached in queue:
            following = [row.to for row in states[reached].rows if "CallStart" not in row.emit and row.to in states]
            queue += [to for to in dict.fromkeys(following) if to not in queue and states[reached].text not in TOPMOST]
        return {states[reached].text for reached in queue} & {*TOPMOST}

    def state(self, name: str) -> CompiledState:
        """A state by name. Raises FormatError where the format has none of that name."""
        if name not in self._states:
            raise FormatError(f"there is no state {name!r}", "/states")
        return self._states[name]

    @property
    def longest(self) -> int:
        """Length of the longest literal any state or argument parser can wait for."""
        return max((state.longest for state in self._states.values()), default=0)

    def initial(self, context: Context) -> CompiledState:
        """Return where an output of this request begins."""
        opened = self._format.initial_when_reasoning_open
        is_open = context.reasoning_open or prompt_opens(self._format, context.prompt_tail)
        return self.state(opened if is_open and opened is not None else self._format.initial)
