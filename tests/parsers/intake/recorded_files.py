"""What real clients printed of one server that told six stories, and the message that each story is.

`recorded/*.json` hold what clients of `tests/clients/scripted_server.py` and of its like for other APIs printed, with
the client and its version; `make test-clients` lets them print anew. Clients change some of it: arguments that are no
JSON become objects or are left out.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from parsers.intake import Intake
from parsers.vocabulary.types import Recording
from parsers.wire.read import read_stream
from tests.clients.told import CALL, TOLD, Told

FOLDER = Path(__file__).parent / "recorded"


class Story(NamedTuple):
    """A scenario: what the model thought and said, the names of its calls, and all arguments in order."""

    reasoning: str = ""
    content: str = ""
    names: tuple[str, ...] = ()
    arguments: str = ""


def _story(told: Told) -> Story:
    names, arguments = [call.name for call in told.calls], [call.arguments for call in told.calls]
    return Story(told.reasoning, told.content, tuple(names), "".join(arguments))


STORIES = {name: _story(told) for name, told in TOLD.items()}
# What clients make of arguments that are no JSON, and of a second call that they take for a part of the first.
_MENDED = {
    "brace": (CALL, "{}", ""), "dup": (CALL, "{}", ""), "idx": (CALL, CALL + "{}", CALL + '""'),
}  # fmt: skip


class Recorded(NamedTuple):
    """One print. `lost`: the client left parts out, as `[Object]`."""

    client: str
    shape: str
    story: str
    text: str
    lost: bool


def recorded() -> list[Recorded]:
    """All that was recorded."""
    found: list[Recorded] = []
    for path in sorted(FOLDER.glob("*.json")):
        for shape, stories in json.loads(path.read_text("utf-8"))["shapes"].items():
            found += [Recorded(path.stem, shape, name, one["text"], "lost" in one) for name, one in stories.items()]
    return found


def message(output: Recording) -> Story:
    """The message that an output of the intake holds: of raw text nothing but the text."""
    if output.stream is None:
        return Story(content=output.text or "")
    deltas = [chunk.delta for chunk in read_stream(output.stream) if chunk.delta is not None]
    calls = [call for delta in deltas for call in delta.tool_calls]
    return Story(
        "".join([delta.reasoning or "" for delta in deltas]),
        "".join([delta.content or "" for delta in deltas]),
        tuple([call.name for call in calls if call.name]),
        "".join([call.arguments or "" for call in calls]),
    )


def _close(text: str) -> str:
    return "".join(text.split())


def differences(said: Story, name: str, *, part: bool) -> list[str]:
    """What of a message is not the story; a `part` of one need not say its texts, a print not its reasoning."""
    story = STORIES[name]
    arguments = {_close(one) for one in (story.arguments, *_MENDED.get(name, ()))}
    checks = {
        "content": part or said.content.strip() == story.content,
        "reasoning": said.reasoning.strip() in ("", story.reasoning),
        "names": said.names == story.names,
        "arguments": _close(said.arguments) in arguments,
    }
    return [f"{field}: {getattr(said, field)!r}" for field, right in checks.items() if not right]


_PARTS = ("calls", "delta_fn", "call0", "invalid", "block_last", "item_last")


def faults(found: Intake, one: Recorded) -> list[str]:
    """What of an intake is not the story that was recorded."""
    if found.recording is None or not found.usable:
        return [found.message]
    part = any(name in one.shape for name in _PARTS)
    return differences(message(found.recording), one.story, part=part) if len(found.outputs) == 1 else ["several"]


# Shapes that are damaged in every way, of the story in which all is well.
BASES = (
    "curl_sN", "curl_json", "jq_whole", "jq_message", "oai_chunk_print", "oai_message", "oai_delta_dict",
    "anthropic_sse", "ollama_ndjson", "lc_print", "js_chunk_inspect", "gem_answer", "ai_full_json", "responses_json",
)  # fmt: skip
BY_SHAPE = {one.shape: one for one in recorded() if one.story == "good" and one.shape in BASES}
