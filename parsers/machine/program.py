"""A Format made ready to run: rows by trigger, literals compiled, policies applied.

Compilation happens at begin(), because it depends on the policies (row guards), on the marker mode (literals that
only a token id can mean are out of every scope) and on tool_choice none (rows that lead into tool calls are out).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise

from parsers.arguments import ARGUMENT_PARSERS
from parsers.arguments.contract import OPEN, STRAY, ArgumentParser, Output
from parsers.formats.layers import TOPMOST, leads_to_call, opens_call
from parsers.formats.model import GUIDED_LIST, CodecRef, Emit, Format, Row, State, TextKind, guard_holds, row_ids
from parsers.machine.lexer import Scope
from parsers.machine.reasoning import prompt_opens
from parsers.vocabulary.drops import Cause, DropReason
from parsers.vocabulary.seen import Beginning, Words
from parsers.vocabulary.states import Constant
from parsers.vocabulary.types import Context, FormatError

_NO_CLOSERS = frozenset({*STRAY, "END"})  # triggers that end a call without closing it
_SKIPPING = "It may be a marker at which a call that is passed over ends (recovery)."
END_TOKEN = "end token"  # the name of an end token's literal begins with it; no terminal is called so


@dataclass(slots=True)
class CompiledRow:
    """A row with its id. `guard` is the policy that has it in force, if one does; `opens` says whether it leads from
    reasoning towards a call; `target` is the state it leads to; `refusal` why there is no call where it rejects one."""

    id: str
    to: str
    emit: tuple[Emit, ...]
    keep: str
    diagnostic: str | None
    note: str
    guard: str | None
    opens: bool = False
    target: CompiledState | None = None
    refusal: DropReason = field(init=False)

    def __post_init__(self) -> None:
        note = self.note.rstrip(".")
        self.refusal = DropReason(Cause.STATED if note else Cause.NOT_A_CALL, note, self.guard)


class CompiledState(Constant):
    """A state with its rows by trigger and the literals it can see.

    `scopes` are the literals by the scope that its argument parser is in; `plain` are those where there is none.
    `end_texts` are the texts, given by their ids as well, that end reasoning here and lead to no call, by name.
    `closes_call`: a marker, or the end of what a call stands in, closes it here; until that comes it is open. `stops`:
    one such marker is a special token, which servers take for the end of the turn and leave out.
    `make_parser` gives a new argument parser for a visit to the state. `codec` names it: states that refer to the same
    one share an instance.
    """

    __slots__ = (
        *(
            "_becomes",
            "_beginnings",
            "_beside",
            "_joint",
            "_literals",
            "_own",
            "_parts",
            "accepts",
            "end_texts",
            "awaits",
            "by_text",
            "closes_call",
            "codec",
            "inert",
            "inert_texts",
            "make_parser",
            "name",
            "prose_texts",
            "searches",
            "stops",
        ),
        *("declared", "plain", "rows", "scopes", "text"),
    )

    def __init__(
        self,
        name: str,
        state: State,
        rows: Mapping[str, CompiledRow],
        terminals: Mapping[str, str],
        ends: Mapping[str, str],
        by_id: frozenset[str],
        parts: frozenset[str],
        special: frozenset[str],
    ) -> None:
        self.name = name
        self.text: TextKind | None = state.text
        self.declared = state
        self.rows = dict(rows)
        self.inert = frozenset(state.inert)
        self.prose_texts: frozenset[str] = frozenset()  # that show that text was no noise, in a state of noise
        self.inert_texts = {terminals[name]: name for name in state.inert}
        self.accepts = tuple(trigger for trigger in rows if trigger in terminals)
        self.by_text = {terminals[trigger]: trigger for trigger in self.accepts}
        over = [trigger for trigger, row in rows.items() if "ReasoningEnd" in row.emit and not row.opens]
        self.end_texts = {text: name for text, name in self.by_text.items() if name in over}
        closers = [trigger for trigger, row in rows.items() if "CallEnd" in row.emit and "CallStart" not in row.emit]
        self.closes_call = any(trigger not in _NO_CLOSERS for trigger in closers)
        self.stops = any(terminals.get(trigger) in special for trigger in closers)
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
            key: Scope({n: text for n, text in literals.items() if text not in by_id}, parts)
            for key, literals in scopes.items()
        }
        self.plain = self.scopes[OPEN]
        self._parts = parts
        self._joint: dict[str, Scope] = {}
        self._beside: dict[tuple[str, str | None], Scope] = {}
        self.searches: dict[tuple[Scope | None, str], Callable[[str], object]] = {}  # for what matters in open text
        self._becomes: dict[tuple[Scope | None, str], tuple[tuple[str, ...], Words]] = {}
        self._beginnings: dict[Scope | None, _Beginning] = {}
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
        """The literals of both states, of the other one those that move it."""
        if other.name not in self._joint:
            own = {text for literals in other._own.values() for text in literals}
            moving = {n: text for n, text in other.plain.literals.items() if n in other.rows or text not in own}
            self._joint[other.name] = Scope({**moving, **self.plain.literals}, self._parts)
        return self._joint[other.name]

    def see_prose(self, prose: CompiledState) -> None:
        """What is seen where text is none of this state's noise is seen here, too: it shows that there is none."""
        self.prose_texts = frozenset(prose.by_text) - frozenset(self.by_text)
        self.plain = self.scopes[OPEN] = self.joint(prose)

    def beside_ends_of(self, reasoning: CompiledState, scope: str | None) -> Scope:
        """The literals that an argument parser sees here in a scope (None: those of no string), and those that end
        reasoning in another state, not towards a call."""
        key = reasoning.name, scope
        if key not in self._beside:
            seen = {n: text for text, n in reasoning.end_texts.items() if text in reasoning.plain.literals.values()}
            own = {} if scope is None else self.scopes[scope].literals
            self._beside[key] = Scope({**seen, **own}, self._parts)
        return self._beside[key]

    def beginning(self, parser: ArgumentParser | None) -> Beginning:
        """Why text is held that may become a literal in sight while an argument parser reads, the same object every
        time."""
        scope = self.scope(parser)
        found = self._beginnings.get(scope)
        if found is None:
            found = self._beginnings[scope] = _Beginning(self, scope)
        return found

    def may_become(self, held: str, scope: Scope | None) -> tuple[tuple[str, ...], Words]:
        """The literals that held text may become, and why it is held."""
        found = self._becomes.get((scope, held))
        if found is None:
            candidates = () if scope is None else scope.candidates(held)
            if not candidates:
                return (), self.awaits
            texts = [self._literals[name] for name in candidates]
            between = [f" of {len(one)} characters) or {two} (" for one, two in pairwise(texts)]
            parts = f"Could begin {texts[0]} (", *between, f" of {len(texts[-1])} characters)."
            found = self._becomes[scope, held] = candidates, parts
        return found

    @property
    def longest(self) -> int:
        """Length of the longest literal in sight."""
        return max(scope.longest for scope in self.scopes.values())


