"""The report as a page: all that the report says and nothing else, safe whatever an output or a file is called."""

from __future__ import annotations

import copy
import json
import re
from dataclasses import asdict
from functools import cache
from typing import Any

import pytest

from parsers.cases.io import load_case
from parsers.sweeps.cost_growth import growth
from parsers.sweeps.known_threads import Thread
from parsers.sweeps.report import report_json
from parsers.sweeps.report_html import report_html
from parsers.sweeps.second_stage import Studied, studied
from parsers.sweeps.shard import TOKEN, Cost, Plan, decoded, run_shard
from parsers.sweeps.signature import Signature
from parsers.sweeps.svg_plots import bar_plot, line_plot, number, share_bar
from parsers.sweeps.timing_html import timing_html

CALL = '<tool_call>\n{"name": "f", "arguments": {"n": 1}}\n</tool_call>'
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"n": {}}}}}]
TOLD = {"columns": {"text": "output"}, "parser": None, "engine": None, "contract": None, "policy": {}}
PLAN = {**TOLD, "chunkings": ["whole", {"by": "random", "seed": 0}]}
THREAD = Thread("vllm-1-lost", "vllm-project/vllm #1", "A call is <lost>", "https://example.org/1")
OUTPUTS = [f"Secret words. {CALL}".replace('"f"', '"secretly"'), CALL.replace("1}", "1,}"), CALL, CALL]


def report(*texts: str, words: bool = False, name: str = "corpus.jsonl", line: bytes | None = None) -> dict[str, Any]:
    rows: list[Any] = [{"output": text, "tools": TOOLS, "parser": "qwen"} for text in texts]
    rows += [] if line is None else [decoded(line)]
    columns = {"text": "output", "tools": "tools", "parser": "parser"}
    summary = run_shard(Plan(columns), [*enumerate(rows, 1)], (0, 0)).summary
    said = {
        one.id: _studied(one, json.dumps(tally.smallest.case), words)
        for one, tally in summary.tallies.items()
        if tally.smallest is not None and tally.smallest.case is not None
    }
    return report_json(summary, [name], PLAN, said, lambda one: [THREAD] if one.check == "arguments_json" else [])


@cache
def _studied(signature: Signature, case: str, words: bool) -> Studied:
    return studied(signature, load_case(json.loads(case)), words=words)


@cache
def full() -> dict[str, Any]:
    """The report of all of them, and of a line that is no JSON."""
    return report(*OUTPUTS, line=b"{")


@pytest.mark.replays
def test_it_says_what_the_report_says() -> None:
    page = report_html(full())
    for one in full()["signatures"]:
        for told in (one["words"], one["id"], one["check"], *one["examples"], f"cases/{one['id']}.case.json"):
            assert told in page
    assert f"<h1>{full()['sentence']}</h1>" in page
    assert "4 outputs in 5 rows · 1 the same as one before · 2 signatures</p>" in page
    assert page.count("<details>") == 2
    for told in ("the model</td>", "<code>qwen</code>", "the line is no JSON", "text=output", "timing.html"):
        assert told in page


@pytest.mark.replays
def test_nothing_in_it_is_loaded_or_run_and_threads_can_be_followed() -> None:
    page = report_html(full())
    assert re.findall(r"(?:src|href)=\"([^\"]*)", page) == [THREAD.link, "timing.html"]
    assert f'<a href="{THREAD.link}" rel="noreferrer noopener">{THREAD.words}</a>, A call is &lt;lost&gt;' in page
    assert "default-src 'none'" in page.replace("&#x27;", "'")
    assert [word for word in ("<script", "<link", "<img", "<style>@import", "url(", " on") if word in _tags(page)] == []


def _tags(page: str) -> str:
    """The page without its text."""
    return "".join(re.findall(r"<[^>]*>", page))


@pytest.mark.replays
def test_words_of_outputs_stand_in_it_only_where_they_were_asked_for() -> None:
    assert "secret" not in report_html(full()).lower()
    shown = report_html(report(*OUTPUTS, words=True))
    assert "secretly" in shown
    assert "its words replaced" not in shown


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", '" onload="x', "a&b", "line\nbreak\u202e", "\ud800"])
def test_no_name_of_a_file_is_markup(name: str) -> None:
    page = report_html(report(*OUTPUTS, name=name))
    assert _tags(page).count("<code>") == _tags(report_html(full())).count("<code>") - 1  # that of the line of no JSON
    assert "<script>" not in page
    assert " onload" not in _tags(page)
    assert "\u202e" not in page


def test_a_signature_without_a_case_says_so() -> None:
    found = copy.deepcopy(full())
    for one in found["signatures"]:
        one["smallest"] = {"row": "corpus.jsonl:1", **asdict(Studied(length=1))}
    page = report_html(found)
    assert page.count("No case is shown") == 2
    assert "<code>corpus.jsonl:1</code>, has 1 character." in page
    assert "<details>" not in page


