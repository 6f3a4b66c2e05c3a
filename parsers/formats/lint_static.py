"""What can be said of a format by looking at its parts one by one: names, rows, terminals, codecs, policies.

Every check is a generator over one format; `CHECKS` lists them. What needs paths through the machine is in `lint_flow`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Protocol

from parsers.formats.model import ENGINE_TRIGGERS, Format, Row, State
from parsers.formats.rows import policy_values
from parsers.vocabulary.events import Severity


class CodecFacts(Protocol):
    """What lint wants to know of a codec (`parsers.arguments.CodecSpec`)."""

    @property
    def triggers(self) -> tuple[str, ...]:
        """The triggers the codec may fire."""

    def check_options(self, options: Mapping[str, Any]) -> list[tuple[str, str]]:
        """(JSON pointer inside the options, what is wrong) for every bad option."""

    def literals(self, options: Mapping[str, Any]) -> frozenset[str]:
        """The texts of the codec's own literals."""

    def closers(self, options: Mapping[str, Any]) -> tuple[str, ...]:
        """The texts that end a string value wherever they stand in it."""


Codecs = Mapping[str, CodecFacts]


@dataclass(frozen=True, slots=True)
class LintFinding:
    """One thing wrong with a format: `pointer` (RFC 6901) says where, `message` what and what to do."""

    code: str
    severity: Severity
    pointer: str
    message: str


def pointer(*parts: str | int) -> str:
    """The JSON pointer (RFC 6901) of these steps."""
    return "".join([f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in parts])


def rows(fmt: Format) -> Iterator[tuple[str, State, int, Row]]:
    """Every row with its state and its index there."""
    for name, state in fmt.states.items():
        for index, row in enumerate(state.rows):
            yield name, state, index, row


def _one_of(names: Mapping[str, object] | tuple[str, ...]) -> str:
    return ", ".join(names) or "none"


def _initial(fmt: Format, codecs: Codecs) -> Iterator[LintFinding]:
    for key in ("initial", "initial_when_reasoning_open"):
        name = getattr(fmt, key)
        if name is not None and name not in fmt.states:
            text = f"The format starts in {name}, which is no state: use one of {_one_of(fmt.states)}."
            yield LintFinding("unknown_initial", "error", pointer(key), text)


def _targets(fmt: Format, codecs: Codecs) -> Iterator[LintFinding]:
    for name, _, index, row in rows(fmt):
        if row.to not in fmt.states:
            text = (
                f"{name} goes to {row.to} on {row.on}, which is no state: add it or use one of {_one_of(fmt.states)}."
            )
            yield LintFinding("unknown_target", "error", pointer("states", name, "rows", index, "to"), text)


def _triggers(fmt: Format, codecs: Codecs) -> Iterator[LintFinding]:
    for name, state, index, row in rows(fmt):
        facts = None if state.codec is None else codecs.get(state.codec.name)
        if state.codec is not None and facts is None:
            continue
        known = tuple(dict.fromkeys([*fmt.terminals, *ENGINE_TRIGGERS, *(facts.triggers if facts else ())]))
        if row.on not in known:
            choice = _one_of(known)
            text = f"{name} waits for {row.on}, neither a terminal nor a trigger: add it or use one of {choice}."
            yield LintFinding("unknown_trigger", "error", pointer("states", name, "rows", index, "on"), text)


def _never_fires(fmt: Format, codecs: Codecs) -> Iterator[LintFinding]:
    for name, state, index, row in rows(fmt):
        reason = _idle_trigger(state, row, codecs) or _idle_guard(row)
        if reason:
            text = f"The row of {name} on {row.on} can never fire, because {reason}: remove the row."
            yield LintFinding("never_fires", "warning", pointer("states", name, "rows", index), text)


def _idle_trigger(state: State, row: Row, codecs: Codecs) -> str:
    if row.on not in ENGINE_TRIGGERS or row.on == "END":
        return ""
    if state.codec is None:
        if row.on == "OTHER":
            return "" if state.text in (None, "structure") else f"in a state of {state.text} text all text is expected"
        return "the state has no codec"
    facts = codecs.get(state.codec.name)
    return "" if facts is None or row.on in facts.triggers else f"the codec {state.codec.name} has no such trigger"


