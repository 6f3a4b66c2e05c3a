"""What a comparison asks for, and its two replays: the case as each side wants it, run and kept by the runner.

A word that makes no sense is said beside its control and left out: the rest of the comparison still works.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal
from urllib.parse import urlencode

from parsers.cases.case import Case, CaseError, ParserRef
from parsers.cases.engines import FALLBACK, RECORDED, policy_of, traced_chunking
from parsers.cases.run import replayer_of
from parsers.compare.exact_text import on_exact_text
from parsers.decoding import POLICIES, Decode
from parsers.replays.chunking import TRACED, Chunking, label, parse_spec, spec
from parsers.replays.recorded import PLACED, put_beside
from parsers.replays.replayer import Replayer
from parsers.selection.registry import policies, resolve
from parsers.vocabulary.types import Piece, UsageError
from webapp.engines import choose
from webapp.fields import side_at
from webapp.formats.folder import formats_folder, with_folder_format
from webapp.page.form.setup import decode_words
from webapp.page.inspect.inspect_page import given_words, whole_number
from webapp.runs.prepare import error_place, parser_place
from webapp.runs.runner import Run, Runner, collector_paused

NAMES = ("a", "b")
# The rules of a comparison: what each is called, and its words with what they mean.
RULES: dict[str, tuple[str, dict[str, str]]] = {
    "calls": ("calls", {"order": "by index and order", "index": "by index"}),
    "arguments": ("arguments as", {"text": "text", "json": "JSON values"}),
    "whitespace": ("whitespace of the text", {"exact": "exactly", "soft": "softly, as blanks"}),
    "ids": ("ids of calls", {"same": "they count", "any": "any"}),
}
LONGEST = 4_000


@dataclass(slots=True, frozen=True)
class Side:
    """Says how one side replays the output, in words; an empty word: as the case says."""

    chunk: str = ""
    parser: str = ""
    policy: str = ""
    mode: str = ""
    start: str = ""
    decode: str = ""


@dataclass(slots=True, frozen=True)
class Asked:
    """Both sides, the rules that are not the case's, and the cursor; `at` None: where there is most to see."""

    a: Side = field(default_factory=Side)
    b: Side = field(default_factory=Side)
    calls: Literal["", "order", "index"] = ""
    arguments: Literal["", "text", "json"] = ""
    whitespace: Literal["", "exact", "soft"] = ""
    ids: Literal["", "same", "any"] = ""
    at: int | None = None

    def words(self, **changes: Any) -> dict[str, str]:
        """Everything that is said, by the name it has in an address. `swap` exchanges the sides."""
        asked = replace(self, a=self.b, b=self.a) if changes.pop("swap", False) else self
        asked = replace(asked, **changes)
        said = {f"{name}_{key}": word for name in NAMES for key, word in asdict(getattr(asked, name)).items()}
        said |= {name: getattr(asked, name) for name in RULES}
        said["at"] = "" if asked.at is None else str(asked.at)
        return {name: word for name, word in said.items() if word}


def read_asked(posted: Mapping[str, str]) -> Asked:
    """Return what a query or a form asks for; what cannot be read is left out."""
    given = given_words(posted)
    rules: dict[str, Any] = {name: given.get(name) for name in RULES if given.get(name) in RULES[name][1]}
    return Asked(_side(given, "a"), _side(given, "b"), at=whole_number(given.get("at")), **rules)


def faults(posted: Mapping[str, str]) -> dict[str, str]:
    """Return what `read_asked` cannot read, other than of a side, by the name of its control."""
    given, found = given_words(posted), {}
    for name, (_, words) in RULES.items():
        if (word := given.get(name)) and word not in words:
            found[name] = f"{word[:40]!r} is no rule here; write {' or '.join(words)}."
    if (text := given.get("at", "").strip()) and whole_number(text) is None:
        found["at"] = f"{text[:40]!r} is no character of the output; write a whole number."
    return found


def is_bare(posted: Mapping[str, str]) -> bool:
    """Return whether nothing is said of either side."""
    return not any(name.startswith(("a_", "b_")) for name in given_words(posted))


def is_tidy(posted: Mapping[str, str]) -> bool:
    """Return whether an address could have been written by `CompareLinks`: no empty words, no fields of a form."""
    return all(posted.values()) and not any("." in name for name in posted)


def _side(given: Mapping[str, str], name: str) -> Side:
    """One side. A plus sign typed into an address arrives as a blank, and no word has blanks of its own."""
    words = {key: given.get(f"{name}_{key}", "").strip().replace(" ", "+")[:LONGEST] for key in Side.__slots__}
    fields = [(key.partition(".")[2], value) for key, value in given.items() if key.startswith(f"{name}_policy.")]
    words["policy"] = ",".join([words["policy"]] * bool(words["policy"]) + [f"{k}:{v}" for k, v in fields if v])
    return Side(**words)


