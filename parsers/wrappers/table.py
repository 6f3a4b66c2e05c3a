"""Start and end markers of a format: the terminals that lead from text into a call, and back into content.

A format is wrapped by its markers where it has such terminals and everything else of its text states stays in text
states. Where it has none (bare JSON, lists of Python calls) or where headers choose the channel (harmony), and where
one rule joins all content (llama), nothing shows that a call begins: such an output is held whole.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from parsers.formats.layers import TOPMOST
from parsers.formats.model import GUIDED_LIST, GUIDED_OBJECT, Format, Row, State, row_ids
from parsers.machine.program import Program
from parsers.vocabulary.trace import Transition


@dataclass(frozen=True, slots=True)
class _Move:
    """A terminal that moves between text states: from one kind of text to another."""

    kind: str
    trigger: str
    to: str


@dataclass(frozen=True, slots=True)
class Markers:
    """Names and texts of start and end markers, and what else moves between text states."""

    start: Mapping[str, str]
    end: Mapping[str, str]
    moves: tuple[_Move, ...] = ()


def markers_of(fmt: Format, policy: Mapping[str, str]) -> Markers | None:
    """The markers of a format under these policies; None where its output is held whole."""
    program = Program(fmt, policy, frozenset(), skip_tools=False)
    ordinary = Program(fmt, policy, frozenset(), skip_tools=True)
    start: dict[str, str] = {}
    end: dict[str, str] = {}
    moves: dict[_Move, None] = {}
    rows = [(name, trigger, row) for name in fmt.states for trigger, row in program.state(name).rows.items()]
    for name, trigger, row in [one for one in rows if one[1] in fmt.terminals]:
        kind, target = fmt.states[name].text, program.state(row.to).text
        without_tools = ordinary.state(name).rows.get(trigger)
        if kind not in TOPMOST:
            end |= {trigger: fmt.terminals[trigger]} if target == "content" else {}
        elif without_tools is None and target == "content" and not row.emit:
            moves[_Move(str(kind), trigger, str(target))] = None  # the end of no open call
        elif without_tools is None or without_tools.to != row.to:
            # It leads to a call.
            start |= {trigger: fmt.terminals[trigger]} if kind == "content" else {}
        elif target in TOPMOST:
            moves[_Move(str(kind), trigger, str(target))] = None
        else:
            return None
    # What cannot be ordinary text has letters, and more than one character.
    opens = bool(start) and all(len(one) > 1 and any(char.isalpha() for char in one) for one in start.values())
    if fmt.content != "plain" or fmt.states[fmt.initial].text not in TOPMOST or not opens:
        return None
    ends = {name: text for name, text in end.items() if name not in start}
    return Markers(start, ends, tuple(moves))


def plain_format(fmt: Format) -> Format:
    """The format's text states alone: what is left to read where no call may begin."""
    kept = {name for name, state in fmt.states.items() if state.text in TOPMOST}
    states = {
        name: state.model_copy(update={"rows": tuple([row for row in state.rows if row.to in kept])})
        for name, state in fmt.states.items()
        if name in kept
    }
    return fmt.model_copy(update={"states": states})


def is_special(literal: str) -> bool:
    """Return whether a literal is written like a special token, so that prose about it is no reason for doubt."""
    return not set(literal).isdisjoint("|｜[]")


# The wrapper's states and rows, as a format: what the trace, the state view and the diagram name.
#
# NORMAL, CODE_BLOCK and REASONING pass text on. HELD passes nothing on: there is tool markup where no call may begin.
# BUFFERING holds what a start marker opened; CANDIDATE_END does so too after an end marker with unfinished payload.
# The TRY states are the fallback chain, in order; they never outlast a step.

SELECTED, XML, REPAIR, REST = "SELECTED", "XML", "REPAIR", "REST"
# Other parsers that are tried, with the texts that make it worth while; none: any start marker in angle brackets.
OTHERS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("GEMMA4", "gemma4", ("<|tool_call>call:", "<|tool_call> call:")),
    ("PYTHONIC", "pythonic", ("<|python_start|>",)),
    ("MINIMAX_M2", "minimax_m2", ("<invoke name=",)),
    ("QWEN_CODER", "qwen_coder", ("<function=",)),
    ("JSON", "json", ()),
)
STEPS = (SELECTED, *[name for name, _, _ in OTHERS], XML, REPAIR, REST)
FENCE, FENCE_TEXT = "CODE_FENCE", "```"
_NOTES = {
    SELECTED: "The calls that were streamed into the buffer.",
    XML: "Parameters that stand in the buffer and not in the arguments are read again.",
    REPAIR: "Arguments that are cut off are closed by appending.",
    REST: "What follows an end marker of unclear standing is read anew.",
}


def wrapper_format(fmt: Format, markers: Markers | None) -> Format:
    """The wrapper around `fmt` as a format: same name, terminals and policies, the wrapper's states."""
    states = {**_text_states(fmt.terminals, markers), **_buffering(markers), **_chain(whole=markers is None)}
    fence = {FENCE: FENCE_TEXT} if markers is not None else {}
    return fmt.model_copy(
        update={
            "title": f"{fmt.title}, behind the fallback wrapper",
            "initial": "BUFFERING" if markers is None else "NORMAL",
            "initial_when_reasoning_open": "BUFFERING" if markers is None else "REASONING",
            "terminals": {**fmt.terminals, **fence},
            "states": states,
        }
    )


