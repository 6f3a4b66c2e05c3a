"""What the inspector's template is given: the page, the form, and how this kind of page is shared and exported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from parsers.cases.engines import BUILTIN, ENGINES
from parsers.cases.model import Case
from parsers.decoding import POLICIES
from parsers.replays.chunking import Chunking, parse_spec, spec
from parsers.vocabulary.types import UsageError
from webapp.engines import RESPONSE_TEMPLATE
from webapp.formats.folder import formats_folder
from webapp.page.examples import Example, examples
from webapp.page.form import Setup, case_line, setup_of
from webapp.page.inspector import Page, inspector
from webapp.page.intake import panel
from webapp.page.options import options
from webapp.page.running import Report, Run
from webapp.page.search import Search
from webapp.page.search_panes import SearchPanes, search_panes
from webapp.page.services import services
from webapp.page.sharing import Lead, Origin
from webapp.page.state import Links, ViewState
from webapp.page.template_form import report as template_report
from webapp.page.template_form import template_examples
from webapp.runs.exports import TARGETS


@dataclass(slots=True)
class Scene:
    """A kind of page about one case. `base` is its address; None: a run that was never shared.

    `export_url` gives the address of an export. `source` names the case for the share form: `example:NAME` or
    `case:ID`; empty where the form carries the case itself. `origin` names the case that a smaller one came from.
    """

    kind: str
    case: Case
    base: str | None
    heading: str
    heading_note: str
    export_url: Callable[[str], str]
    share_url: str
    case_url: str = ""
    source: str = ""
    setup: Setup | None = None
    example: Example | None = None
    case_id: str = ""
    lead: Lead | None = None
    follows: bool = True
    origin: Origin | None = None


@dataclass(slots=True)
class View:
    """What a page shows of a case: the replay under the case's own chunking, and the one on the page.

    `problem` says why the chunking that was asked for is not shown.
    """

    base: Run
    run: Run
    state: ViewState
    chunking: Chunking | None = None
    problem: str = ""


def scene_context(scene: Scene, view: View, search: Search | None) -> dict[str, Any]:
    """Everything `inspect.html` reads. Without `search` only the window around the cursor is drawn."""
    posted = case_line(scene.case) if scene.base is None else ""
    run, panes = view.run, SearchPanes(Search("idle", automatic=False))
    if search is not None:
        panes = search_panes(view.base, _report(view, search), search, view.chunking, case_line)
    if panes.verdict is not None:
        view.base.index.findings = list(panes.steps)
    judged = run.short or run.badges is not None or panes.verdict is not None
    page = inspector(run, panes, Links(scene.base, view.state), posted_case=posted, with_badges=judged)
    setup = scene.setup or setup_of(scene.case, keep=not scene.source)
    if scene.source and scene.kind != "home":
        setup.base, setup.source = "", scene.source
    return {
        **form_context(setup, scene.kind, page),
        "page": page,
        "heading": scene.heading,
        "heading_note": scene.heading_note,
        "example": scene.example,
        "lead": scene.lead,
        "origin": scene.origin,
        "chunk_problem": view.problem,
        "case_id": scene.case_id,
        "case_url": scene.case_url,
        "address": scene.base if scene.base and scene.follows else "",
        "exports": [
            {"name": target.name, "url": scene.export_url(target.name), "words": target.words, "about": target.about}
            for target in TARGETS.values()
            if not (run.choice.plays and target.name == "pytest")
        ],
        "share_url": scene.share_url,
        "share_source": scene.source,
        "share_title": scene.case.title or "",
        "share_note": "\n".join(scene.case.notes),
        "share_size": f"about {max(1, len(scene.case.text()) // 1000):,} kB of text",
        "share_step": panes.start,
        "format_name": run.format.name,
        "format_is_ours": (scene.case.parser.engine or BUILTIN) in ENGINES and not run.choice.plays,
        "stored_tokens": scene.kind != "home" and scene.case.input.tokens is not None,
        "tool_count": 0 if scene.kind == "home" else len(scene.case.tools),
    }


def view_of(case: Case, state: ViewState) -> View:
    """The replay that a page shows: under the case's own chunking, or the one its address names.

    A chunking that cannot be used is said and left out. Raises UsageError where the case itself cannot be replayed.
    """
    runner = services().runner
    base = runner.run(case)
    if not state.chunk:
        return View(base, base, state)
    try:
        chunking = parse_spec(state.chunk)
        return View(base, runner.run(case, chunking), replace(state, chunk=spec(chunking)), chunking)
    except UsageError as error:
        return View(base, base, replace(state, chunk=""), problem=str(error))


def _report(view: View, search: Search) -> Report | None:
    """The quick look at the checks, where there is no search yet and it costs little or is asked for."""
    if search.found is not None:
        return view.base.report
    return services().runner.report(view.base) if view.base.short or view.state.report else view.base.report


def form_context(setup: Setup, kind: str, page: Page | None = None) -> dict[str, Any]:
    """What the form reads, with or without a replay below it."""
    return {
        "kind": kind,
        "setup": setup,
        "intake": panel(setup),
        "limit": services().settings.max_request_bytes,
        "tokenizer_limit": services().settings.tokenizer_upload_bytes,
        "decode_policies": list(POLICIES.items()),
        "options": options(setup, formats_folder(services().settings).formats),
        "template_report": template_report(setup.template, setup.prompt_tail)
        if setup.parser == RESPONSE_TEMPLATE
        else None,
        "template_examples": list(template_examples().values()),
        "page": page,
        "cards": list(examples().values()) if kind == "home" else [],
        "source_open": kind in {"home", "edit"}
        or "text" in setup.errors
        or "file" in setup.errors
        or bool(setup.errors),
    }
