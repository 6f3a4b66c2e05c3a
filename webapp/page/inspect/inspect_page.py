"""Puts the panes together: one page about one replay, seen from one step.

Where the reader is, the view state, stands in the address or in a submit button. It is never part of a case and never
hashed. Values that make no sense become defaults, because an address is typed, shortened and pasted by people.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, partial
from operator import attrgetter
from typing import Any
from urllib.parse import parse_qsl, urlencode

from parsers.cases.case import Case
from parsers.compare.beside import rules_for
from parsers.compare.divergence import divergence
from parsers.formats.layers import layered_if_fired
from parsers.replays.chunking import Chunking, parse_spec, spec
from parsers.replays.cut_grades import Grader
from parsers.vocabulary.types import UsageError
from parsers.wire.chunks import Envelope
from webapp.page.form.setup import decode_words
from webapp.page.inspect.badges import BadgeRow, badge_row, has_badges
from webapp.page.inspect.chunk_axis import Axis, chunk_axis, clock
from webapp.page.inspect.chunks import (
    ChunkCard,
    Chunks,
    Recording,
    Told,
    chunk_card,
    chunk_table,
    evidence,
    recording,
    with_leaks,
)
from webapp.page.inspect.conditions import Names, Stops, completions, names_of, names_of_chunks, stops
from webapp.page.inspect.index import Ownership, TraceIndex, index_of, neighbours, ownership, read_only, within_reach
from webapp.page.inspect.live import LIVE_TOKENS
from webapp.page.inspect.own_state import OwnState, drawn_table, own_state
from webapp.page.inspect.pasted import pasted_chunks
from webapp.page.inspect.plots import LagPlot, Overview, lag_pane, overview
from webapp.page.inspect.raw_output import RawOutput, raw_output
from webapp.page.inspect.result import Result, Wire, dialect_of, is_end_known, result, wire
from webapp.page.inspect.source_lines import Source, read_part, read_where, source
from webapp.page.inspect.step import Card, Log, Machine, card, log, machine
from webapp.page.inspect.tokens import Strip, known_tokens, strip
from webapp.page.inspect.truncation import Truncation
from webapp.page.inspect.watch import MOST_PINS, Watch, read_pins, toggled, watch
from webapp.page.inspect.window import Window, window_around
from webapp.page.search.lost import Beside
from webapp.page.search.search_page import SearchPanes
from webapp.runs.runner import Run, Runner
from webapp.switches import is_ticked

TABS: dict[str, tuple[str, ...]] = {
    "input": ("tokens", "text", "bytes"),
    "machine": ("diagram", "all", "table"),
    "source": ("lines", "state", "diagram", "all", "table"),
    "result": ("step", "final", "diff"),
    "dock": ("", "findings", "chunkings", "events", "watch", "robustness", "truncation", "lag", "wire"),
    "wire": ("chunks", "sse", "response", "responses", "messages", "clients"),
    "dialect": ("reasoning", "reasoning_content"),
    "screen": ("", "input", "step", "machine", "result", "dock"),
}


@dataclass(slots=True, frozen=True)
class ViewState:
    """`step` None means: where the page finds most to see. `chunk` is a chunking as a word, empty for the case's own.
    `report` asks for the checks of a long output, `find` for a search. `only` names the roles that the legend leaves
    coloured, all of them if empty; `equal`: equal tokens have the colours instead. `cut` None: nobody asked what comes
    out of a cut output. `dock` empty: the panel that has most to say. `pins` are the steps that somebody keeps;
    `where` is a line of an engine's source that somebody asks about, `part` a character of the message. `screen` is the
    part of the run that is looked at where one is all that there is room for, and no script remembers which."""

    step: int | None = None
    input: str = "tokens"
    machine: str = "diagram"
    source: str = "lines"
    result: str = "step"
    dock: str = ""
    wire: str = "chunks"
    dialect: str = "reasoning"
    chunk: str = ""
    filter: str = ""
    until: str = ""
    report: bool = False
    find: bool = False
    only: str = ""
    equal: bool = False
    cut: int | None = None
    pins: str = ""
    where: str = ""
    part: str = ""
    screen: str = ""


PLAIN = {field.name: field.default for field in fields(ViewState)}
_values = attrgetter(*PLAIN)
_BEHIND_ALL = 10**9  # more steps than any run has
_IS_PLAIN_WORD = re.compile(r"\w+=[\w.:,~-]*", re.ASCII).fullmatch  # quoting leaves it as it is; a page has hundreds


def given_words(posted: Mapping[str, str]) -> dict[str, str]:
    """The words of a query or a form; those in `go`, the value of a submit button, win over the rest. It leaves out
    what is as it is at first: tabs that it does not say are those, whatever the form was made with."""
    if "go" not in posted:
        return {**posted}
    return {key: word for key, word in posted.items() if key not in TABS} | dict(parse_qsl(posted["go"]))


def _step_number(text: str | None) -> int | None:
    """The step that a text names: by its number, or the last one as 'end', however many there are."""
    return _BEHIND_ALL if (text or "").strip().lower() == "end" else whole_number(text)


def whole_number(text: str | None) -> int | None:
    """The number that a text spells, with commas or without, or None for anything else."""
    digits = (text or "").strip().replace(",", "")
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 10 else None


def read_state(posted: Mapping[str, str]) -> ViewState:
    """The view state in a query or a form."""
    given = given_words(posted)
    if given.get("result") == "wire":  # where it stood once: shared addresses name it so
        given = {**given, "result": "", "dock": "wire"}
    tabs = {pane: given[pane] if given.get(pane) in names else names[0] for pane, names in TABS.items()}
    return ViewState(
        step=_step_number(given.get("step")),
        chunk=given.get("chunk", "").strip().replace(" ", "+"),
        filter=given.get("filter", "")[:200].strip(),
        until=given.get("until", "")[:200].strip(),
        report=is_ticked(given.get("report")),
        find=is_ticked(given.get("find")),
        only=read_only(given.get("only", "")),
        equal=is_ticked(given.get("equal")),
        cut=whole_number(given.get("cut")),
        pins=",".join(map(str, read_pins(given.get("pins", "")))),
        where=read_where(given.get("where", "")),
        part=read_part(given.get("part", "")),
        **tabs,
    )


@dataclass(slots=True, frozen=True)
class Links:
    """Says how a page is addressed. `base` None: a run that was never shared has no address, only its form with
    `case`. `held` is then an address for scripts, as long as the run is held. `scripted`: a script asked for this part,
    and takes to a step by itself."""

    base: str | None
    state: ViewState
    case: str = ""
    held: str = ""
    scripted: bool = False

    @property
    def posted(self) -> bool:
        """Return whether controls post the form again."""
        return self.base is None

    @property
    def find(self) -> str:
        """The address by which scripts ask for the search; empty where only the form has the case."""
        return f"{base}/find" if (base := self.base or self.held) else ""

    def query(self, **changes: Any) -> str:
        """The view state with `changes`, as a query string without defaults."""
        changed = dict(zip(PLAIN, _values(self.state), strict=True)) | {"report": False, "find": False, **changes}
        said = {key: int(value) if value is True else value for key, value in changed.items() if value != PLAIN[key]}
        if said.get("step") == _BEHIND_ALL:
            said["step"] = "end"
        words = [f"{key}={value}" for key, value in said.items()]
        return "&".join(words) if all(map(_IS_PLAIN_WORD, words)) else urlencode(said, safe=":,")

    def url(self, **changes: Any) -> str:
        """The address of this page with `changes` to its view state."""
        query, fragment = self.query(**changes), self.fragment(changes.get("screen"))
        return f"{self.base or ''}?{query}{fragment}" if query else (self.base or "?") + fragment

    def fragment(self, screen: str | None = None) -> str:
        """What an address ends with so that a part of the run is looked at: a given one, else that of the state."""
        screen = self.state.screen if screen is None else screen
        return f"#{screen}" if screen else ""


@dataclass(slots=True, frozen=True)
class View:
    """Holds what a page shows of a case: the replay under the case's own chunking, and the one on the page.

    `problem` says why the chunking that was asked for is not shown.
    """

    base: Run
    run: Run
    state: ViewState
    chunking: Chunking | None = None
    problem: str = ""


@dataclass(slots=True, frozen=True)
class _Cursor:
    """Says where the reader is in the trace. `nav` has the nearest steps before and after it by kind, `jumps` those
    that scripts can reach from the window, as JSON."""

    step: int
    total: int
    window: Window
    nav: dict[str, tuple[int | None, int | None]]
    jumps: str


@dataclass(slots=True, frozen=True)
class Recorded:
    """The panes of a recorded stream, in place of those about a parser: its chunks, their axis and what is known. `raw`
    is the raw output where some of it is lost."""

    found: Recording
    table: Chunks
    axis: Callable[[], Axis]
    evidence: list[Told]
    raw: RawOutput | None = None


@dataclass(slots=True, frozen=True)
class ReplayPage:
    """The panes about one replay. `overview`, `lag`, `stops`, `source` and `truncation` are worked out by the
    templates that show them, which a new window does not.

    `decoding` and `chunking` say how the output came in, in words, and `cuts` how far a server can cut it so;
    `server` is the query of the comparison with what a server sent, empty where there is nothing to compare it with;
    `reader` is the built-in parser that stands there beside what is played back, where one is known. `own` is what an
    engine's parser kept at the step, and `drawn` says that it declares transitions, which `machine` then has.
    `beside` is the right reading, where the parser does not say what became of the text.
    """

    links: Links
    run: Run
    cursor: _Cursor
    decoding: str
    chunking: str
    cuts: str
    server: str
    reader: str
    strip: Strip
    badges: BadgeRow | None
    ownership: Ownership
    cards: Sequence[Card | ChunkCard]
    machine: Machine
    result: Result
    wire: Wire
    log: Log
    overview: Callable[[], Overview]
    lag: Callable[[], tuple[LagPlot, float]]
    stops: Callable[[], Stops]
    names: Names
    watch: Watch
    truncation: Truncation
    checked: SearchPanes
    clock: str = ""
    recorded: Recorded | None = None
    source: Callable[[], Source] | None = None
    own: OwnState | None = None
    drawn: bool = False
    beside: Beside | None = None

    @property
    def card(self) -> Card | ChunkCard:
        """The card of the step under the cursor."""
        return self.cards[self.cursor.step - self.cursor.window.first]

    @property
    def dock(self) -> str:
        """The panel of the dock that is shown: what is wrong, else how the output was cut."""
        found = self.checked.findings
        if self.recorded is not None:  # it cannot be cut, and nobody knows what it held
            return self.links.state.dock if self.links.state.dock in ("events", "watch", "wire") else "findings"
        return self.links.state.dock or ("findings" if found is None or found.own else "chunkings")

    @property
    def is_end_known(self) -> bool:
        """Return whether it is known why the message ended."""
        return is_end_known(self.run.replayer)

    @property
    def place(self) -> str:
        """Where the reader is, as the field of the place has it: a number, or 'end' behind the last chunk."""
        return "end" if self.called(self.cursor.step) == "the end" else str(self.cursor.step)

    @property
    def standing(self) -> str:
        """Where the reader is, and of how many there are: what the announcement of the place begins with."""
        said = self.card.announce.partition(". ")[0]
        return said[:1].lower() + said[1:]

    def called(self, step: int) -> str:
        """'step 4'; of a recorded stream 'chunk 4', and 'the end' for what is behind its last chunk and is none."""
        if self.recorded is None:
            return f"step {step:,}"
        return f"chunk {step:,}" if step <= self.recorded.found.total else "the end"

    @property
    def source_view(self) -> str:
        """The view of an engine's parser that is shown: the one that was chosen, where there is such a one."""
        chosen = self.links.state.source
        there = self.own is not None if chosen == "state" else self.drawn
        return chosen if there else "lines"

    @property
    def lag_waits(self) -> bool:
        """Return whether the lag is still to be worked out: of a long output that comes with the checks."""
        run = self.run
        return not (run.short or self.links.state.report or run.beside.known("lag") is not None)

    @property
    def waits(self) -> int | None:
        """How many texts waited, once that is worked out and if the parser says where its text comes from."""
        plot = None if self.lag_waits else self.lag()[0]
        return plot.waiting if plot is not None and plot.known else None

    @property
    def stop_nav(self) -> tuple[int | None, int | None]:
        """The stops before and after the cursor."""
        return neighbours(self.stops().steps, self.cursor.step)

    @property
    def conditions(self) -> list[tuple[str, str]]:
        """What may be asked for, with the states and rows of this format, and what it means."""
        return completions(self.names)

    @property
    def stop_marks(self) -> list[float]:
        """Where the stops stand in the band, in percent; those that cannot be told apart are one."""
        return self._marks(self.stops().steps)

    @property
    def pins(self) -> list[int]:
        """The pinned steps."""
        return [row.step for row in self.watch.pinned]

    @property
    def pin_marks(self) -> list[float]:
        """Where the pins stand in the band, in percent."""
        return self._marks(self.pins)

    def pins_with(self, step: int) -> str:
        """The pins as an address has them, with a step or, where it is pinned, without it."""
        return toggled(self.pins, step)

    def _marks(self, steps: Sequence[int]) -> list[float]:
        if self.recorded is not None:
            return self.recorded.axis().marks(steps)
        return sorted({round((at - 0.5) * 100 / self.cursor.total, 1) for at in steps})

    @property
    def live_text(self) -> str | None:
        """The output as it can be edited in place; None of one that is too long for it, or that is played back, and of
        one that a field cannot hold as it is."""
        text = self.run.case.text()
        off = self.run.choice.plays or len(self.run.pieces) > LIVE_TOKENS or "\r" in text
        return None if off else text

    @property
    def unheld_text(self) -> str | None:
        """The output that no field can hold: a browser takes every carriage return out of it."""
        text = self.run.case.text()
        return text if "\r" in text else None

    @property
    def most_pins(self) -> int:
        """How many steps can be pinned."""
        return MOST_PINS


