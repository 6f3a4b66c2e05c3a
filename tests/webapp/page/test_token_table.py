"""What is worked out once about the tokens of a run: whose vocabulary they are of, and the badges."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient

from parsers.vocabulary.types import UsageError
from webapp.page import token_table
from webapp.page.badges import Subject
from webapp.page.running import Run
from webapp.page.token_table import badge_row, badges_of, known_tokens
from webapp.tokenizers import get_tokenizer

WORD = get_tokenizer("embedded").encode(" the")[0]


def stored(make: Any, *tokens: list[Any], **more: Any) -> Run:
    case = make.case("", "passthrough", **{"input": {"tokens": list(tokens)}, "source": {"kind": "recorded"}, **more})
    found: Run = make.runner.run(case)
    return found


def test_tokens_that_our_tokenizer_made_are_of_its_vocabulary(make: Any) -> None:
    known = known_tokens(make.run("a text"))
    assert known.vocabulary is not None
    assert (known.vocabulary.name, known.fates) == ("embedded", None)
    assert known_tokens(make.run("a text")) is known


@pytest.mark.parametrize(
    ("tokenizer", "tokens", "known"),
    [
        (None, [[WORD, " the"], [WORD, " the"]], False),
        ({"name": "embedded"}, [[40, "I"], [WORD, " the"]], True),
        ({"name": "embedded"}, [[40, "I"], [WORD, "other"]], False),
        ({"name": "embedded"}, [[40, "I"], [999_999, "?", {"hex": "00", "kind": "unknown"}]], True),
        ({"name": "embedded"}, [[None, "I"]], False),
        ({"name": "embedded", "fingerprint": get_tokenizer("embedded").fingerprint}, [[40, "I"]], True),
        ({"name": "nowhere"}, [[40, "I"]], False),
    ],
)
def test_stored_tokens_are_of_the_named_vocabulary_if_their_bytes_agree(
    make: Any, tokenizer: dict[str, str] | None, tokens: list[Any], known: bool
) -> None:
    run = stored(make, *tokens, **({"tokenizer": tokenizer} if tokenizer else {}))
    assert (known_tokens(run).vocabulary is not None) == known


def test_a_decode_policy_leaves_the_exact_tokens_beside_the_decoded_ones(make: Any) -> None:
    marker = [7, "<x>", {"kind": "special"}]
    run = stored(make, [40, "I"], marker, decode={"skip_special_tokens": True})
    known = known_tokens(run)
    assert [piece.text for piece in known.exact] == ["I", "<x>"]
    assert known.fates is not None
    assert known.fates[1].skipped
    chip = known.chip(1)
    assert chip is not None
    assert chip.kind == "skipped"
    labels = {badge.name: badge.label for badge in badges_of(run)}
    assert (labels["decoded"], labels["policy"]) == ("1 special token skipped", "special tokens skipped")


def test_a_badge_leads_to_the_step_of_its_token(make: Any) -> None:
    row = badge_row(make.run("ab\ufffd"))
    steps = {badge.name: step for badge, step in row.badges}
    assert steps["replaced"] == len(make.run("ab\ufffd").pieces)
    assert steps["policy"] is None
    assert "warning" in row.summary


def test_a_tokenizer_that_fails_leaves_the_other_statements(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def badges(subject: Subject) -> list[Any]:
        if subject.vocabulary is not None:
            raise UsageError("the tokenizer took too long")
        return []

    monkeypatch.setattr(token_table, "badges", badges)
    run = make.run("another text that nobody ran")
    assert badges_of(run) == []
    assert badge_row(run).summary == "all fine"


def test_the_page_has_the_badges_and_the_toggle(client: FlaskClient) -> None:
    page = client.get("/example/two-calls-with-prose?equal=1").text
    assert page.count('class="token-badge ') == 10
    assert 'data-equal="1"' in page
    assert 'data-equal-toggle aria-pressed="true"' in page


def test_a_long_output_has_its_badges_with_the_report(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webapp.page.running.SHORT", 3)
    form = {"text": "more than three tokens, badges later", "parser": "passthrough"}
    assert 'class="badges' not in client.post("/run", data=form).text
    htmx = {"HX-Request": "true", "HX-Request-Type": "partial", "HX-Target": "div#inspector"}
    report = client.post("/run", data={**form, "report": "1"}, headers=htmx).text
    assert 'class="badges' in report
    assert '<hx-partial hx-target="#findings"' in report
    assert 'id="strip"' not in report
    assert 'class="badges' in client.post("/run", data=form).text


def test_decode_options_of_the_form_are_in_the_case_and_in_the_header(client: FlaskClient) -> None:
    form = {"text": "a text", "parser": "passthrough", "decode_policy": "sglang", "skip_special": "1", "stop": "END"}
    page = client.post("/run", data=form).text
    assert "markers by text, sglang, special tokens skipped, stop" in page
    assert 'value="sglang" checked' in page
    assert "END</textarea>" in page


@pytest.mark.parametrize(
    ("form", "field"), [({"decode_policy": "loud"}, "decode_policy"), ({"include_stop": "1"}, "decode_policy")]
)
def test_decode_options_that_make_no_sense_are_said_at_their_field(
    client: FlaskClient, form: dict[str, str], field: str
) -> None:
    answer = client.post("/run", data={"text": "a text", "parser": "passthrough", **form})
    assert answer.status_code == 422
    assert f'id="{field}-error"' in answer.text