def test_a_corpus_without_faults_or_outputs_is_a_short_page() -> None:
    page = report_html(report(CALL))
    assert "Nothing is wrong with any of 1 output." in page
    assert [word for word in ("<h2>Signatures", "<h2>At fault", "<h2>Not read") if word in page] == []
    assert "<h2>By parser" not in report_html(report())


def test_a_parser_of_an_engine_and_its_fault_are_named() -> None:
    found = copy.deepcopy(full())
    found["plan"] |= {"engine": {"name": "mine", "version": "vllm 9"}, "parser": "hermes", "contract": "vllm"}
    found["plan"] |= {"policy": {"unknown_tool": "drop"}}
    one = found["signatures"][0]
    one.update(about="parser", parser="mine:hermes", severity="error", words="text is lost beside `<tool_call>`")
    page = report_html(found)
    for told in (
        "the parser <code>mine:hermes</code>",
        "text is lost beside <code>&lt;tool_call&gt;</code>",
        "mine (vllm 9)",
        'class="lead error"',
        "<dd>vllm</dd>",
        "unknown_tool=drop",
    ):
        assert told in page


@pytest.mark.parametrize("comparable", [True, False])
def test_beside_another_sweep_what_is_new_is_marked(comparable: bool) -> None:
    new, old = full()["signatures"]
    kept = {key: new[key] for key in ("severity", "about", "words")}
    row = {"before": 0, "after": new["count"], "ids": [new["id"]], **kept}
    changes = {"new": [row], "gone": [], "more": [], "fewer": [], "same": 1, "comparable": comparable}
    page = report_html(full(), changes)
    assert f'{new["words"]}</strong><span class="new">new</span>' in page
    assert f'{old["words"]}</strong><span class="new">' not in page
    assert "1 new and 0 gone beside another sweep" in page
    assert ("counts do not compare" in page) != comparable
    same = report_html(full(), {**changes, "new": []})
    assert "1 came as often as before." in same
    assert "<td>new</td>" not in same


# Measured times.


def costs(power: float, *, outputs: int = 5, sizes: tuple[int, ...] = (7, 8, 9, 10)) -> dict[int, Cost]:
    return {
        size: Cost(outputs, outputs * TOKEN << size >> 1, outputs * 1e-6 * (1 << size >> 1) ** power) for size in sizes
    }


@pytest.mark.parametrize(
    ("found", "power"),
    [
        (costs(1), 1.0),
        (costs(2), 2.0),
        (costs(2, outputs=2), None),
        (costs(2, sizes=(7, 8)), None),
        (costs(2, sizes=(1, 2, 3, 4)), None),
        ({**costs(1), 3: Cost(9, 9, 1.0), 11: Cost(9, 90_000, 0.0)}, 1.0),
        ({}, None),
    ],
)
def test_how_a_cost_grows_is_told_by_its_power(found: dict[int, Cost], power: float | None) -> None:
    assert growth(found) == power


@pytest.mark.parametrize(
    ("power", "said"),
    [
        (1.0, "That does not grow faster than the length."),
        (2.0, "twice as long an output takes 4.0 times as long"),
        (None, "There are too few lengths"),
    ],
)
def test_the_page_of_times_names_what_is_quadratic(power: float | None, said: str) -> None:
    rows = [
        {"tokens": [1, 2], "outputs": 3, "seconds": 0.5, "microseconds_a_token": None},
        {"tokens": [512, 1024], "outputs": 1_000, "seconds": 12.25, "microseconds_a_token": 7.0},
    ]
    page = timing_html({"by_length": rows, "seconds": 12.75, "growth": power})
    assert said in page
    for told in ("1,003 outputs took 12.8 seconds", ">1k</text>", "512 to 1,024", 'href="report.html"'):
        assert told in page
    assert page.count("<svg") == 2


def test_a_sweep_without_outputs_has_no_plot() -> None:
    assert "<svg" not in timing_html({"by_length": [], "seconds": 0.0, "growth": None})


def test_a_plot_has_as_many_labels_as_there_is_room_for_and_the_last_of_them() -> None:
    plot = line_plot("Cost", "tokens", [(f"n{at}", float(at)) for at in range(25)])
    labels = re.findall(r">(n\d+)<", plot)
    assert (len(labels) <= 10, labels[-1]) == (True, "n24")
    assert plot.count("<circle") == 25


@pytest.mark.parametrize("points", [[], [("a", 0.0)], [("a", 1.0), ("b", 3.0)]])
def test_a_plot_stays_in_its_frame(points: list[tuple[str, float]]) -> None:
    heights = [float(one) for one in re.findall(r' height="([\d.]+)"', bar_plot("Outputs", "tokens", points))]
    assert len(heights) == len(points)
    assert all(0 <= height <= 152 for height in heights)
    assert ">nan<" not in line_plot("Cost", "tokens", points)


def test_numbers_and_shares_are_short() -> None:
    assert [number(one) for one in (0.0, 0.01234, 7.0, 99.96, 2778.9)] == ["0", "0.0123", "7", "100", "2,779"]
    assert 'width="33.33%"' in share_bar(1, 3, "error")
    assert 'width="0.00%"' in share_bar(0, 0, "error")