def view_of(runner: Runner, case: Case, state: ViewState) -> View:
    """The replay that a page shows: under the case's own chunking, or the one its address names.

    A chunking that cannot be used is said and left out. Raises UsageError where the case itself cannot be replayed.
    """
    base = runner.run(case)
    if not state.chunk:
        return View(base, base, state)
    try:
        chunking = parse_spec(state.chunk)
        return View(base, runner.run(case, chunking), replace(state, chunk=spec(chunking)), chunking)
    except UsageError as error:
        return View(base, base, replace(state, chunk=""), problem=str(error))


def replay_page(view: View, checked: SearchPanes, links: Links, *, reader: str = "", pasted: str = "") -> ReplayPage:
    """The panes of a view. `links` are those of its page; `reader` is the parser of what is played back, where somebody
    says it, else the one that its text points to; `pasted` is the log that was pasted, where it is at hand."""
    run, index, plays = view.run, index_of(view.run), view.run.choice.plays
    state = _possible(view.state, index, plays=plays)
    marked = _marked_steps(view, checked)
    cursor = _cursor(index, state, marked, None if state.chunk else checked.start)
    step, window = cursor.step, cursor.window
    envelope = Envelope.of(run.trace, run.context, dialect_of(state.dialect))
    stream, grammar = run.case.input.stream, run.choice.grammar if plays else None
    reader = reader or (grammar.name if grammar is not None else "")
    cut = index.step_ends[step - 1] if state.cut is None else state.cut
    own = drawn_table(run.parser, run.trace.observed)
    layered = own or layered_if_fired(run.format, run.context, index.times)
    # What is said about a long output's tokens waits until it is judged; of a stream alone there is nothing to say.
    judged = run.short or checked.verdict is not None or has_badges(view.base)
    found = recording(run, view.base.known_checks)
    names = names_of(layered, index) if found is None else names_of_chunks(index)
    shown = result(index, window, run.context, _expected(run.case), soft=run.case.compare.whitespace == "soft")
    if found is not None:
        found.pasted = pasted_chunks(run, pasted) if pasted else ()
        found.judge(checked.findings.lines if checked.findings is not None else ())
        shown.content, shown.last_step = with_leaks(shown.content, found), found.finish_step or index.total
    numbers, named = range(window.first, window.last + 1), None if state.chunk else _named(checked)
    return ReplayPage(
        links=replace(links, state=state),
        run=run,
        cursor=cursor,
        decoding=decode_words(run.case),
        chunking=run.chunk_words,
        cuts="" if plays else run.beside.get("cuts", lambda: Grader(run.replayer).chunking(run.chunking)).value,
        server=_server(reader, plays=plays) if stream is not None and run.case.has_raw else "",
        reader=reader if plays else "",
        strip=strip(index, run.pieces, window, step, known_tokens(view.base)),
        badges=badge_row(view.base, index) if judged and (run.pieces or not plays) else None,
        ownership=ownership(index, step, view.state.only),
        cards=[card(index, number, layered.terminals) for number in numbers]
        if found is None
        else [chunk_card(found, number) for number in numbers],
        machine=machine(index, layered, run.policy, step),
        result=shown,
        wire=wire(
            index, window, step, view=state.wire, envelope=envelope, tokens=len(run.pieces),
            stream=stream if plays else None,
        ),
        log=log(index, window, state.filter, names),
        overview=partial(overview, index, () if state.chunk else checked.marks, step, marked, named),
        lag=partial(lag_pane, run, step),
        stops=cache(partial(stops, index, state.until, names)),
        names=names,
        watch=watch(index, window, read_pins(state.pins)),
        truncation=Truncation(run, cut),
        checked=checked,
        clock="" if found is not None else clock(index.arrivals),
        recorded=None if found is None else _recorded(found, window, step, run, reader),
        source=None if run.choice.lines is None else cache(partial(source, run, step, state.where, state.part)),
        own=own_state(run.trace.observed, step),
        drawn=own is not None,
        beside=index.beside,
    )  # fmt: skip