def _idle_guard(row: Row) -> str:
    known = policy_values()
    for name, values in row.when.items():
        if name in known and not set(values) & set(known[name]):
            return f"its guard on {name} names no value that exists"
    return ""


def _empty_states(fmt: Format, codecs: Codecs) -> Iterator[LintFinding]:
    for name, state in fmt.states.items():
        if state.text is None and state.codec is None:
            text = f"{name} says neither what its text is nor which codec reads it: give it a text or a codec."
            yield LintFinding("empty_state", "error", pointer("states", name), text)


def _conflicts(fmt: Format, codecs: Codecs) -> Iterator[LintFinding]:
    for name, state in fmt.states.items():
        for (_, first), (index, second) in combinations(enumerate(state.rows), 2):
            if first.on == second.on and _both_hold(first, second):
                text = f"{name} has two rows on {first.on} that can hold at once: remove one, or guard them apart."
                yield LintFinding("conflicting_rows", "error", pointer("states", name, "rows", index), text)


def _both_hold(first: Row, second: Row) -> bool:
    if _idle_guard(first) or _idle_guard(second):
        return False
    shared = first.when.keys() & second.when.keys()
    return all(set(first.when[name]) & set(second.when[name]) for name in shared)


def _inert(fmt: Format, codecs: Codecs) -> Iterator[LintFinding]:
    for name, state in fmt.states.items():
        always = {row.on for row in state.rows if not row.when}
        for index, terminal in enumerate(state.inert):
            where = pointer("states", name, "inert", index)
            if terminal not in fmt.terminals:
                names = _one_of(fmt.terminals)
                text = f"{name} lists {terminal} as inert, which is no terminal: add it or use one of {names}."
                yield LintFinding("unknown_inert", "error", where, text)
            elif terminal in always:
                text = f"{name} lists {terminal} as inert and has a row for it, which wins: remove one of the two."
                yield LintFinding("inert_with_row", "warning", where, text)


def _same_text(fmt: Format, codecs: Codecs) -> Iterator[LintFinding]:
    first: dict[str, str] = {}
    for name, text in fmt.terminals.items():
        if text in first:
            message = (
                f"{name} has the text of {first[text]}, {text!r}, so only one can match: use one terminal for both."
            )
            yield LintFinding("same_text", "error", pointer("terminals", name), message)
        first.setdefault(text, name)


def _unused(fmt: Format, codecs: Codecs) -> Iterator[LintFinding]:
    used = {row.on for _, _, _, row in rows(fmt)} | {name for state in fmt.states.values() for name in state.inert}
    for name in fmt.terminals:
        if name not in used:
            text = f"No state has a row for {name} or lists it as inert: use it or remove it."
            yield LintFinding("unused_terminal", "warning", pointer("terminals", name), text)


def _prefixes(fmt: Format, codecs: Codecs) -> Iterator[LintFinding]:
    names = {text: name for name, text in fmt.terminals.items()}
    lengths = sorted({len(text) for text in names})
    for longer, whole in fmt.terminals.items():
        for text in [whole[:length] for length in lengths if length < len(whole) and whole[:length] in names]:
            where = [state for state, one in fmt.states.items() if {names[text], longer} <= _scope(one)]
            if where:
                held = f"{text!r} is held in {_one_of(tuple(where))} while it may still become {whole!r}"
                message = f"{held} ({longer}): nothing to do, if that is meant."
                yield LintFinding("prefix_terminal", "info", pointer("terminals", names[text]), message)


def _scope(state: State) -> set[str]:
    return {row.on for row in state.rows} | set(state.inert)


def _names(fmt: Format, codecs: Codecs) -> Iterator[LintFinding]:
    used = [codecs[state.codec.name] for state in fmt.states.values() if state.codec and state.codec.name in codecs]
    taken = {*ENGINE_TRIGGERS, *[trigger for facts in used for trigger in facts.triggers]}
    for name in fmt.terminals:
        if name in taken:
            text = f"The terminal {name} has the name of a trigger, so rows on it are ambiguous: rename the terminal."
            yield LintFinding("reserved_name", "error", pointer("terminals", name), text)
    if "END" in fmt.states:
        text = "A state is called END like the end of the output, which makes diagrams hard to read: rename the state."
        yield LintFinding("reserved_name", "warning", pointer("states", "END"), text)


