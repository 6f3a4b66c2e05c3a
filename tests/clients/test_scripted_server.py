"""What the scripted server sends through each API is read as the story it tells, with a fair verdict, by no client."""

from __future__ import annotations

from urllib.request import Request, urlopen

import pytest

from tests.clients.judged import as_recorded, wrong_in
from tests.clients.scripted_server import answered, serving
from tests.clients.told import TOLD

PATHS = {
    "chat": "/v1/chat/completions", "groq": "/openai/v1/chat/completions", "mistral": "/mistral/v1/chat/completions",
    "responses": "/v1/responses", "messages": "/v1/messages", "ollama": "/api/chat",
    "gemini": "/v1beta/models/{}:streamGenerateContent", "gemini_whole": "/v1beta/models/{}:generateContent",
}  # fmt: skip

pytestmark = pytest.mark.replays


@pytest.mark.parametrize("streams", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize("story", TOLD)
@pytest.mark.parametrize("api", PATHS)
def test_what_an_api_sends_is_the_story(api: str, story: str, streams: bool) -> None:
    path = PATHS[api].format(f"x-{story}")
    sent = answered(path, {"stream": streams} | ({} if "{}" in PATHS[api] else {"model": f"x-{story}"}))
    assert wrong_in(as_recorded("none", story, f"{api}_sent", sent.body.decode())) == []


def test_it_is_served() -> None:
    with serving() as address, urlopen(Request(f"{address}/v1/messages", b"{}")) as answer:
        assert answer.headers["Content-Type"] == "application/json"
        assert b"get_weather" in answer.read()