@dataclass(slots=True, frozen=True)
class CompareLinks:
    """Says how a comparison is addressed. `base` None: a run that was never shared has only its form with `case`."""

    base: str | None
    asked: Asked
    case: str = ""

    @property
    def posted(self) -> bool:
        """Return whether controls post the form again."""
        return self.base is None

    def query(self, **changes: Any) -> str:
        """Return what is asked for, with `changes`, as a query string."""
        return urlencode(self.asked.words(**changes), safe=":,")

    def url(self, **changes: Any) -> str:
        """The address of this page with `changes`."""
        return f"{self.base or ''}?{self.query(**changes)}"


# What follows a decode policy in the word of a side.
FLAGS: dict[str, dict[str, Any]] = {
    "skip": {"skip_special_tokens": True},
    "keep": {"skip_special_tokens": False},
    "drop": {"drop_eos": True},
    "stay": {"drop_eos": False},
    "nostop": {"stop": (), "include_stop": False},
}


@dataclass(slots=True)
class Replayed:
    """One side: what was asked with the chunking spelled out, the case it makes (but for the chunking), its replay, and
    what could not be used of what was given."""

    name: str
    side: Side
    case: Case
    run: Run
    errors: dict[str, str] = field(default_factory=dict)
    given: Side = field(default_factory=Side)

    @property
    def title(self) -> str:
        """A or B."""
        return self.name.upper()

    @property
    def words(self) -> str:
        """Return what this side is, in a few words."""
        run = self.run
        wrapped = ", wrapped" if self.case.parser.engine == FALLBACK else ""
        start = ", starts in reasoning" if run.context.reasoning_open else ""
        wrapped += ", placed by what it sends" if PLACED in run.trace.reasons else ""
        decoding = f", {words}" if (words := decode_words(self.case)) else ""
        return f"{run.format.name}{wrapped}, {label(run.chunking)}, markers by {run.trace.mode}{start}{decoding}"

    @property
    def standalone(self) -> Case:
        """The side as a case of its own."""
        return self.case.model_copy(update={"replay": (self.run.chunking,)})

    @property
    def is_own(self) -> bool:
        """Return whether it is the case as it stands."""
        return not self.moved and self.run.chunking == traced_chunking(self.case)

    @property
    def moved(self) -> bool:
        """Return whether more than the chunking differs from the case: then the inspector has no address for it."""
        return any((self.side.parser, self.side.policy, self.side.mode, self.side.start, self.side.decode))


def replayed(runner: Runner, case: Case, name: str, asked: Side) -> Replayed:
    """One side of a comparison of `case`.

    Raises what `Runner.run` raises for the case itself.
    """
    errors: dict[str, str] = {}
    base = runner.run(case)
    side = asked
    while True:
        side, varied, chunking = _taken(runner, case, side, errors)
        try:
            run = _run(runner, base, varied, chunking)
            break
        except UsageError as error:
            place = _place(error, side)
            if not place:
                raise
            errors[place] = _said(error)
            side = replace(side, **{place: ""})
    return Replayed(name, replace(side, chunk=spec(run.chunking)), varied, run, errors, asked)


def _run(runner: Runner, base: Run, case: Case, chunking: Chunking) -> Run:
    """The replay of a side. Both sides read the same tokens: they are the model's, whatever parser reads them."""
    if case is base.case:
        return runner.run(case, chunking)
    said = f"{spec(chunking)} {base.key} {case.model_dump_json(exclude={'input'}, exclude_defaults=True)}"
    key = hashlib.sha256(said.encode()).hexdigest()
    return runner.kept(key, lambda: _on_tokens(base, case, chunking, key))


def _on_tokens(base: Run, case: Case, chunking: Chunking, key: str) -> Run:
    with error_place(parser_place(case)):
        choice = choose(case)
    stored = base.stored
    if case.mode() == "text":
        stored = tuple([replace(piece, recorded=False) if piece.recorded else piece for piece in stored])
    with error_place("/replay"), collector_paused():
        replayer = replayer_of(case, choice, stored)
        if stored and not replayer.has_raw:
            replayer = _placed(base, replayer, stored)
        trace = replayer.trace(chunking)
    return Run(case, choice, replayer, stored, chunking, trace, key, base.beside.under(key))


def _placed(base: Run, replayer: Replayer, pieces: tuple[Piece, ...]) -> Replayer:
    """A stream put into the output by what a parser of the output sends: the case's own, or the one that fits."""
    case = base.case
    if base.choice.plays:
        case = case.model_copy(update={"parser": ParserRef(name="auto"), "replay": ()})
    reference = replayer_of(case, choose(case), pieces).trace(TRACED)
    server = replayer.server and put_beside(replayer.server, pieces, reference)
    return replace(replayer, server=server, pieces=pieces, reasons=(*replayer.reasons, PLACED))


def _taken(runner: Runner, case: Case, asked: Side, errors: dict[str, str]) -> tuple[Side, Case, Chunking]:
    """The words that can be used, the case they make, and the chunking."""
    side, varied = asked, case
    for key, change in CHANGES.items():
        word = getattr(side, key)
        try:
            varied = change(runner, varied, word) if word else varied
        except UsageError as error:
            errors[key] = _said(error)
            side = replace(side, **{key: ""})
    try:
        chunking = parse_spec(side.chunk) if side.chunk else traced_chunking(varied)
    except UsageError as error:
        errors["chunk"] = _said(error)
        side, chunking = replace(side, chunk=""), traced_chunking(varied)
    return side, varied, chunking


