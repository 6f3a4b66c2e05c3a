"""What outputs cost by their length, as a page of its own: measured times, which are others every time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from parsers.cases.export.html_page import Html, document, table, tag
from parsers.sweeps.cost_growth import FASTER, SHORTEST
from parsers.sweeps.report_html import section
from parsers.sweeps.report_style import REPORT_STYLE
from parsers.sweeps.svg_plots import bar_plot, line_plot, number


def timing_html(timing: Mapping[str, Any]) -> str:
    """The page of what `timing.json` holds."""
    rows: Sequence[Mapping[str, Any]] = timing["by_length"]
    told = [section("Cost by length", *_plots(rows), _table(rows))] if rows else []
    link = tag("p", tag("a", "report.html", href="report.html"), " says what is wrong.", class_="quiet")
    return document("Measured times of a sweep", REPORT_STYLE, tag("main", _head(timing), *told, link))


def _head(timing: Mapping[str, Any]) -> Html:
    outputs = sum([row["outputs"] for row in timing["by_length"]])
    said = f"{outputs:,} outputs took {timing['seconds']:,.1f} seconds of a core to look at. {_grown(timing['growth'])}"
    note = "Equal outputs are looked at once. Measured on one machine at one time: no other sweep compares with it."
    return tag("header", tag("h1", said), tag("p", note, class_="quiet"), class_="lead")


def _grown(growth: float | None) -> str:
    if growth is None:
        return "There are too few lengths to say how that grows."
    if growth >= FASTER:
        return f"That grows faster than the length: twice as long an output takes {2**growth:.1f} times as long."
    return "That does not grow faster than the length."


def _plots(rows: Sequence[Mapping[str, Any]]) -> list[Html]:
    timed = [(_length(row), row["microseconds_a_token"]) for row in rows if row["tokens"][0] >= SHORTEST]
    cost = line_plot("Microseconds a token by the length of outputs", "up to so many tokens", timed)
    many = [(_length(row), float(row["outputs"])) for row in rows]
    return [
        *[tag("h3", f"Microseconds a token, from {SHORTEST} tokens on"), cost] * bool(timed),
        tag("h3", "Outputs"),
        bar_plot("Outputs by their length", "up to so many tokens", many),
    ]


def _length(row: Mapping[str, Any]) -> str:
    end: int = row["tokens"][1]
    return f"{end // 1024}k" if end >= 1024 else str(end)


def _table(rows: Sequence[Mapping[str, Any]]) -> Html:
    told = [
        (
            f"{row['tokens'][0]:,} to {row['tokens'][1]:,}",
            f"{row['outputs']:,}",
            number(row["seconds"]),
            "" if row["microseconds_a_token"] is None else number(row["microseconds_a_token"]),
        )
        for row in rows
    ]
    return table(("tokens", "outputs", "seconds", "microseconds a token"), told, "Cost by length")
