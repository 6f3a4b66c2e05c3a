"""The report of a sweep as one HTML file that is read offline: nothing in it is loaded, run or sent.

It is made of the report alone, and of what changed beside another sweep: no measured time, no date and no host shows in
it. No output stands in it that the report does not hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from parsers.cases.export.html_page import Child, Html, block, code, document, file, join, table, tag, text
from parsers.cases.jsontext import plain
from parsers.sweeps.report import FAULT, code_parts, percent
from parsers.sweeps.report_style import REPORT_STYLE
from parsers.sweeps.svg_plots import share_bar

_Data = Mapping[str, Any]
_HEADER = ("what is wrong", "at fault", "share", "outputs", "first rows")


def report_html(report: _Data, changes: _Data | None = None) -> str:
    """The whole file."""
    parts = [
        _head(report, changes),
        _signatures(report, changes),
        tag("div", _faults(report), _parsers(report), class_="beside"),
        _changes(changes),
        _not_read(report),
        _asked(report["plan"]),
        _times(),
    ]
    return document("Report of a sweep", REPORT_STYLE, tag("main", *parts))


def section(title: str, *children: Child) -> Html:
    """A part of the page with its heading."""
    return tag("section", tag("h2", title), *children)


def _head(report: _Data, changes: _Data | None) -> Html:
    kind = "" if not report["wrong"] else " error" if _errors(report) else " warning"
    found = len(report["signatures"])
    said = [f"{_many(report['outputs'], 'output')} in {_many(report['rows'], 'row')}"]
    said += [f"{report['repeated']:,} the same as one before"] * bool(report["repeated"])
    said += [f"{report['cut_off']:,} cut off inside a call"] * bool(report["cut_off"])
    said += [_many(found, "signature")] * bool(found)
    if changes is not None:
        said.append(f"{len(changes['new'])} new and {len(changes['gone'])} gone beside another sweep")
    told = tag("p", Html(" · ".join(map(text, said))), class_="quiet")
    return tag("header", tag("h1", _words(report["sentence"])), told, class_=f"lead{kind}")


def _errors(report: _Data) -> bool:
    return any(one["severity"] == "error" for one in report["signatures"])


def _signatures(report: _Data, changes: _Data | None) -> Html | None:
    if not report["signatures"]:
        return None
    fresh = {id_ for row in changes["new"] for id_ in row["ids"]} if changes is not None else set()
    most = max([one["count"] for one in report["signatures"]])
    head = tag("thead", tag("tr", *[tag("th", name, scope="col", role="columnheader") for name in _HEADER], role="row"))
    bodies = [_signature(one, report["outputs"], most, one["id"] in fresh) for one in report["signatures"]]
    return section("Signatures", tag("table", head, *bodies, class_="signatures", role="table"))


def _signature(one: _Data, outputs: int, most: int, new: bool) -> Html:
    """Two rows: what it is and how often it came, and what can be opened."""
    named = [tag("strong", _words(one["words"])), *[tag("span", "new", class_="new")] * new]
    facts = tag("div", tag("span", one["severity"], class_=one["severity"]), " ", code(one["check"]), " ",
                code(one["id"], class_="quiet"))  # fmt: skip
    share = tag("div", share_bar(one["count"], most, one["severity"]), percent(one["count"], outputs), class_="share")
    cells = [
        _cell("wrong", *named, facts),
        _cell("fault", _fault(one)),
        _cell("shares", share),
        _cell("number", f"{one['count']:,}"),
        _cell("rows", _rows(one["examples"])),
    ]
    more = tag("td", *_threads(one), _smallest(one), colspan=str(len(_HEADER)), role="cell")
    return tag("tbody", tag("tr", *cells, role="row"), tag("tr", more, role="row", class_="more"), role="rowgroup")


def _rows(names: Sequence[str]) -> Html:
    """Ids of rows, which are broken into lines between them."""
    return Html(" ".join([code(name) for name in names]))


def _cell(kind: str, *children: Child) -> Html:
    return tag("td", *children, class_=kind, role="cell")


def _fault(one: _Data) -> Html:
    who = FAULT[one["about"]]
    return join([who, " ", code(one["parser"])]) if one["parser"] else join([who])


def _threads(one: _Data) -> Iterator[Html]:
    for thread in one["threads"]:
        link = tag("a", thread["words"], href=thread["link"], rel="noreferrer noopener")
        yield tag("p", "Reported with this signature: ", link, f", {thread['title']}")


def _smallest(one: _Data) -> Html:
    found = one["smallest"]
    if found["case"] is None:
        where = join(["in ", code(found["row"])]) if found["row"] else join([])
        why = "No case is shown: it does not show the same without its words, or is too long. The smallest output, "
        return tag("p", why, where, f", has {_many(found['length'], 'character')}.", class_="quiet")
    written = f"{_many(found['length'], 'character')}{', its words replaced' * found['redacted']}"
    kept = join(["As a file: ", code(f"cases/{one['id']}.case.json"), ", found in ", code(found["row"])])
    return tag(
        "details",
        tag("summary", f"Smallest case, {written}"),
        tag("p", found["headline"]) if found["headline"] else None,
        block(_output(found["case"])),
        tag("p", kept, class_="quiet"),
        file(plain(found["case"], 2)),
    )


def _output(case: _Data) -> str:
    """The output of a case, whatever way it is written."""
    given = case["input"].get("text", "")
    return given if isinstance(given, str) else "".join(given)


def _faults(report: _Data) -> Html | None:
    blamed = report["blamed"]
    if not any(blamed.values()):
        return None
    whole = sum(blamed.values())
    rows = [(FAULT[about], share_bar(count, whole, "part"), f"{count:,}", percent(count, whole))
            for about, count in blamed.items()]  # fmt: skip
    return section("At fault", table(("whose", "share", "count", ""), rows, "At fault"))


def _parsers(report: _Data) -> Html | None:
    if not report["parsers"]:
        return None
    rows = [
        (code(one["name"]), share_bar(one["wrong"], one["outputs"], "error"), f"{one['outputs']:,}",
         f"{one['wrong']:,} ({percent(one['wrong'], one['outputs'])})", f"{one['cut']:,}")
        for one in report["parsers"]
    ]  # fmt: skip
    header = ("parser", "wrong", "outputs", "wrong", "cut off")
    return section("By parser", table(header, rows, "By parser"))


def _changes(changes: _Data | None) -> Html | None:
    if changes is None:
        return None
    rows: list[Sequence[Child]] = [
        (kind, f"{one['before']:,}", f"{one['after']:,}", one["severity"], FAULT[one["about"]], _words(one["words"]))
        for kind in ("new", "gone", "more", "fewer")
        for one in changes[kind]
    ]
    said = f"{changes['same']} came as often as before."
    said += " Other outputs were read there than here: counts do not compare." * (not changes["comparable"])
    told = table(("", "before", "now", "severity", "at fault", "what is wrong"), rows, "Changes") if rows else None
    return section("Beside another sweep", told, tag("p", said, class_="quiet"))


def _not_read(report: _Data) -> Html | None:
    if not report["skipped"]:
        return None
    rows = [(one["words"], f"{one['count']:,}", _rows(one["examples"]))
            for one in report["skipped"]]  # fmt: skip
    return section("Not read", table(("why", "rows", "first rows"), rows, "Not read"))


def _asked(plan: _Data) -> Html:
    """How the corpus was read."""
    engine = plan["engine"]
    told: list[tuple[str, Child]] = [
        ("columns", ", ".join([f"{key}={path}" for key, path in plan["columns"].items()])),
        ("parser", plan["parser"] or "that of each row, else auto"),
        ("engine", f"{engine['name']} ({engine['version']})" if engine else ""),
        ("contract", plan["contract"] or ""),
        ("policies", ", ".join([f"{key}={value}" for key, value in plan["policy"].items()])),
        ("replayed", ", ".join([one if isinstance(one, str) else plain(one) for one in plan["chunkings"]])),
    ]
    rows = [tag("div", tag("dt", name), tag("dd", words)) for name, words in told if words]
    return section("How it was read", tag("dl", *rows, class_="told"))


def _times() -> Html:
    link = tag("a", "timing.html", href="timing.html")
    return tag("p", "Measured times stand in ", link, " beside this file.", class_="quiet")


def _words(told: str) -> Html:
    return join([code(part) if number % 2 else part for number, part in enumerate(code_parts(told))])


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"