def _codecs(fmt: Format, codecs: Codecs) -> Iterator[LintFinding]:
    for name, state in fmt.states.items():
        if state.codec is None:
            continue
        facts = codecs.get(state.codec.name)
        if facts is None:
            text = (
                f"{name} uses the codec {state.codec.name}, which does not exist: use one of {_one_of(tuple(codecs))}."
            )
            yield LintFinding("unknown_codec", "error", pointer("states", name, "codec", "name"), text)
            continue
        for inside, problem in facts.check_options(state.codec.options):
            text = f"The codec {state.codec.name} of {name} cannot work with its options: {problem}."
            yield LintFinding("codec_option", "error", pointer("states", name, "codec", "options") + inside, text)


def _policies(fmt: Format, codecs: Codecs) -> Iterator[LintFinding]:
    known = policy_values()
    for index, name in enumerate(fmt.policies):
        if name not in known:
            yield _unknown_policy(name, pointer("policies", index))
    for state, _, index, row in rows(fmt):
        for name, values in row.when.items():
            where = ("states", state, "rows", index, "when", name)
            if name not in known:
                yield _unknown_policy(name, pointer(*where))
                continue
            if name not in fmt.policies:
                text = f"A row of {state} depends on {name}, which `policies` does not list: add it for users to see."
                yield LintFinding("unlisted_policy", "info", pointer(*where), text)
            for place, value in enumerate(values):
                if value not in known[name]:
                    text = f"The policy {name} has no value {value}: use one of {_one_of(known[name])}."
                    yield LintFinding("unknown_policy_value", "error", pointer(*where, place), text)


def _unknown_policy(name: str, where: str) -> LintFinding:
    text = f"There is no policy {name}: use one of {_one_of(policy_values())}."
    return LintFinding("unknown_policy", "error", where, text)


def _tokens(fmt: Format, codecs: Codecs) -> Iterator[LintFinding]:
    texts = {*fmt.terminals.values(), *fmt.end_tokens, *_codec_literals(fmt, codecs)}
    for text in fmt.tokens:
        if text not in texts:
            message = (
                f"`tokens` lists {text!r}, which is the text of no terminal: add the terminal or remove the token."
            )
            yield LintFinding("unknown_token", "warning", pointer("tokens", text), message)


def _codec_literals(fmt: Format, codecs: Codecs) -> set[str]:
    """The texts of the codecs' own literals. Options that are no good have a finding of their own."""
    found: set[str] = set()
    for state in fmt.states.values():
        facts = None if state.codec is None else codecs.get(state.codec.name)
        if state.codec is not None and facts is not None and not facts.check_options(state.codec.options):
            found |= facts.literals(state.codec.options)
    return found


def _end_tokens(fmt: Format, codecs: Codecs) -> Iterator[LintFinding]:
    names = {text: name for name, text in fmt.terminals.items()}
    for index, text in enumerate(fmt.end_tokens):
        if text in names:
            message = f"{text!r} is the terminal {names[text]} as well, so only one can match: remove one of the two."
            yield LintFinding("same_text", "error", pointer("end_tokens", index), message)


def _unquote(fmt: Format, codecs: Codecs) -> Iterator[LintFinding]:
    for name, state in fmt.states.items():
        if state.unquote and state.text not in ("name", "header", "id"):
            text = f"{name} takes quotes off its text, but reads no name, header or id: remove `unquote`."
            yield LintFinding("unquote", "warning", pointer("states", name, "unquote"), text)


def _example(fmt: Format, codecs: Codecs) -> Iterator[LintFinding]:
    if not fmt.example:
        text = "The format has no example output: add one, so that others can see at once what it reads."
        yield LintFinding("no_example", "info", pointer("example"), text)


CHECKS = (
    _initial,
    _targets,
    _triggers,
    _empty_states,
    _codecs,
    _conflicts,
    _never_fires,
    _inert,
    _same_text,
    _names,
    _unused,
    _prefixes,
    _policies,
    _tokens,
    _end_tokens,
    _unquote,
    _example,
)