def _place(error: UsageError, side: Side) -> str:
    """The word of a side that a replay failed over; empty where it is the case itself."""
    pointer = error.pointer if isinstance(error, CaseError) else ""
    named = side_at(pointer)
    said = [key for key in (*CHANGES, "chunk") if getattr(side, key)]
    return named if named in said else (said[-1] if said else "")


def _said(error: Exception) -> str:
    words = error.message if isinstance(error, CaseError) else str(error)
    lead = words[:1] if "_" in words.partition(" ")[0] else words[:1].upper()
    return f"{lead}{words[1:].removesuffix('.')}. The case's own is used."


def _with_parser(runner: Runner, case: Case, word: str) -> Case:
    name, plus, wrapper = word.partition("+")
    if plus and wrapper != FALLBACK:
        raise UsageError(f"{word[:80]!r} is no parser; write a name, or NAME+{FALLBACK}")
    if name == RECORDED and not plus:
        if case.input.stream is None:
            raise UsageError("this case has no recorded stream")
        return case.model_copy(update={"parser": ParserRef(name=RECORDED), "replay": ()})
    parser = case.parser
    if name and name != "auto" and formats_folder(runner.settings).find(name) is None:
        resolve(name)
    if name:
        parser = ParserRef(name=name, policy=parser.policy)
    if plus and parser.engine != FALLBACK:
        parser = parser.model_copy(update={"engine": FALLBACK, "options": {}})
    return with_folder_format(case.model_copy(update={"parser": parser}), runner.settings)


def _with_policy(_: Runner, case: Case, word: str) -> Case:
    pairs = [pair.partition(":") for pair in word.split(",") if pair]
    if wrong := next((key for key, colon, _ in pairs if not colon), None):
        raise UsageError(f"{wrong[:80]!r} says no value; write policies like unknown_tool:drop")
    parser = case.parser.model_copy(update={"policy": case.parser.policy | {key: value for key, _, value in pairs}})
    varied = case.model_copy(update={"parser": parser})
    policies(choose(case).format, policy_of(varied))
    return varied


def _with_mode(_: Runner, case: Case, word: str) -> Case:
    """Markers by id or by text. A parser that was found by the ids stays the one that was found."""
    if word not in ("ids", "text"):
        raise UsageError(f"{word[:80]!r} is no way to recognise markers; write ids or text")
    if word == case.mode():
        return case
    if word == "ids":
        raise UsageError("this output has no recorded ids, so markers are recognised by their text")
    parser = case.parser
    if parser.name == "auto":
        parser = parser.model_copy(update={"name": choose(case).selection.name})
    return case.model_copy(update={"parser": parser, "source": None})


def _with_start(_: Runner, case: Case, word: str) -> Case:
    """Return where the output begins. The end of the prompt would say it too, so it is left out."""
    if word not in ("content", "reasoning"):
        raise UsageError(f"an output cannot start in {word[:80]!r}; write content or reasoning")
    said = {"reasoning_open": word == "reasoning", "prompt_tail": None}
    return case.model_copy(update={"context": case.context.model_copy(update=said)})


def _with_decode(_: Runner, case: Case, word: str) -> Case:
    """Another decode policy, and what it leaves out; the rest of the case's own stays."""
    policy, *flags = word.split("+")
    wrong = [name for name in [policy] if name and name not in POLICIES] + [flag for flag in flags if flag not in FLAGS]
    if wrong:
        known = f"{', '.join(POLICIES)}, each with +{', +'.join(FLAGS)}"
        raise UsageError(f"{wrong[0][:80]!r} is no way to decode; write {known}")
    changes: dict[str, Any] = {"policy": policy} if policy else {}
    for flag in flags:
        changes |= FLAGS[flag]
    own = case.decode or Decode()
    decode = own.model_copy(update=changes)
    if decode == own:
        return case
    return case.model_copy(update={"decode": None if decode == Decode() else decode})


CHANGES: dict[str, Callable[[Runner, Case, str], Case]] = {
    "parser": _with_parser,
    "policy": _with_policy,
    "mode": _with_mode,
    "start": _with_start,
    "decode": _with_decode,
}


def on_one_text(runner: Runner, a: Replayed, b: Replayed) -> tuple[Replayed, Replayed]:
    """Both sides on the same text, the exact one where they decoded the tokens differently."""
    if a.run.trace.text == b.run.trace.text:
        return a, b
    return _moved(runner, a), _moved(runner, b)


def _moved(runner: Runner, side: Replayed) -> Replayed:
    run = side.run
    if len(run.stored) != len(run.pieces) or all(p.text == q.text for p, q in zip(run.stored, run.pieces, strict=True)):
        return side
    key = f"exact {run.key}"
    return replace(side, run=runner.kept(key, lambda: _onto_exact(run, key)))


def _onto_exact(run: Run, key: str) -> Run:
    with collector_paused():
        trace = on_exact_text(run.trace, run.pieces, run.stored)
    return run.on(run.replayer.with_pieces(run.stored), trace, key)
