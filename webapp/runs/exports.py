"""A run as a file for other people's tools: which exports there are, and what is in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from werkzeug.exceptions import Gone as GoneForGood

from parsers.cases.case import Case, CaseError, Expect
from parsers.cases.corpus import jsonl
from parsers.cases.engines import RECORDED, engine_of
from parsers.cases.expect import accept as accepted
from parsers.cases.export.html_report import html_report
from parsers.cases.export.markdown import markdown
from parsers.cases.export.pytest_file import EngineParser, pytest_file
from parsers.cases.export.suite_subject import grammar_of, subject_of
from parsers.cases.export.suite_target import SuiteFile, SuiteTarget, suite_file
from parsers.cases.export.suites import SUITES
from parsers.cases.find import CaseFound
from parsers.cases.io import case_key, dumps, identified, loads
from parsers.cases.message_events import events_of
from parsers.cases.outcome_words import WrittenOutcome, dumped
from parsers.cases.run import CaseRun, api_stream, replayer_of, sent_of, settled_case, sse, tried_chunkings
from parsers.cases.stored_outcome import Outcome, outcome_digest
from parsers.vocabulary.trace import Finding, Trace
from parsers.vocabulary.types import UsageError
from parsers.wire.chunks import Dialect
from webapp.engines import ENGINES, choose
from webapp.engines.entered import engine_title, entered
from webapp.release import NAME, installed_version
from webapp.runs.answers import answers_of
from webapp.runs.prepare import Prepared, error_place, stored_form
from webapp.runs.runner import Run, Runner
from webapp.storage_trouble import taken_back
from webapp.store import CaseStore, Gone, Listing, Saved, Sharing, StoredCase, TakenDown

MOST_TITLE, MOST_NOTES, MOST_FLAGS = 500, 50_000, 100  # of a case that is stored
_LONGEST_NAME, _MARK = 60, 8  # characters of the name of a file, and of what tells it from others


@dataclass(slots=True, frozen=True)
class Target:
    """One export: its name in addresses, its words in the menu, the file it makes.

    `tells`: it says what the checks found, or under which chunking a test fails, which take a dozen replays. `tests`:
    it is a test, so it has to know what is right. `suite`: it is one for the suite of another project. `replays`: what
    comes out stands in it, or decides what does; else the case says all of it, and nobody needs to be asked.
    """

    name: str
    words: str
    about: str
    suffix: str
    mimetype: str
    tells: bool = False
    tests: bool = False
    suite: SuiteTarget | None = None
    replays: bool = True


def _of_suite(target: SuiteTarget) -> Target:
    suffix = target.path.rpartition(".")[2]
    return Target(
        target.name, target.words, target.about, f".{suffix}", target.mimetype, tells=True, tests=True, suite=target
    )


_EVENTS = "text/event-stream"
_PYTEST_NEEDS = "needs pytest and the parser, and nothing else"
TARGETS = {
    target.name: target
    for target in (
        Target(
            "case", "Case file", "opens here and in the command line", ".case.json", "application/json", replays=False
        ),
        Target("pytest", "pytest file", _PYTEST_NEEDS, "_test.py", "text/x-python", tests=True, replays=False),
        Target("markdown", "Markdown report", "for an issue tracker", ".md", "text/markdown", tells=True),
        Target("html", "HTML report", "one file, to read offline", ".html", "text/html", tells=True),
        Target("jsonl", "JSON line", "for a corpus", ".jsonl", "application/jsonl", replays=False),
        Target("sse", "SSE transcript", "what a client receives", ".sse", "text/event-stream"),
        Target("responses", "Responses events", "what a client of that API receives", ".responses.sse", _EVENTS),
        Target("messages", "Anthropic events", "what a client of Messages receives", ".messages.sse", _EVENTS),
        *map(_of_suite, SUITES.values()),
    )
}


@dataclass(slots=True, frozen=True)
class _Exported:
    """A file to hand out."""

    filename: str
    text: str
    mimetype: str


def filename(title: str, suffix: str, mark: str = "") -> str:
    """A file name out of a title: plain letters, digits and hyphens (underscores before `_test.py`). `mark` stands at
    its end, whatever the title is cut to."""
    words, joint = _plain_words(title), "_" if suffix.startswith("_") else "-"
    said = joint.join(words)[: _LONGEST_NAME - len(mark)].strip(joint) or "case"
    return joint.join([said, mark] if mark else [said]) + suffix


def mark_of(case: Case, case_id: str = "") -> str:
    """What tells the files of a case from those of others that are called alike: of one without a title (in letters
    that a file name has) the beginning of its id, or of what would be that where it is stored nowhere."""
    return "" if _plain_words(case.title or "") else (case_id or case_key(case))[:_MARK]


def _plain_words(title: str) -> list[str]:
    return "".join(char if char.isascii() and char.isalnum() else " " for char in title.lower()).split()


def save(
    store: CaseStore,
    run: Run,
    findings: Sequence[Finding] | None,
    *,
    told: Case | None = None,
    listing: Listing | None = None,
    sharing: Sharing = Sharing(),  # noqa: B008 - it does not change
) -> Saved:
    """Store the case of a run with its outcome; `told` is that case with what its sharer says of it, `listing` what the
    library shows of it, where it is to. `findings` are None where nobody waited for the checks. Raises CaseError for a
    case that can have no id (floats in it), UsageError for one with longer words than are stored, OverQuota, and 410
    for one that was taken down.

    One that is stored already is listed where its sharer knows the words that it has: these come along, and with them a
    share, also where `sharing` joins no case.
    """
    stored = stored_form(run if told is None else replace(run, case=told))
    outcome = outcome_of(run.trace, findings)
    kept = dumped(WrittenOutcome(outcome.message, outcome.shape, engine_title(run.case.parser.engine)))
    case_id, body = identified(stored)
    written = (case_id, body, outcome_digest(outcome), installed_version())
    return put(store, stored, written, message=kept, listing=listing, sharing=sharing)


def put(
    store: CaseStore,
    stored: Case,
    written: tuple[str, str, str, str],
    *,
    message: str | None = None,
    listing: Listing | None = None,
    sharing: Sharing,
) -> Saved:
    """Store a case under its id; `written` are id, body, digest and version, as the store takes them. Raises what
    `save` raises."""
    _refuse_long(stored)
    try:
        saved = store.save(*written, listing, message=message, sharing=sharing)
    except TakenDown as down:
        raise GoneForGood(f"Whoever runs this server took this case down on {down.deleted[:10]}.") from down
    if listing is None or saved.created or not _may_list(store, saved, stored):
        return saved
    if not saved.delete_key:  # who lists a case shares it
        saved = store.save(*written, message=message, sharing=replace(sharing, joins=True))
    with taken_back(store, [saved]):
        store.list_known(saved.id, _named_as_kept(store, saved.id, listing), saved.delete_key)
    return saved


def _refuse_long(case: Case) -> None:
    """Raise CaseError for words beside the output that are longer than anybody reads: they are stored and listed."""
    sizes = (
        ("/title", len(case.title or ""), MOST_TITLE, "characters"),
        ("/notes", sum(map(len, case.notes)), MOST_NOTES, "characters"),
        ("/flags", len(case.flags), MOST_FLAGS, "flags"),
    )
    for pointer, size, most, unit in sizes:
        if size > most:
            raise CaseError(f"{size:,} {unit} are more than a stored case may have here: {most:,}", pointer)


def outcome_of(trace: Trace, findings: Sequence[Finding] | None) -> Outcome:
    """What came out of a replay; `findings` are None where nothing was checked."""
    return Outcome(trace.message, events_of(trace), trace.finish_reason, findings)


def _may_list(store: CaseStore, saved: Saved, told: Case) -> bool:
    """Return whether a case that was stored before is listed by this share: whoever shares it knows its words, or it is
    listed already and the share is one of it."""
    kept = _live(store, saved.id)
    if kept is None:
        return False
    return bool(saved.delete_key) if store.library.is_listed(saved.id) else _knows(told, loads(kept.body))


def _named_as_kept(store: CaseStore, case_id: str, listing: Listing) -> Listing:
    kept = _live(store, case_id)
    case = None if kept is None else loads(kept.body)
    return listing if case is None else replace(listing, title=case.title or "", tags=case.flags)


def _knows(told: Case, kept: Case) -> bool:
    """Return whether who shares a case again says all that its first sharer said of it."""
    words = kept.title in (None, told.title) and lines_of(kept) <= lines_of(told)
    return words and {*kept.flags} <= {*told.flags}


def lines_of(case: Case) -> set[str]:
    """The lines of the notes of a case, which a form has as one text."""
    return {line.strip() for note in case.notes for line in note.splitlines()} - {""}


def _live(store: CaseStore, case_id: str) -> StoredCase | None:
    try:
        return store.get(case_id)
    except Gone:
        return None


def run_for(runner: Runner, case: Case, target: str, began: float) -> CaseRun:
    """The run of a case as an export takes it: with the checks only where it tells of them. `began` is when the work on
    it did. Raises what `Runner.run` and `Runner.checked_in_time` raise."""
    run = runner.run(case)
    return runner.checked_in_time(run, began) if TARGETS[target].tells else runner.unchecked(run)


def exported(
    run: CaseRun,
    target: str,
    *,
    accept: bool = False,
    permalink: str | None = None,
    dialect: Dialect = "reasoning",
    found: CaseFound | None = None,
    case_id: str = "",
) -> _Exported:
    """The file for `target`; `accept` takes today's result for the right one where the case expects nothing.

    `dialect` is the name reasoning goes by in an SSE transcript; `found` is what a search of the case found; `case_id`
    is that of a stored case.
    Raises UsageError for an unknown target, CaseError at /expect for a pytest file that would test nothing.
    """
    if target not in TARGETS:
        raise UsageError(f"there is no export {target!r}; choose one of: {', '.join(TARGETS)}")
    form = TARGETS[target]
    expect = accepted(run.trace.message) if accept and run.case.known.expect is None else None
    if not form.replays:
        return unreplayed(run, form, expect, case_id)
    _refuse_played(run.case, form)
    case = stored_form(run)
    name = filename(case.title or run.format.name, form.suffix, mark_of(case, case_id))
    if form.suite is not None:
        made = suite_test(run, form.suite, expect=expect, permalink=permalink, case_id=case_id)
        text, name = made.text, PurePosixPath(made.path).name if form.suite.place == "new" else name
    elif target in ("markdown", "html"):
        text = _report(replace(run, case=case), target, permalink, found)
    elif target == "sse":
        text = sse(run, dialect)
    else:
        text = api_stream(run, "responses" if target == "responses" else "messages")
    return _Exported(name, text, form.mimetype)


def unreplayed(ready: Prepared | CaseRun, form: Target, expect: Expect | None = None, case_id: str = "") -> _Exported:
    """The file for a target that says nothing of a replay, so that no engine is started for it. `expect` is taken for
    right where the case says nothing of that. Raises as `exported` does."""
    _refuse_played(ready.case, form)
    case = stored_form(ready)
    if form.tests:
        with error_place("/expect"):
            text = _pytest_file(ready, case, expect)
    else:
        whole = case if expect is None else case.model_copy(update={"expect": expect})
        text = dumps(whole) if form.name == "case" else jsonl(whole)
    return _Exported(
        filename(case.title or ready.format.name, form.suffix, mark_of(case, case_id)), text, form.mimetype
    )


def _refuse_played(case: Case, form: Target) -> None:
    """Raise UsageError for a test of a recorded stream."""
    if form.tests and engine_of(case) == RECORDED:
        words = f"a {form.words} feeds a raw output to a parser, and here a recorded stream is played back"
        raise UsageError(f"{words}: export it under the parser that is to read the output, or as a case file")


def _report(run: CaseRun, target: str, permalink: str | None, found: CaseFound | None) -> str:
    """The report of a run, in Markdown or HTML."""
    versions, answers = {NAME: installed_version()}, answers_of(run, found)
    if target == "html":
        return html_report(run, versions=versions, permalink=permalink, answers=answers, found=found)
    return markdown(run, versions=versions, permalink=permalink, answers=answers, found=found)


def suite_test(
    run: CaseRun,
    suite: SuiteTarget,
    *,
    expect: Expect | None = None,
    permalink: str | None = None,
    case_id: str = "",
) -> SuiteFile:
    """The test of a run for the suite of another project, and where it goes there.

    Raises CaseError where the suite cannot say the case, and at /expect where nobody says what is right.
    """
    case = stored_form(run)
    told = settled_case(case, run.pieces) if case.decode else case
    kind, own = _engine(case.parser.engine)
    with error_place("/expect"):
        found = subject_of(
            replace(run, case=told),
            expect=expect,
            engine=kind,
            own_class=own,
            permalink=permalink,
            one_shot=choose(case).one_shot is not None,
            key=mark_of(case, case_id),
        )
    with error_place("/parser"):
        return suite_file(suite, found)


def offered(run: CaseRun) -> list[Target]:
    """The exports that a run has: no test where a stream is played back, and none for a project that is not known to
    read it."""
    case, fmt = run.case, grammar_of(run.case, run.selection).name
    kind, _ = _engine(case.parser.engine)
    return [
        one
        for one in TARGETS.values()
        if not (one.tests and run.plays) and (one.suite is None or kind == one.name or one.suite.reads(case, fmt))
    ]


def _engine(name: str | None) -> tuple[str, str]:
    """What an entered engine is: its kind, which is the name of an adapter, and its class where that is one's own."""
    if name is None or name in ENGINES:
        return "", ""
    entry = entered().entries().get(name)
    if entry is None:
        return name, ""
    return entry.adapter or ("class" if entry.own else name), entry.own or ""


def _pytest_file(run: Prepared | CaseRun, case: Case, expect: Expect | None) -> str:
    """The test file of a case. It holds the tokens as they were decoded, and when their text came."""
    told = settled_case(case, run.pieces) if case.decode else case
    grammar, (kind, own) = grammar_of(run.case, run.selection), _engine(case.parser.engine)
    ours = case.parser.engine in ENGINES
    choice = choose(run.case)
    replayer = run.replayer if isinstance(run, Prepared) else replayer_of(run.case, choice, run.stored)
    return pytest_file(
        told,
        told.pieces() if case.decode else run.pieces,
        expect=expect,
        chunkings=tried_chunkings(run.case, choice, replayer),
        parser=None if case.parser.format is not None else run.format.name if not kind else grammar.name,
        keep_engine=ours,
        due=run.decoded.due if run.decoded else None,
        sent=sent_of(case),
        tested=EngineParser(kind, run.selection.name, grammar, own),
    )
