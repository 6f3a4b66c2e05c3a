"""Static verification of a format: everything that can be found wrong with it without running it.

A format that pydantic accepts may still name states, terminals or codecs that do not exist, forget what happens at the
end, or leave a call open. `lint` says so, with a JSON pointer for the editor. An error means that some output is
read wrongly or not at all; a warning, that a part has no effect or a string cannot be said; an info is worth knowing.

Strategy: every check is a generator over one format, and `_CHECKS` lists them. Most look at the parts one by one. What
needs paths (which states are reached, whether calls open and close in pairs, whether the machine could turn in a
circle without reading) walks the machine once for every combination of the policy values that guards name, over pairs
of a state and whether a call is open there. What goes wrong in any combination is a finding; a state must be reached
in at least one. Where the combinations pass `MOST_COMBINATIONS`, all rows count as in force at once.

A call opens with CallStart and closes with CallEnd, or with REJECT, which gives its text back. END ends everything, so
nothing is followed beyond it. That every trigger of a codec is met by a row, or by what the machine does without one,
is proven over pairs of a state and what the codec may fire there (`ArgumentParser.due`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import prod
from typing import Any

from parsers.arguments import ARGUMENT_PARSERS
from parsers.arguments.contract import READ_ON, STRAY, ArgumentParser
from parsers.formats.extends import Expanded, Parents, expand, pointer_to
from parsers.formats.model import (
    ENGINE_TRIGGERS,
    LAYER_TRIGGERS,
    CodecRef,
    Format,
    Row,
    State,
    load_format,
    policy_values,
)
from parsers.vocabulary.events import Severity
from parsers.vocabulary.types import FormatError

MOST_COMBINATIONS = 64
_ORDER = ("error", "warning", "info")
_CALL_TEXT = ("name", "header", "id")
_NO_CALL = "can be reached with no call open"
_Situation = tuple[str, bool]  # a state, and whether a call is open
_Firing = tuple[str, str]  # a state, and a trigger that takes no character
_Place = tuple[str, tuple[str, ...]]  # a state, and what its codec may fire there


@dataclass(frozen=True, slots=True)
class LintFinding:
    """One thing wrong with a format: `pointer` (RFC 6901) says where, `message` what and what to do."""

    code: str
    severity: Severity
    pointer: str
    message: str


def lint(fmt: Format) -> list[LintFinding]:
    """Every finding, errors first. Never raises on a valid Format."""
    found = [finding for check in _CHECKS for finding in check(fmt)]
    return sorted(found, key=lambda finding: _ORDER.index(finding.severity))


def closers_of(fmt: Format) -> list[tuple[str, str]]:
    """(state, text) for everything that ends a value of this format wherever it stands in the value."""
    return [(name, text) for name, ref, codec in _codec_uses(fmt) for text in codec.closers(ref.options)]


def in_file(finding: LintFinding, expanded: Expanded) -> LintFinding:
    """The finding as the author of a format file needs it: its pointer leads into the file, and what is not written
    there is said to be inherited, and from where.
    """
    origin = expanded.origin(finding.pointer)
    source = f"{origin.label[0].upper()}{origin.label[1:]}: " if origin.label else ""
    return replace(finding, pointer=origin.pointer, message=source + finding.message)


def lint_file(data: Any, parents: Parents) -> list[LintFinding]:
    """Every finding about the decoded JSON of a format file, errors first, with pointers into the file.

    A file that is no format has one finding: not_a_format.
    """
    expanded = Expanded(data)
    try:
        expanded = expand(data, parents)
        found = lint(load_format(expanded.data))
    except FormatError as error:
        found = [LintFinding("not_a_format", "error", error.pointer, error.message)]
    return [in_file(one, expanded) for one in found]


def _codec_uses(fmt: Format) -> Iterator[tuple[str, CodecRef, type[ArgumentParser]]]:
    """Every state whose codec exists, with the reference to the codec and the codec."""
    for name, state in fmt.states.items():
        if state.codec is not None and state.codec.name in ARGUMENT_PARSERS:
            yield name, state.codec, ARGUMENT_PARSERS[state.codec.name]


def _rows(fmt: Format) -> Iterator[tuple[str, State, int, Row]]:
    """Every row with its state and its index there."""
    for name, state in fmt.states.items():
        for index, row in enumerate(state.rows):
            yield name, state, index, row


def _one_of(names: Mapping[str, object] | tuple[str, ...]) -> str:
    return ", ".join(names) or "none"


def _initial(fmt: Format) -> Iterator[LintFinding]:
    for key in ("initial", "initial_when_reasoning_open"):
        name = getattr(fmt, key)
        if name is not None and name not in fmt.states:
            text = f"The format starts in {name}, which is no state: use one of {_one_of(fmt.states)}."
            yield LintFinding("unknown_initial", "error", pointer_to(key), text)


def _targets(fmt: Format) -> Iterator[LintFinding]:
    known = _one_of(fmt.states)
    for name, _, index, row in _rows(fmt):
        if row.to not in fmt.states:
            text = f"{name} goes to {row.to} on {row.on}, which is no state: add it or use one of {known}."
            yield LintFinding("unknown_target", "error", pointer_to("states", name, "rows", index, "to"), text)


def _triggers(fmt: Format) -> Iterator[LintFinding]:
    for name, state, index, row in _rows(fmt):
        codec = None if state.codec is None else ARGUMENT_PARSERS.get(state.codec.name)
        if state.codec is not None and codec is None:
            continue
        known = tuple(dict.fromkeys([*fmt.terminals, *ENGINE_TRIGGERS, *(codec.triggers if codec else ())]))
        if row.on not in known:
            choice = _one_of(known)
            text = f"{name} waits for {row.on}, neither a terminal nor a trigger: add it or use one of {choice}."
            yield LintFinding("unknown_trigger", "error", pointer_to("states", name, "rows", index, "on"), text)


def _never_fires(fmt: Format) -> Iterator[LintFinding]:
    for name, state, index, row in _rows(fmt):
        reason = _idle_trigger(state, row) or _idle_guard(row)
        if reason:
            text = f"The row of {name} on {row.on} can never fire, because {reason}: remove the row."
            yield LintFinding("never_fires", "warning", pointer_to("states", name, "rows", index), text)


def _idle_trigger(state: State, row: Row) -> str:
    if row.on not in ENGINE_TRIGGERS or row.on == "END":
        return ""
    if state.codec is None and row.on == "OTHER":
        return (
            ""
            if state.text in (None, "structure", "noise")
            else f"in a state of {state.text} text all text is expected"
        )
    if state.codec is None:
        return "the state has no codec"
    codec = ARGUMENT_PARSERS.get(state.codec.name)
    return "" if codec is None or row.on in codec.triggers else f"the codec {state.codec.name} has no such trigger"


def _idle_guard(row: Row) -> str:
    known = policy_values()
    for name, values in row.when.items():
        if name in known and not set(values) & set(known[name]):
            return f"its guard on {name} names no value that exists"
    return ""


def _empty_states(fmt: Format) -> Iterator[LintFinding]:
    for name, state in fmt.states.items():
        if state.text is None and state.codec is None:
            text = f"{name} says neither what its text is nor which codec reads it: give it a text or a codec."
            yield LintFinding("empty_state", "error", pointer_to("states", name), text)


def _conflicts(fmt: Format) -> Iterator[LintFinding]:
    for name, state in fmt.states.items():
        for (_, first), (index, second) in combinations(enumerate(state.rows), 2):
            if first.on == second.on and _both_hold(first, second):
                text = f"{name} has two rows on {first.on} that can hold at once: remove one, or guard them apart."
                yield LintFinding("conflicting_rows", "error", pointer_to("states", name, "rows", index), text)


def _both_hold(first: Row, second: Row) -> bool:
    if _idle_guard(first) or _idle_guard(second):
        return False
    shared = first.when.keys() & second.when.keys()
    return all(set(first.when[name]) & set(second.when[name]) for name in shared)


def _inert(fmt: Format) -> Iterator[LintFinding]:
    for name, state in fmt.states.items():
        always = {row.on for row in state.rows if not row.when}
        for index, terminal in enumerate(state.inert):
            where = pointer_to("states", name, "inert", index)
            if terminal not in fmt.terminals:
                names = _one_of(fmt.terminals)
                text = f"{name} lists {terminal} as inert, which is no terminal: add it or use one of {names}."
                yield LintFinding("unknown_inert", "error", where, text)
            elif terminal in always:
                text = f"{name} lists {terminal} as inert and has a row for it, which wins: remove one of the two."
                yield LintFinding("inert_with_row", "warning", where, text)


def _same_text(fmt: Format) -> Iterator[LintFinding]:
    first: dict[str, str] = {}
    for name, text in fmt.terminals.items():
        other = first.setdefault(text, name)
        if other != name:
            message = f"{name} has the text of {other}, {text!r}, so only one can match: use one terminal for both."
            yield LintFinding("same_text", "error", pointer_to("terminals", name), message)


def _unused(fmt: Format) -> Iterator[LintFinding]:
    used = {row.on for _, _, _, row in _rows(fmt)} | {name for state in fmt.states.values() for name in state.inert}
    for name in fmt.terminals:
        if name not in used:
            text = f"No state has a row for {name} or lists it as inert: use it or remove it."
            yield LintFinding("unused_terminal", "warning", pointer_to("terminals", name), text)


def _prefixes(fmt: Format) -> Iterator[LintFinding]:
    names = {text: name for name, text in fmt.terminals.items()}
    lengths = sorted({len(text) for text in names})
    for longer, whole in fmt.terminals.items():
        for text in [whole[:length] for length in lengths if length < len(whole) and whole[:length] in names]:
            scopes = {state: {*one.inert, *[row.on for row in one.rows]} for state, one in fmt.states.items()}
            where = tuple([state for state, scope in scopes.items() if {names[text], longer} <= scope])
            if where:
                held = f"{text!r} is held in {_one_of(where)} while it may still become {whole!r}"
                message = f"{held} ({longer}): nothing to do, if that is meant."
                yield LintFinding("prefix_terminal", "info", pointer_to("terminals", names[text]), message)


def _names(fmt: Format) -> Iterator[LintFinding]:
    taken = {
        *ENGINE_TRIGGERS,
        *LAYER_TRIGGERS,
        *[trigger for *_, codec in _codec_uses(fmt) for trigger in codec.triggers],
    }
    for name in fmt.terminals:
        if name in taken:
            text = f"The terminal {name} has the name of a trigger, so rows on it are ambiguous: rename the terminal."
            yield LintFinding("reserved_name", "error", pointer_to("terminals", name), text)
    if "END" in fmt.states:
        text = "A state is called END like the end of the output, which makes diagrams hard to read: rename the state."
        yield LintFinding("reserved_name", "warning", pointer_to("states", "END"), text)


def _codecs(fmt: Format) -> Iterator[LintFinding]:
    for name, state in fmt.states.items():
        if state.codec is None:
            continue
        codec = ARGUMENT_PARSERS.get(state.codec.name)
        if codec is None:
            known = _one_of(ARGUMENT_PARSERS)
            text = f"{name} uses the codec {state.codec.name}, which does not exist: use one of {known}."
            yield LintFinding("unknown_codec", "error", pointer_to("states", name, "codec", "name"), text)
            continue
        for inside, problem in codec.check_options(state.codec.options):
            text = f"The codec {state.codec.name} of {name} cannot work with its options: {problem}."
            yield LintFinding("codec_option", "error", pointer_to("states", name, "codec", "options") + inside, text)


def _policies(fmt: Format) -> Iterator[LintFinding]:
    known = policy_values()
    for index, name in enumerate(fmt.policies):
        if name not in known:
            yield _unknown_policy(name, pointer_to("policies", index))
    for state, _, index, row in _rows(fmt):
        for name, values in row.when.items():
            where = ("states", state, "rows", index, "when", name)
            if name not in known:
                yield _unknown_policy(name, pointer_to(*where))
                continue
            if name not in fmt.policies:
                text = f"A row of {state} depends on {name}, which `policies` does not list: add it for users to see."
                yield LintFinding("unlisted_policy", "info", pointer_to(*where), text)
            for place, value in enumerate(values):
                if value not in known[name]:
                    text = f"The policy {name} has no value {value}: use one of {_one_of(known[name])}."
                    yield LintFinding("unknown_policy_value", "error", pointer_to(*where, place), text)


def _unknown_policy(name: str, where: str) -> LintFinding:
    text = f"There is no policy {name}: use one of {_one_of(policy_values())}."
    return LintFinding("unknown_policy", "error", where, text)


def _tokens(fmt: Format) -> Iterator[LintFinding]:
    texts = {*fmt.terminals.values(), *fmt.end_tokens}
    for _, ref, codec in _codec_uses(fmt):
        if not codec.check_options(ref.options):  # else there is a finding about these
            texts |= {text for scope in codec.scopes(ref.options).values() for text in scope.values()}
    within = "\n".join(texts)
    for text in fmt.tokens:
        if text not in within:
            problem = f"`tokens` lists {text!r}, which stands in no terminal"
            message = f"{problem}: add the terminal or remove the token."
            yield LintFinding("unknown_token", "warning", pointer_to("tokens", text), message)


def _end_tokens(fmt: Format) -> Iterator[LintFinding]:
    names = {text: name for name, text in fmt.terminals.items()}
    for index, text in enumerate(fmt.end_tokens):
        if text in names:
            message = f"{text!r} is the terminal {names[text]} as well, so only one can match: remove one of the two."
            yield LintFinding("same_text", "error", pointer_to("end_tokens", index), message)


def _unquote(fmt: Format) -> Iterator[LintFinding]:
    for name, state in fmt.states.items():
        if state.unquote and state.text not in _CALL_TEXT:
            text = f"{name} takes quotes off its text, but reads no name, header or id: remove `unquote`."
            yield LintFinding("unquote", "warning", pointer_to("states", name, "unquote"), text)
        if state.unescape and state.text not in _CALL_TEXT:
            text = f"{name} decodes its text, but reads no name, header or id: remove `unescape`."
            yield LintFinding("unescape", "warning", pointer_to("states", name, "unescape"), text)


def _example(fmt: Format) -> Iterator[LintFinding]:
    if not fmt.example:
        text = "The format has no example output: add one, so that others can see at once what it reads."
        yield LintFinding("no_example", "info", pointer_to("example"), text)


def _strings(fmt: Format) -> Iterator[LintFinding]:
    """One finding for each state whose codec reads strings that cannot hold some text, because nothing escapes it.

    Such a format is not wrong; but a program that writes a file through it will meet the file that holds its closing
    tag, and whoever designs one can still choose an escape.
    """
    for name, ref, codec in _codec_uses(fmt):
        closers = () if codec.check_options(ref.options) else codec.closers(ref.options)
        if closers:
            shown = " or ".join([repr(text) for text in closers])
            text = (
                f"In {name} a string ends at {shown} and cannot hold it, because {ref.name} values have no "
                "escape: nothing to do if no string can hold it, else quote the values."
            )
            yield LintFinding("cannot_round_trip", "warning", pointer_to("states", name, "codec"), text)


@dataclass(slots=True)
class _Walk:
    """The format under one combination of policy values: the rows in force, and every situation that is reached.

    `combination` are those of the values that make a difference, in words.
    """

    fmt: Format
    policy: Mapping[str, str]
    rows: dict[str, list[tuple[int, Row]]]
    combination: str
    reached: dict[_Situation, None]

    def states(self) -> list[str]:
        """The states reached, in the order of the format."""
        return [name for name in self.fmt.states if {(name, False), (name, True)} & self.reached.keys()]


def _flow(fmt: Format) -> Iterator[LintFinding]:
    """Every finding about paths through the format, each place once per code."""
    known = {name: values for name, values in policy_values().items() if any(name in r.when for *_, r in _rows(fmt))}
    if prod(map(len, known.values())) > MOST_COMBINATIONS:
        known = {}
    walks = [_walk(fmt, dict(zip(known, values, strict=True))) for values in product(*known.values())]
    seen = set()
    for walk in walks:
        for finding in (*_missing_ends(walk), *_missing_rows(walk), *_calls(walk), *_circles(walk)):
            if (finding.code, finding.pointer) not in seen:
                seen.add((finding.code, finding.pointer))
                yield finding
    reached = {name for walk in walks for name in walk.states()}
    for name in fmt.states:
        if name not in reached:
            text = f"No row leads from the start to {name}: add a row to it or remove it."
            yield LintFinding("unreachable_state", "warning", pointer_to("states", name), text)


def _walk(fmt: Format, combination: Mapping[str, str]) -> _Walk:
    """The walk under these policy values. A guard on a policy that is not among them is left out."""
    force: dict[str, list[tuple[int, Row]]] = {name: [] for name in fmt.states}
    for name, _, index, row in _rows(fmt):
        if all(combination[policy] in values for policy, values in row.when.items() if policy in combination):
            force[name].append((index, row))
    words = " and ".join([f"{name} is {value}" for name, value in combination.items()])
    starts = [name for name in fmt.states if name in (fmt.initial, fmt.initial_when_reasoning_open)]
    reached: dict[_Situation, None] = dict.fromkeys((name, False) for name in starts)
    queue = list(reached)
    for name, is_open in queue:
        for _, row in force[name]:
            after = (row.to, _effect(row, is_open)[0])
            if row.on != "END" and row.to in fmt.states and after not in reached:
                reached[after] = None
                queue.append(after)
    policy = {**fmt.policy.model_dump(), **combination}
    return _Walk(fmt, policy, force, f" when {words}" if words else "", reached)


def _effect(row: Row, is_open: bool) -> tuple[bool, str]:
    """Say whether a call is open after the row; the second value is an event it emits at the wrong time, or ''."""
    is_open = is_open and row.on != "REJECT"
    wrong = ""
    for emit in row.emit:
        if emit == "NoCall":
            is_open = False
        if emit not in ("CallStart", "CallEnd"):
            continue
        if (emit == "CallStart") == is_open:
            wrong = wrong or emit
        is_open = emit == "CallStart"
    return is_open, wrong


def _missing_ends(walk: _Walk) -> Iterator[LintFinding]:
    for name in walk.states():
        if not any(row.on == "END" for _, row in walk.rows[name]):
            advice = "add one that says what to do when the output ends there"
            text = f"{name} has no row on END{walk.combination}: {advice}."
            yield LintFinding("missing_end", "error", pointer_to("states", name), text)


def _missing_rows(walk: _Walk) -> Iterator[LintFinding]:
    """States in which a codec may fire a trigger that has neither a row nor another answer (`READ_ON`, `STRAY`).

    What fires next depends on what was read, and a codec that spans states goes on reading in the next one. So states
    are walked together with what is due in them.
    """
    missing: dict[str, list[str]] = {}
    places = _beginnings(walk)
    queue = list(places)
    for name, due in queue:
        rows = {row.on: row for _, row in reversed(walk.rows[name])}
        missing.setdefault(name, []).extend([one for one in due if one not in {*rows, *READ_ON, *missing[name]}])
        for trigger in (*due, *walk.fmt.terminals):
            place = _next_place(walk, name, due, trigger, rows.get(trigger))
            if place is not None and place not in places:
                places[place] = None
                queue.append(place)
    for name, triggers in missing.items():
        if triggers:
            what = f"{name} has no row on {' or '.join(triggers)}{walk.combination}, which its codec reports there"
            text = f"{what}: add one that says how to go on."
            yield LintFinding("missing_row", "error", pointer_to("states", name), text)


def _beginnings(walk: _Walk) -> dict[_Place, None]:
    """Every state in which a codec begins to read."""
    fmt, states = walk.fmt, walk.states()
    begins = [name for name in states if name in (fmt.initial, fmt.initial_when_reasoning_open)]
    for name in states:
        begins += [row.to for _, row in walk.rows[name] if row.on != "END" and not _goes_on(fmt, name, row)]
    return {(name, due): None for name in begins if (due := _due(walk, name, "")) is not None}


def _next_place(walk: _Walk, name: str, due: tuple[str, ...], trigger: str, row: Row | None) -> _Place | None:
    """Where a codec goes on reading after what fired; None where it is over."""
    if row is None:
        return (name, _due(walk, name, trigger) or ()) if trigger in due and trigger in READ_ON else None
    after = _due(walk, name, trigger)
    return (row.to, due if after is None else after) if _goes_on(walk.fmt, name, row) else None


def _goes_on(fmt: Format, name: str, row: Row) -> bool:
    """Return whether a row leads to a state in which the codec of this one goes on reading."""
    ref, target = fmt.states[name].codec, fmt.states.get(row.to)
    codec = None if ref is None else ARGUMENT_PARSERS.get(ref.name)
    spans = codec is not None and codec.spans_states and row.on not in STRAY
    return spans and target is not None and target.codec == ref


def _due(walk: _Walk, name: str, last: str) -> tuple[str, ...] | None:
    """See ArgumentParser.due; None too where no codec reads in the state."""
    ref = walk.fmt.states[name].codec if name in walk.fmt.states else None
    codec = None if ref is None else ARGUMENT_PARSERS.get(ref.name)
    return None if ref is None or codec is None else codec.due(last, ref.options, walk.policy)


def _calls(walk: _Walk) -> Iterator[LintFinding]:
    for name, is_open in walk.reached:
        state = walk.fmt.states[name]
        if not is_open and state.codec is None and state.text in _CALL_TEXT:
            text = f"{name} reads a call's {state.text}, but {_NO_CALL}: emit CallStart before it."
            yield LintFinding("text_outside_call", "error", pointer_to("states", name, "text"), text)
        for index, row in walk.rows[name]:
            after, wrong = _effect(row, is_open)
            place = pointer_to("states", name, "rows", index, "emit")
            if wrong == "CallStart":
                text = f"{name} emits CallStart on {row.on} while a call is open: emit CallEnd before it."
                yield LintFinding("start_in_call", "error", place, text)
            elif wrong == "CallEnd":
                text = f"{name} emits CallEnd on {row.on}, but {_NO_CALL}: emit CallStart before it."
                yield LintFinding("end_outside_call", "error", place, text)
            if row.on == "END" and after:
                text = f"{name} can be reached with a call open and leaves it open at END: emit CallEnd there."
                yield LintFinding("call_left_open", "error", place, text)


def _circles(walk: _Walk) -> Iterator[LintFinding]:
    """OTHER, REJECT and `keep: again` hand the text to the next state; a circle of them would never read it."""
    table: dict[_Firing, tuple[int, Row]] = {}
    for name in walk.states():
        for index, row in walk.rows[name]:
            table.setdefault((name, row.on), (index, row))
    follow = {
        firing: _next_firings(walk.fmt, table, firing)
        for firing, (_, row) in table.items()
        if firing[1] in ("OTHER", "REJECT") or row.keep == "again"
    }
    for circle in _loops(follow):
        first = circle[0]
        way = ", then ".join([f"{name} on {trigger}" for name, trigger in circle])
        text = f"{way} leads back to {first[0]} and reads nothing: let one of these rows go to a state with text."
        yield LintFinding("endless_circle", "error", pointer_to("states", first[0], "rows", table[first][0]), text)


def _next_firings(fmt: Format, table: Mapping[_Firing, tuple[int, Row]], firing: _Firing) -> list[_Firing]:
    """The firings that can follow at once in the state a row leads to, on the same character."""
    name, trigger = firing
    row = table[firing][1]
    target = row.to
    state = fmt.states.get(target)
    if state is None:
        return []
    if row.keep == "again":
        return [(target, trigger)] if (target, trigger) in table and table[target, trigger][1].keep == "again" else []
    if state.codec is None:
        wanted = ["OTHER"] if state.text in ("structure", "noise") else []
    else:
        codec = ARGUMENT_PARSERS.get(state.codec.name)
        known = () if codec is None else codec.triggers
        goes_on = trigger == "OTHER" and state.codec == fmt.states[name].codec
        wanted = [one for one in ("OTHER", "REJECT") if one in known and (one == "REJECT" or goes_on)]
    return [(target, one) for one in wanted if (target, one) in table]


def _loops(follow: Mapping[_Firing, list[_Firing]]) -> Iterator[list[_Firing]]:
    """Every loop that a depth-first search closes, from where it is entered."""
    done: set[_Firing] = set()
    for start in follow:
        path = {} if start in done else {start: iter(follow[start])}
        while path:
            last = next(reversed(path))
            after = next(path[last], None)
            if after is None:
                del path[last]
                done.add(last)
            elif after in path:
                way = list(path)
                yield way[way.index(after) :]
            elif after not in done:
                path[after] = iter(follow[after])


_CHECKS = (
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
    _flow,
    _strings,
)
