"""Who got which character: runs of one role, the legend, and what was dropped."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from flask.testing import FlaskClient

from parsers.vocabulary.drops import stated
from parsers.vocabulary.trace import Ownership
from webapp.page.inspect.index import LEGEND, build, destinations, index_of, ownership, read_only, runs
from webapp.page.inspect.tokens import strip
from webapp.page.inspect.window import window_around

CALL = 'Hi.\n<tool_call>\n{"name": "f", "arguments": {"a": "b c", "n": 3}}\n</tool_call>\n'
OWNED = '<think>Hm. </think>Hi.\n<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>\n'
EXAMPLE = "/example/call-inside-reasoning"


@pytest.mark.parametrize("parser", ["qwen", "passthrough"])
def test_runs_tile_the_output_and_are_split_at_holds(make: Any, parser: str) -> None:
    run = make.run(CALL, parser)
    for step in run.trace.steps:
        found = runs(index_of(run), 0, len(CALL), step.holds)
        assert "".join(item.text for item in found) == CALL
        held = "".join(item.text for item in found if item.held)
        assert held == run.trace.held_text(step)


def test_the_ends_of_an_owner_are_marked_once(make: Any) -> None:
    run = make.run(CALL)
    found = runs(index_of(run), 0, len(CALL), (), cuts=range(len(CALL)))
    owned = [item for item in found if item.role != "marker"]  # markers begin and end inside their owner, too
    owners = [one for one in run.trace.partition if one.owner != "marker"]
    assert sum(item.first for item in owned) == sum(item.last for item in owned) == len(owners)


def test_destinations_are_in_words(make: Any) -> None:
    run = make.run(CALL)
    place = CALL.index("b c")
    assert [item.text for item in destinations(index_of(run), place, place + 3)] == ["tool_calls[0].arguments"]
    assert [item.text for item in destinations(index_of(run), 0, 2)] == ["content"]
    assert destinations(index_of(run), len(CALL) - 1, len(CALL))[0].detail


@pytest.mark.parametrize(
    ("text", "roles"),
    [
        ("", ""),
        ("dropped", "dropped"),
        ("dropped,arguments,dropped", "arguments,dropped"),
        ("nonsense, name,held", "held"),
    ],
)
def test_a_filter_is_read_kindly(text: str, roles: str) -> None:
    assert read_only(text) == roles


def test_every_role_says_how_many_characters_it_has(make: Any) -> None:
    run = make.run(OWNED)
    found = ownership(index_of(run), 1, "")
    assert [item.role for item in found.toggles] == list(LEGEND)
    sizes = {item.role: item.characters for item in found.toggles}
    assert sum(size for role, size in sizes.items() if role != "held") == len(OWNED)
    assert (sizes["arguments"], sizes["name"], sizes["held"]) == (8, 1, 0)
    held = next(step for step in run.trace.steps if step.holds)
    assert ownership(index_of(run), held.index, "").toggles[5].label.startswith("held, ")
    assert ownership(index_of(run), held.index, "").toggles[5].characters > 0


def test_pressing_a_role_adds_it_and_pressing_it_again_takes_it_away(make: Any) -> None:
    toggles = {item.role: item for item in ownership(index_of(make.run(OWNED)), 1, "name,dropped").toggles}
    assert [role for role, item in toggles.items() if item.pressed] == ["name", "dropped"]
    assert toggles["dropped"].only == "name"
    assert toggles["content"].only == "content,name,dropped"
    assert ownership(index_of(make.run(OWNED)), 1, "name").toggles[2].only == ""


def test_drops_are_listed_by_reason_with_their_places(make: Any) -> None:
    run = make.run(OWNED)
    (drop,) = [item for item in ownership(index_of(run), 1, "").drops if "reasoning" in item.reason]
    place = OWNED.index(" </think>")
    assert drop.places == [(f"{place}–{place + 1}", index_of(run).step_at(place))]
    assert drop.words == "1 place, 1 character"


def test_many_drops_are_counted(make: Any) -> None:
    run = make.fresh("x" * 40, "passthrough")
    owners = [Ownership(at, at + 1, "dropped" if at % 2 else "content", stated(f"reason {at % 3}")) for at in range(40)]
    owners[1].reason = None
    run.trace.partition = owners
    found = ownership(index_of(run), 1, "")
    assert [len(drop.places) for drop in found.drops] == [6, 6, 6, 1]
    assert (found.drops[0].more, found.drops[-1].reason, found.dropped) == (
        1,
        "no reason given",
        "20 places, 20 characters",
    )
    for at, owner in enumerate(owners):
        owner.reason = stated(f"reason {at}")
    assert ownership(build(run.trace, run.pieces), 1, "").hidden == 16


def test_what_was_dropped_says_why_on_the_token(make: Any) -> None:
    run = make.run(OWNED, tokenizer={"name": "characters"})
    drawn = strip(index_of(run), run.pieces, window_around(index_of(run), 1), 1)
    token = drawn.tokens[OWNED.index(" </think>")]
    assert "dropped: white space" in token.label
    assert token.runs[0].title.startswith("dropped: white space")
    assert drawn.tokens[0].runs[0].title == ""


def test_the_legend_filters_with_links(client: FlaskClient) -> None:
    page = html.unescape(client.get(f"{EXAMPLE}?step=9&only=dropped,name").text)
    assert 'data-show="tokens" data-only="name dropped"' in page
    legend = page[page.index('<footer class="legend') :]
    pressed = re.findall(r'aria-label="(\w+), [^"]*" role="button" data-role-toggle="\w+" aria-pressed="true"', legend)
    assert pressed == ["name", "dropped"]
    assert f'href="{EXAMPLE}?step=9&only=dropped" ' in legend
    assert '<input type="hidden" name="only" value="name,dropped" data-view="only" data-changed="1">' in page
    assert re.search(rf'<a href="{EXAMPLE}\?step=9" class="role-all" data-role-all>show all</a>', legend)


def test_a_run_without_address_filters_with_buttons(client: FlaskClient, make: Any) -> None:
    case = make.case(OWNED).model_dump_json(by_alias=True, exclude_defaults=True)
    page = html.unescape(client.post("/run", data={"case": case, "go": "only=dropped"}).text)
    assert 'data-only="dropped"' in page
    assert re.search(
        r'<button type="submit" form="cursor" name="go" value="only=name,dropped" class="role-toggle"', page
    )


def test_drops_stand_below_the_text_with_links(client: FlaskClient) -> None:
    page = html.unescape(client.get(EXAMPLE).text)
    assert "<span>1 place, 1 character: white space at the end of reasoning</span>" in page
    assert re.search(r'class="drop-places"><a href="[^"]*step=\d+" data-step="\d+">33–34</a>', page)
    assert 'title="dropped: white space at the end of reasoning"' in page