class _Beginning(Beginning):
    """Text that may become a literal of a scope of a state."""

    __slots__ = ("_scope", "_state")

    def __init__(self, state: CompiledState, scope: Scope | None) -> None:
        self._state = state
        self._scope = scope

    def of(self, text: str) -> tuple[tuple[str, ...], Words]:
        return self._state.may_become(text, self._scope)


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
    """All states of a format under one set of policies. `by_id` and `parts` as a Scanner has them; `guides` says
    whether guided output may be read."""

    def __init__(
        self,
        fmt: Format,
        policy: Mapping[str, str],
        by_id: frozenset[str] = frozenset(),
        parts: frozenset[str] = frozenset(),
        *,
        skip_tools: bool,
    ) -> None:
        self._format = fmt
        self.wrappers = frozenset([state.wrapper for state in fmt.states.values() if state.wrapper is not None])
        self.end_tokens = frozenset(fmt.end_tokens)
        self.guides = any(row.on == GUIDED_LIST for state in fmt.states.values() for row in state.rows)
        ends = {f"{END_TOKEN} {text}": text for text in fmt.end_tokens}
        ids, special = row_ids(fmt), frozenset(text for text, token in fmt.tokens.items() if token.special)
        self._states: dict[str, CompiledState] = {}
        for name, state in fmt.states.items():
            rows: dict[str, CompiledRow] = {}
            for index, given in enumerate(state.rows):
                if given.on in rows or not guard_holds(given, policy) or self._is_off(state, given, policy):
                    continue
                if skip_tools and name == fmt.initial and self._reports_orphan(state, given):
                    continue
                tool_row = skip_tools and leads_to_call(fmt, state, given)
                row = self._without_tools(state, given) if tool_row else given
                if row is not None:
                    guard = next(iter(row.when), None)
                    opens = opens_call(fmt, state, row)
                    made = CompiledRow(
                        ids[name, index], row.to, row.emit, row.keep, row.diagnostic, row.note, guard, opens
                    )
                    rows[row.on] = made
            self._states[name] = CompiledState(name, state, rows, fmt.terminals, ends, by_id, parts, special)
        for compiled in self._states.values():
            for reached in compiled.rows.values():
                reached.target = self._states.get(reached.to)
            if compiled.text == "noise" and "OTHER" in compiled.rows:
                compiled.see_prose(self.state(compiled.rows["OTHER"].to))

    def _is_off(self, state: State, row: Row, policy: Mapping[str, str]) -> bool:
        """Return whether a policy makes text of the marker a row waits for."""
        if policy["reasoning_calls"] == "text" and opens_call(self._format, state, row):
            return True
        return policy["stray_reasoning_end"] == "text" and state.text == "content" and row.on in self._reasoning_ends

    @cached_property
    def _reasoning_ends(self) -> frozenset[str]:
        """The terminals that end reasoning and lead to no call."""
        fmt = self._format
        inner = [(state, row) for state in fmt.states.values() if state.text == "reasoning" for row in state.rows]
        ends = {row.on for _, row in inner if "ReasoningEnd" in row.emit and row.on in fmt.terminals}
        return frozenset(ends - {row.on for state, row in inner if opens_call(fmt, state, row)})

    def _reports_orphan(self, state: State, row: Row) -> bool:
        """Return whether a row takes the closing marker of no open call out of content: text, where none was read."""
        stays = state.text == "content" and row.diagnostic is not None and not row.emit
        inner = [one for one in self._format.states.values() if one.text not in TOPMOST]
        return stays and any(other.on == row.on for one in inner for other in one.rows)

    def _without_tools(self, state: State, row: Row) -> Row | None:
        """Return what is left of a row that leads to a call: a marker that ends reasoning still does, as content."""
        content = next((name for name, one in self._format.states.items() if one.text == "content"), None)
        if state.text != "reasoning" or "ReasoningEnd" not in row.emit or content is None:
            return None
        return row.model_copy(update={"to": content, "emit": ("ReasoningEnd",), "keep": "text", "diagnostic": None})

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
