"""An output that is edited: what it becomes and its quick verdict, or why there is none."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

OUTPUT = 'Hi.\n<tool_call>\n{"name": "f", "arguments": {"a": "b"}}\n</tool_call>'
PARTIAL = {"HX-Request": "true", "HX-Request-Type": "partial"}


def live(client: FlaskClient, text: str, **more: str) -> str:
    answer = client.post("/live", data={"text": text, "parser": "qwen", **more}, headers=PARTIAL)
    assert answer.status_code == 200
    return " ".join(answer.text.split())


def test_an_edited_output_is_replayed_and_judged_quickly(client: FlaskClient) -> None:
    html = live(client, OUTPUT)
    assert "checks hold under 2 replays." in html
    assert "quick verdict" in html
    assert f"{len(OUTPUT)} characters, " in html
    assert '<h3 id="live-call-0">' in html
    assert "<code>tool_calls</code>" in html


def test_a_fault_is_said(client: FlaskClient) -> None:
    html = live(client, OUTPUT.replace('"b"', ""))
    assert "severity-warning" in html
    assert "The arguments of call 0 (<code>f</code>) are no JSON object: at character " in html


def test_of_no_output_there_is_nothing_to_judge(client: FlaskClient) -> None:
    assert "is not judged." in live(client, "")


def test_a_log_that_is_typed_is_text_all_the_same(client: FlaskClient) -> None:
    assert "chat.completion" in live(client, '{"object": "chat.completion"}')


def test_nothing_is_recognised_while_somebody_types(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webapp.page.form.setup.recognise", lambda *_, **__: pytest.fail("it was looked at"))
    assert "quick verdict" in live(client, f"POST /v1 HTTP/1.1\n\n{OUTPUT}")


@pytest.mark.parametrize(
    ("text", "more", "said"),
    [
        ("word " * 600, {"tools": "[{]"}, "is not judged."),
        ("a " * 3_000, {}, "The output text has 6,000 bytes"),
        ("x", {"parser": "no_such"}, "no_such"),
    ],
)
def test_what_cannot_be_replayed_is_said(client: FlaskClient, text: str, more: dict[str, str], said: str) -> None:
    html = live(client, text, **more)
    assert said in html
    assert "Nothing was replayed." in html


@pytest.mark.replays
def test_of_very_many_calls_the_first_are_shown(client: FlaskClient) -> None:
    calls = "".join(f'<tool_call>{{"name": "f{n}", "arguments": {{}}}}</tool_call>' for n in range(62))
    assert "⋯ 2 more calls ⋯" in live(client, calls)


def test_nothing_of_what_is_typed_is_kept(client: FlaskClient) -> None:
    runner = client.application.extensions["inspector"].runner
    before = runner.used
    assert "quick verdict" in live(client, f"Typed. {OUTPUT}")
    assert runner.used == before


def test_a_long_output_is_neither_replayed_nor_judged(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webapp.page.inspect.live.LIVE_TOKENS", 10)
    monkeypatch.setattr("webapp.runs.runner.Runner.run", lambda *_: pytest.fail("it was replayed"))
    assert "Live is off: the output has" in live(client, OUTPUT)