def _text_states(terminals: Collection[str], markers: Markers | None) -> dict[str, State]:
    end = Row(on="END", to="NORMAL")
    if markers is None:
        return {"NORMAL": State(text="content", rows=(end,), inert=tuple(terminals))}
    start = [Row(on=name, to="BUFFERING", note="A start marker at the beginning of a line.") for name in markers.start]
    guided = [Row(on=name, to="BUFFERING", note="Guided output.") for name in (GUIDED_LIST, GUIDED_OBJECT)]
    markup = Row(on="MARKUP", to="HELD", note="A start marker where no call may begin.")
    moves: dict[str, dict[str, Row]] = {"content": {}, "reasoning": {}}
    for move in markers.moves:
        to = "REASONING" if move.to == "reasoning" else "NORMAL"
        moves[move.kind].setdefault(move.trigger, Row(on=move.trigger, to=to))
    content = list(moves["content"].values())
    inside = [row.model_copy(update={"to": "CODE_BLOCK"}) if row.to == "NORMAL" else row for row in content]
    held = {row.on: Row(on=row.on, to="HELD") for kind in moves.values() for row in kind.values()}
    fence = Row(on=FENCE, to="CODE_BLOCK", note="At the beginning of a line.")
    closes = Row(on=FENCE, to="NORMAL", note="At the beginning of a line.")
    return {
        "NORMAL": State(text="content", rows=(*start, *content, fence, markup, end, *guided)),
        "CODE_BLOCK": State(text="content", rows=(closes, *inside, end)),
        "REASONING": State(text="reasoning", rows=(*moves["reasoning"].values(), markup, end)),
        "HELD": State(
            text="content",
            rows=(*start, *held.values(), Row(on="RELEASED", to="NORMAL"), Row(on="END", to=f"TRY_{SELECTED}")),
        ),
    }


def _buffering(markers: Markers | None) -> dict[str, State]:
    first = f"TRY_{SELECTED}"
    nested = () if markers is None else markers.start
    ends = () if markers is None else markers.end
    rows = (
        *[Row(on=name, to=first) for name in ends],
        *[Row(on=name, to="BUFFERING", note="A start marker inside what is held.") for name in nested],
        Row(on="BUDGET", to="NORMAL", note="Held for too long: released as text."),
        Row(on="END", to=first),
    )
    again = tuple([row.model_copy(update={"to": "CANDIDATE_END"}) if row.to == "BUFFERING" else row for row in rows])
    states = {"BUFFERING": State(text="structure", rows=rows)}
    return states if markers is None else {**states, "CANDIDATE_END": State(text="structure", rows=again)}


def _chain(*, whole: bool) -> dict[str, State]:
    """The steps. The first of them may wait for more and the last one too, unless the output is held whole."""
    return {
        f"TRY_{step}": State(
            text="structure",
            rows=tuple([row for row in _tried(step) if not (whole and row.on in ("CANDIDATE", "BARE"))]),
            note=_NOTES.get(step) or f"The buffer as {step.lower()} reads it.",
        )
        for step in STEPS
    }


def _tried(step: str) -> Iterator[Row]:
    yield Row(on="FOUND", to="NORMAL", note="Its calls are sent.")
    if step != REST:
        after = f"TRY_{STEPS[STEPS.index(step) + 1]}"
        yield Row(on="REFUSED", to=after)
        yield Row(on="SKIPPED", to=after)
    if step == SELECTED:
        yield Row(on="BARE", to="NORMAL", note="Nothing follows the start marker.")
    if step in (SELECTED, REST):
        yield Row(on="CANDIDATE", to="CANDIDATE_END", note="The payload may still be unfinished.")
    if step == REST:
        yield Row(on="RELEASED", to="NORMAL", note="No call was found: released as text.")


# Where the wrapper is in its table, and the rows it fired.


class Trail:
    """Walks the wrapper's table. `log` is None while nobody looks."""

    def __init__(self, fmt: Format) -> None:
        self.log: list[Transition] | None = None
        self.state = fmt.initial
        self.step = 0
        ids = row_ids(fmt)
        self._rows = {
            (name, row.on): (ids[name, index], row)
            for name, state in fmt.states.items()
            for index, row in enumerate(state.rows)
        }

    def restart(self, state: str) -> None:
        """Begin in a state."""
        self.state, self.step = state, 0

    def move(self, trigger: str, start: int, end: int, note: str = "") -> None:
        """Fire the row for a trigger. What the state has no row for does not move it."""
        found = self._rows.get((self.state, trigger))
        if found is None:
            return
        row_id, row = found
        self.step += 1
        if self.log is not None:
            found_note = note or row.note
            self.log.append(Transition(self.state, trigger, row.to, row_id, start, end, self.step, found_note))
        self.state = row.to
