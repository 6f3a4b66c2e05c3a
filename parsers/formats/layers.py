"""Layers over every format: rows that follow from the format and the request, and that no format file says.

REPEATED     in reasoning that the prompt has opened, the model writes the opening marker again
GIVEN_BACK   what a marker inside reasoning began is no call: all of it is reasoning again
GUIDED_LIST, GUIDED_OBJECT   the request forces a call, and the server may have guided the output to bare JSON

Guided output (`tool_choice` required or named) is a JSON list of objects with a name and parameters, or the arguments
alone where the request names the tool: vLLM 0.33.0 forces the one or the other, SGLang 0.5.23 a list for both. It is
read only if its bracket is the first character after reasoning and the format's own grammar does not claim it.

The rows of a layer are numbered after those of the format, so that these keep their ids.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from parsers.formats.model import (
    GIVEN_BACK,
    GUIDED_LIST,
    GUIDED_OBJECT,
    LAYER_TRIGGERS,
    REPEATED,
    CodecRef,
    Format,
    Row,
    State,
    row_ids,
)
from parsers.vocabulary.types import Context

TOPMOST = ("content", "reasoning")
FORCED = frozenset({"required", "named"})
_BACK = "What the marker inside reasoning began is no call: it is reasoning again."
_AGAIN = "The model repeats the marker by which the prompt has opened reasoning."
_GUIDED = "Guided output: the server made the model write bare JSON."
_OVER = "Text follows the guided output."
_NO_CALLS = "The bracket begins no guided output."


def layered(fmt: Format, context: Context) -> Format:
    """The format with its layers. `context` is the request; a format that has them already stays as it is."""
    if any(row.on in (GIVEN_BACK, REPEATED, GUIDED_LIST) for state in fmt.states.values() for row in state.rows):
        return fmt
    more: dict[str, tuple[Row, ...]] = {}
    if (home := _home(fmt)) is not None:
        row = Row(on=GIVEN_BACK, to=home, note=_BACK)
        more = dict.fromkeys(_inside_calls(fmt), (row,))
    for name, to in _opened(fmt):
        more[name] = (*more.get(name, ()), Row(on=REPEATED, to=to, note=_AGAIN))
    states: dict[str, State] = {}
    if context.tool_choice in FORCED:
        for name in _answers(fmt):
            guided, rows = _guided(fmt, name, named=context.tool_choice == "named" and context.named_tool is not None)
            more[name] = (*more.get(name, ()), *rows)
            states |= guided
    if not more:
        return fmt
    changed = {
        name: state.model_copy(update={"rows": (*state.rows, *more[name])}) if name in more else state
        for name, state in fmt.states.items()
    }
    return fmt.model_copy(update={"states": {**changed, **states}})


def layered_if_fired(fmt: Format, context: Context, fired: Collection[str]) -> Format:
    """The format with its layers where one of the rows that fired (by id) is theirs, as it is where none is."""
    whole = layered(fmt, context)
    return whole if {*row_ids(whole).values()}.difference(row_ids(fmt).values()).intersection(fired) else fmt


def leads_to_call(fmt: Format, state: State, row: Row) -> bool:
    """Return whether a row leads from ordinary text towards a tool call, and not through a header to reasoning."""
    target = fmt.states.get(row.to)
    if "CallStart" in row.emit and target is not None and any("NoCall" in one.emit for one in target.rows):
        return False  # what waits there may be a header
    if "CallStart" in row.emit or target is None or state.text not in TOPMOST:
        return "CallStart" in row.emit
    return target.text not in TOPMOST and "reasoning" not in _exits(fmt, row.to)


def opens_call(fmt: Format, state: State, row: Row) -> bool:
    """Return whether a row leads from reasoning towards a tool call, which may turn out to be none. The format says so
    itself where messages follow its calls, in which reasoning may go on."""
    ends = state.text == "reasoning" and "ReasoningEnd" in row.emit and row.on in fmt.terminals
    return ends and (row.mention or leads_to_call(fmt, state, row))


def _exits(fmt: Format, name: str) -> set[Any]:
    """Return what the text is of the first ordinary states that are reached from a state without a call."""
    states, queue = fmt.states, [name]
    for reached in queue:
        rows = [row for row in states[reached].rows if row.on not in LAYER_TRIGGERS and "CallStart" not in row.emit]
        following = [row.to for row in rows if row.to in states]
        queue += [to for to in dict.fromkeys(following) if to not in queue and states[reached].text not in TOPMOST]
    return {states[reached].text for reached in queue} & {*TOPMOST}


def _state(fmt: Format, name: str) -> State:
    return fmt.states.get(name) or State()


def _openings(fmt: Format) -> Iterator[tuple[str, Row]]:
    """(state, row) for each row that leads from reasoning towards a call."""
    for name, state in fmt.states.items():
        yield from ((name, row) for row in state.rows if opens_call(fmt, state, row))


def _home(fmt: Format) -> str | None:
    """The state of reasoning that a call was opened in, the first one that reads nothing but text."""
    names = dict.fromkeys([name for name, _ in _openings(fmt)])
    plain = [name for name, state in fmt.states.items() if state.text == "reasoning" and state.codec is None]
    return next((name for name in plain if name in names), None)


def _inside_calls(fmt: Format) -> list[str]:
    """The states in which a call that was opened inside reasoning may not be whole yet."""
    queue = list(dict.fromkeys([row.to for _, row in _openings(fmt) if row.to in fmt.states]))
    for name in queue:
        following = [row.to for row in fmt.states[name].rows if row.to in fmt.states and "CallEnd" not in row.emit]
        queue += [to for to in dict.fromkeys(following) if to not in queue and fmt.states[to].text not in TOPMOST]
    return queue


def _opened(fmt: Format) -> Iterator[tuple[str, str]]:
    """Where reasoning that the prompt opened would keep the marker as text: (state, where the marker leads to)."""
    first = fmt.initial_when_reasoning_open or ""
    names = [first, *[row.to for row in _state(fmt, first).rows if row.on == "OTHER"]]
    for name in names:
        leads = {row.on: row.to for row in _openers(fmt) if row.on in _state(fmt, name).inert}
        if leads:
            labelled = [to for to in leads.values() if _state(fmt, to).codec is not None]
            yield name, next(iter(labelled), name)


def _openers(fmt: Format) -> Iterator[Row]:
    """The rows of terminals that lead from content to reasoning."""
    for state in fmt.states.values():
        for row in state.rows if state.text == "content" else ():
            if _state(fmt, row.to).text == "reasoning" and row.on in fmt.terminals:
                yield row


def _answers(fmt: Format) -> list[str]:
    """The states of plain content that are reached without a call."""
    queue = list(dict.fromkeys(filter(None, (fmt.initial, fmt.initial_when_reasoning_open))))
    for name in queue:
        state = _state(fmt, name)
        following = [row.to for row in state.rows if not leads_to_call(fmt, state, row)]
        queue += [to for to in dict.fromkeys(following) if to not in queue and to in fmt.states]
    fits = [name for name in queue if name in fmt.states and fmt.states[name].text == "content"]
    return [name for name in fits if fmt.states[name].codec is None]


def _guided(fmt: Format, answer: str, *, named: bool) -> tuple[Mapping[str, State], tuple[Row, ...]]:
    """The states of guided output that begins in the state `answer`, and the rows that lead there."""
    used, tail = {*fmt.states}, "" if answer in ("CONTENT", "START") else f"_{answer}"
    call, calls, alone = [_free(f"{name}{tail}", used) for name in ("GUIDED_CALL", "GUIDED_CALLS", "GUIDED_ARGUMENTS")]
    codec = CodecRef(name="json_calls")
    states = {
        call: State(
            codec=codec,
            note=_GUIDED,
            rows=(
                Row(on="ITEM_END", to=calls, emit=("CallEnd",)),
                Row(on="REJECT", to=answer, note=_NO_CALLS),
                Row(on="END", to=call, emit=("CallEnd",)),
            ),
        ),
        calls: State(
            codec=codec,
            note=_GUIDED,
            rows=(
                Row(on="ITEM", to=call, emit=("CallStart",)),
                Row(on="DONE", to=answer),
                Row(on="OTHER", to=answer, diagnostic="malformed_array", note=_OVER),
                Row(on="END", to=calls),
            ),
        ),
    }
    start = Row(on=GUIDED_LIST, to=call, emit=("CallStart",), note=_GUIDED)
    if not named:
        return states, (start, Row(on=GUIDED_OBJECT, to=call, emit=("CallStart",), note=_GUIDED))
    states[alone] = State(
        codec=CodecRef(name="json_arguments"),
        note=f"{_GUIDED} These are the arguments of the tool that the request names.",
        rows=(
            Row(on="DONE", to=answer, emit=("CallEnd",)),
            Row(on="REJECT", to=answer, note=_NO_CALLS),
            Row(on="OTHER", to=answer, emit=("CallEnd",), note=_OVER),
            Row(on="END", to=alone, emit=("CallEnd",)),
        ),
    )
    return states, (start, Row(on=GUIDED_OBJECT, to=alone, emit=("CallStart",), note=_GUIDED))


def _free(name: str, used: set[str]) -> str:
    return _free(f"{name}_", used) if name in used else name
