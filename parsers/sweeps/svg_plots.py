"""Plots of a report as SVG inside of its page: bars of a share, and what something costs by length.

Every plot stands beside a table of the same numbers, so that nothing is known by a picture alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from parsers.cases.export.html_page import Html, join, tag

_LEFT, _RIGHT, _TOP, _BOTTOM, _HEIGHT, _WIDTH = 52, 592, 16, 168, 192, 608


def share_bar(part: int, whole: int, kind: str) -> Html:
    """A bar as long as the share; it says nothing that is not written beside it."""
    share = f"{100 * part / whole if whole else 0:.2f}%"
    back = tag("rect", class_="all", width="100%", height="8", rx="1")
    bar = tag("rect", class_=kind, width=share, height="8", rx="1")
    return tag("svg", back, bar, class_="bar", width="100%", height="8", aria_hidden="true")


def line_plot(label: str, unit: str, points: Sequence[tuple[str, float]]) -> Html:
    """A line through points, each with what stands below it; from 0 to the largest, which is above it."""
    most = max([value for _, value in points], default=0.0)
    places = [(_across(number, len(points)), _up(value, most)) for number, (_, value) in enumerate(points)]
    line = tag("polyline", class_="line", points=" ".join([f"{x:.1f},{y:.1f}" for x, y in places]))
    dots = [tag("circle", class_="dot", cx=f"{x:.1f}", cy=f"{y:.1f}", r="3") for x, y in places]
    return _plot(label, unit, most, [name for name, _ in points], join([line, *dots]))


def bar_plot(label: str, unit: str, points: Sequence[tuple[str, float]]) -> Html:
    """A bar for each point."""
    most = max([value for _, value in points], default=0.0)
    wide = min(40.0, 0.6 * (_RIGHT - _LEFT) / max(len(points), 1))
    bars = [
        tag(
            "rect",
            class_="column",
            x=f"{_across(number, len(points)) - wide / 2:.1f}",
            y=f"{_up(value, most):.1f}",
            width=f"{wide:.1f}",
            height=f"{_BOTTOM - _up(value, most):.1f}",
        )
        for number, (_, value) in enumerate(points)
    ]
    return _plot(label, unit, most, [name for name, _ in points], join(bars))


def _plot(label: str, unit: str, most: float, names: Sequence[str], drawn: Html) -> Html:
    axis = tag("path", class_="axis", d=f"M{_LEFT} {_TOP}V{_BOTTOM}H{_RIGHT}")
    sides = [_text(_LEFT - 6, _TOP + 4, number(most), "end"), _text(_LEFT - 6, _BOTTOM, "0", "end")]
    below = [
        _text(_across(at, len(names)), _BOTTOM + 16, name, "middle")
        for at, name in enumerate(names)
        if (len(names) - 1 - at) % -(-len(names) // 10) == 0  # as many as there is room for, the last among them
    ]
    said = f"{label}, {unit}"
    box = f"0 0 {_WIDTH} {_HEIGHT}"
    return tag("svg", axis, *sides, *below, drawn, class_="plot", viewBox=box, role="img", aria_label=said)


def number(value: float) -> str:
    """A number with as many places as it needs."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _across(at: int, many: int) -> float:
    return _LEFT + (at + 0.5) * (_RIGHT - _LEFT) / max(many, 1)


def _up(value: float, most: float) -> float:
    return _BOTTOM - (value / most if most else 0.0) * (_BOTTOM - _TOP)


def _text(x: float, y: float, words: str, anchor: str) -> Html:
    return tag("text", words, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor)