def _possible(state: ViewState, index: TraceIndex, *, plays: bool) -> ViewState:
    """A state of what there is: an address may name a step that is not there, and what is played back cannot be cut."""
    step = None if state.step is None else index.clamp(state.step)
    return replace(state, step=step, cut=None if plays else state.cut)


def _expected(case: Case) -> dict[str, Any] | None:
    known = case.known.expect
    return None if known is None else known.model_dump(exclude_none=True)


def _named(checked: SearchPanes) -> tuple[int, str] | None:
    """The step that the verdict names, and how bad it is."""
    said = checked.verdict
    return None if said is None or said.place is None else (said.place.step, said.severity)


def _server(reader: str, *, plays: bool) -> str:
    """The comparison of what a server sent with what a parser reads in the raw output: the case's own, if any."""
    return "a_parser=recorded" + (f"&b_parser={reader or 'auto'}" if plays else "")


def _recorded(found: Recording, window: Window, step: int, run: Run, reader: str) -> Recorded:
    axis, said = cache(partial(chunk_axis, found, step)), evidence(found, has_raw=run.case.has_raw)
    return Recorded(found, chunk_table(found, window), axis, said, raw_output(run, reader))


def _marked_steps(view: View, checked: SearchPanes) -> list[int]:
    """The steps where there is something to find: under another chunking, where it parts from the case's own."""
    base, run = view.base, view.run
    if run is not base:
        rules = rules_for(base.replayer, base.case.compare.rules())
        parting = run.beside.get("parting", lambda: divergence(base.trace, run.trace, rules))
        return [] if parting is None else [parting.step_b or index_of(run).total]
    if checked.verdict is not None:
        return list(checked.steps)
    known = base.known_checks
    return sorted({found.step for found in known.findings if found.step}) if known is not None else []


def _cursor(index: TraceIndex, state: ViewState, marked: list[int], first: int | None) -> _Cursor:
    """The cursor of a state; where that has no step, on the `first` finding, or where there is most to see."""
    step = index.clamp((first or interesting_step(index, marked)) if state.step is None else state.step)
    window = window_around(index, step)
    places = {"change": index.changes, "emission": index.emissions, "finding": marked}
    return _Cursor(
        step=step,
        total=index.total,
        window=window,
        nav={name: neighbours(steps, step) for name, steps in places.items()},
        jumps=json.dumps({name: within_reach(steps, window.first, window.last) for name, steps in places.items()}),
    )


def interesting_step(index: TraceIndex, marked: list[int]) -> int:
    """Return where a reader starts: the first finding, a call cut off, the first text held, the first state change."""
    if marked:
        return marked[0]
    if any(not call.complete for call in index.calls.values()):
        return index.total
    held = next((step for step, _, _ in index.trace.columns.held()), None)
    return held or (index.changes[0] if index.changes else 1)
