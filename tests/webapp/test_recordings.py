"""From a recording to a case: every form of an output, with and without the tokenizer that its ids need."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from parsers.cases.io import load_case
from parsers.intake import recognise
from parsers.vocabulary.types import Piece, RecordedDelta, Recording, Request, UsageError
from webapp.recordings import RecordingError, asked, taken
from webapp.runs.runner import Runner
from webapp.settings import Settings
from webapp.tokenizers import get_tokenizer

FILES = Path(__file__).parents[1] / "parsers" / "intake" / "files"
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
CHUNK = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "Hi"}, "logprobs": {"x": 1}}]}
NEEDED = "choose the model's own tokenizer"


class Real:
    """The embedded vocabulary, passing for a model's own."""

    name, realism, fingerprint = "real", "real", "f" * 64

    def __init__(self) -> None:
        self._inner = get_tokenizer("embedded", {"<tool_call>": True, "</tool_call>": True})

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


@pytest.fixture
def real(monkeypatch: pytest.MonkeyPatch) -> Real:
    """The tokenizer called real."""
    adapter = Real()
    others = get_tokenizer
    monkeypatch.setattr("webapp.recordings.get_tokenizer", lambda name: adapter if name == "real" else others(name))
    return adapter


def case_of(recording: Recording, tokenizer: str | None = None) -> Any:
    return load_case(taken(recording, tokenizer).data)


def ids_of(real: Real, text: str) -> tuple[int, ...]:
    return tuple(real.encode(text))


def test_text_alone_is_the_input() -> None:
    case = case_of(Recording("Hi"))
    assert (case.text(), case.source, case.tokenizer) == ("Hi", None, None)


def test_recorded_deltas_stay_and_name_their_source() -> None:
    deltas = (RecordedDelta("H", (1,)), RecordedDelta("i"))
    case = case_of(Recording("Hi", kind="sse_log", deltas=deltas, finish_reason="stop"))
    assert [(delta.text, delta.ids) for delta in case.input.deltas] == [("H", (1,)), ("i", None)]
    assert (case.source.kind, case.mode(), case.context.finish_reason) == ("sse_log", "text", "stop")


def test_text_with_ids_is_replayed_as_text_until_a_tokenizer_is_chosen(real: Real) -> None:
    recording = Recording("Hi", kind="json_response", ids=ids_of(real, "Hi"))
    found = taken(recording)
    assert (found.decoded, found.data["input"]) == (False, {"text": "Hi"})
    assert "wait for the model's own tokenizer" in found.notes[0]
    assert taken(recording, "real").decoded


def test_ids_become_tokens_and_deltas_by_their_counts(real: Real) -> None:
    text = "<tool_call>\nabc"
    ids = ids_of(real, text)
    case = case_of(Recording(None, kind="token_ids", ids=ids, counts=(1, len(ids) - 1)), "real")
    assert (case.text(), case.mode(), case.source.kind) == (text, "ids", "token_ids")
    assert [delta.text for delta in case.input.deltas] == ["<tool_call>", "\nabc"]
    assert case.input.tokens[0].kind == "special"
    assert (case.tokenizer.name, case.tokenizer.fingerprint) == ("real", real.fingerprint)


@pytest.mark.parametrize("counts", [None, (1,)])
def test_counts_that_do_not_add_up_leave_the_deltas_out(real: Real, counts: tuple[int, ...] | None) -> None:
    recording = Recording(None, kind="sse_log", ids=ids_of(real, "hello world"), counts=counts)
    assert case_of(recording, "real").input.deltas is None
    assert case_of(recording, "real").source.kind == "recorded"


def test_deltas_with_ids_stay_beside_the_tokens_they_spell(real: Real) -> None:
    ids = ids_of(real, "hello world")
    deltas = (RecordedDelta("hello ", ids[:1]), RecordedDelta("world", ids[1:]))
    case = case_of(Recording("hello world", kind="sse_log", ids=ids, deltas=deltas), "real")
    assert [delta.ids for delta in case.input.deltas] == [ids[:1], ids[1:]]
    other = (RecordedDelta("hello world", (7,)),)
    case = case_of(Recording("hello world", kind="sse_log", ids=ids, deltas=other), "real")
    assert case.input.deltas[0].ids is None


def test_ids_that_came_at_once_are_aligned_with_the_texts_of_the_chunks(real: Real) -> None:
    ids = ids_of(real, "hello world</tool_call>")
    deltas = (RecordedDelta("hell"), RecordedDelta("o wor"), RecordedDelta("ld"))
    chunks = [{"reasoning_content": "hell"}, {"content": "o wor"}, {"content": "ld"}, {}]
    stream = tuple([{"object": CHUNK["object"], "choices": [{"index": 0, "delta": one}]} for one in chunks])
    found = taken(Recording(None, kind="sse_log", ids=ids, stream=stream), "real")
    case: Any = load_case(found.data)
    assert sum([delta.ids for delta in case.input.deltas], ()) == ids
    assert "".join([delta.text for delta in case.input.deltas]) == case.text() == "hello world</tool_call>"
    assert any("follows from the texts of the chunks" in note for note in found.notes)
    late = case_of(Recording("hello world", kind="sse_log", ids=ids[:-1], deltas=deltas), "real")
    assert [delta.text for delta in late.input.deltas] == ["hell", "o wor", "ld"]
    assert sum([delta.ids for delta in late.input.deltas], ()) == ids[:-1]


def test_text_that_came_later_than_its_ids_stays_late(real: Real) -> None:
    ids = ids_of(real, "hello world")
    deltas = (RecordedDelta("", ids[:1]), RecordedDelta("hello world", ids[1:]))
    counts = (1, len(ids) - 1)
    case = case_of(Recording("hello world", kind="sse_log", ids=ids, counts=counts, deltas=deltas), "real")
    assert [(delta.text, delta.ids) for delta in case.input.deltas] == [("", ids[:1]), ("hello world", ids[1:])]


def test_ids_beside_the_text_of_each_delta_are_decoded_too(real: Real) -> None:
    ids = ids_of(real, "abc</tool_call>")
    recording = Recording("abc", "chunk_list", deltas=(RecordedDelta("abc", ids[:-1]), RecordedDelta("", ids[-1:])))
    case = case_of(recording, "real")
    assert (case.text(), case.mode()) == ("abc</tool_call>", "ids")
    assert [delta.ids for delta in case.input.deltas] == [ids[:-1], ids[-1:]]
    assert taken(recording).data["input"]["text"] == "abc"


def test_recorded_text_may_lack_special_tokens_but_nothing_else(real: Real) -> None:
    ids = ids_of(real, "<tool_call>abc</tool_call>")
    assert case_of(Recording("abc", kind="sse_log", ids=ids), "real").text() == "<tool_call>abc</tool_call>"
    with pytest.raises(RecordingError) as raised:
        taken(Recording("xyz", kind="sse_log", ids=ids), "real")
    assert (raised.value.field, "does not spell the recorded text" in raised.value.message) == ("tokenizer", True)


@pytest.mark.parametrize("tokenizer", [None, "embedded", "characters"])
def test_ids_alone_ask_for_the_models_tokenizer(tokenizer: str | None) -> None:
    with pytest.raises(RecordingError) as raised:
        taken(Recording(None, kind="token_ids", ids=(1, 2)), tokenizer)
    assert (raised.value.field, NEEDED in raised.value.message) == ("tokenizer", True)


def test_ids_that_a_tokenizer_lacks_or_that_it_cannot_decode_are_said_at_its_field(
    real: Real, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RecordingError, match="lacks 1 of the 2 token ids"):
        taken(Recording(None, kind="token_ids", ids=(1, 10**6)), "real")
    with pytest.raises(RecordingError, match="there is no tokenizer 'nobody'"):
        taken(Recording(None, kind="token_ids", ids=(1,)), "nobody")

    def refuse(ids: object) -> None:
        raise UsageError("the tokenizer stopped answering")

    monkeypatch.setattr(real, "pieces_of", refuse, raising=False)
    with pytest.raises(RecordingError, match="stopped answering"):
        taken(Recording(None, kind="token_ids", ids=(1,)), "real")


def test_ids_beside_a_stream_wait_while_the_stream_plays(real: Real) -> None:
    recording = Recording(None, kind="sse_log", ids=ids_of(real, "Hi"), stream=(CHUNK,))
    found = taken(recording)
    assert found.data["input"].keys() == {"stream"}
    assert "the server's chunks play alone" in found.notes[0]
    assert case_of(recording, "real").input.model_fields_set == {"tokens", "stream"}


def test_a_stream_keeps_everything_but_its_log_probabilities() -> None:
    stream = (CHUNK, {"error": {"message": "x"}}, {"choices": [None]})
    case = case_of(Recording(None, kind="sse_log", stream=stream))
    assert case.input.stream[0] == {**CHUNK, "choices": [{"index": 0, "delta": {"content": "Hi"}}]}
    assert case.input.stream[1:] == stream[1:]
    assert case_of(Recording("Hi", kind="sse_log", stream=stream)).input.model_fields_set == {"text", "stream"}


@pytest.mark.parametrize(("ids", "mode"), [((5, 6), "ids"), ((None, None), "text")])
def test_pieces_with_their_bytes_are_tokens_and_their_ids_are_recorded(ids: tuple[int | None, ...], mode: str) -> None:
    pieces = (Piece("", ids[0], b"\xc3", "partial"), Piece("é", ids[1], b"\xa9", "partial"))
    case = case_of(Recording("é", kind="json_response", pieces=pieces, deltas=(RecordedDelta("é"),)))
    assert [token.hex for token in case.input.tokens] == ["c3", "a9"]
    assert (case.text(), case.mode(), len(case.input.deltas)) == ("é", mode, 1)
    other = Recording("é", kind="json_response", pieces=pieces, deltas=(RecordedDelta("e"),))
    assert case_of(other).input.deltas is None


def test_how_a_stream_was_recorded_stays_beside_it() -> None:
    whole = case_of(Recording(None, kind="sse_log", stream=(CHUNK,), done=True)).input
    torn = case_of(Recording("Hi", kind="sse_log", stream=(CHUNK,), gaps=True)).input
    assert [(one.done, one.gaps) for one in (whole, torn)] == [(True, False), (False, True)]
    assert not case_of(Recording("Hi", done=True)).input.done


def test_nothing_at_all_is_refused() -> None:
    with pytest.raises(RecordingError, match="no output in it"):
        taken(Recording(None))


def test_what_was_asked_becomes_the_context() -> None:
    request = Request(
        tools=(TOOL,), tool_choice={"type": "function", "function": {"name": "f"}}, reasoning_open=True, model="m",
        template_kwargs={"enable_thinking": True}, prompt_tail="<think>\n",
    )  # fmt: skip
    case = case_of(Recording("Hi", request=request))
    assert case.context.tool_choice.name == "f"
    assert (case.context.model, case.context.prompt_tail, case.context.reasoning_open) == ("m", "<think>\n", True)
    assert case.context.template_kwargs == {"enable_thinking": True}
    assert asked(request).data["tools"] == [TOOL]


@pytest.mark.parametrize(
    ("choice", "kept"),
    [
        ("required", "required"), ("none", "none"), ({"name": "f"}, {"name": "f"}), ({"type": "allowed_tools"}, None),
        ({"name": "g"}, None), ("any", None), ({"name": ["f"]}, None),
    ],
)  # fmt: skip
def test_a_tool_choice_that_names_no_tool_is_left_out_and_said(choice: Any, kept: Any) -> None:
    found = asked(Request(tools=(TOOL,), tool_choice=choice))
    assert found.data.get("context", {}).get("tool_choice") == kept
    assert [note for note in found.notes if "tool choice" in note] == (
        [] if kept else ["The tool choice of the request left out: it names no tool of the request."]
    )


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "web_search"},
        "f",
        {"name": 3},
        {"name": ""},
        {"name": "f", "parameters": 1},
        {"name": "f", "strict": 1},
    ],
)
def test_what_is_no_function_is_left_out_and_said(tool: Any) -> None:
    found = asked(Request(tools=(TOOL, tool)))
    assert found.data["tools"] == [TOOL]
    assert found.notes == ["1 tool of the request left out: a tool is a function with a name."]


def test_the_end_of_the_prompt_comes_from_its_text_or_its_ids(real: Real) -> None:
    prompt = "x" * 500 + "<think>"
    assert case_of(Recording("Hi", prompt_text=prompt)).context.prompt_tail == prompt[-400:]
    ids = ids_of(real, "long ago " * 100 + "end")
    tail = case_of(Recording("Hi", prompt_ids=ids), "real").context.prompt_tail
    assert tail.endswith("end")
    assert len(real.encode(tail)) <= 64
    assert case_of(Recording("Hi", prompt_ids=ids)).context.prompt_tail is None


def test_what_should_come_out_is_kept() -> None:
    assert case_of(Recording("Hi", expect={"content": "Hi"})).expect.content == "Hi"


def test_a_request_says_how_recorded_ids_are_decoded(real: Real) -> None:
    request = Request(skip_special_tokens=True, stop=("END", ""), include_stop=True)
    recording = Recording(None, kind="sse_log", ids=ids_of(real, "abc"), request=request)
    assert taken(recording, "real").data["decode"] == {
        "skip_special_tokens": True, "stop": ["END"], "include_stop": True,
    }  # fmt: skip
    recording.request = Request(skip_special_tokens=False, include_stop=True)
    assert "decode" not in taken(recording, "real").data
    assert "decode" not in taken(Recording("abc", request=request)).data


def test_recorded_deltas_of_tokens_are_replayed_as_recorded(real: Real) -> None:
    ids = ids_of(real, "hello world")
    assert taken(Recording(None, ids=ids, counts=(1, len(ids) - 1)), "real").data["replay"] == [{"by": "recorded"}]
    assert "replay" not in taken(Recording(None, ids=ids), "real").data


@pytest.mark.replays
@pytest.mark.parametrize("name", sorted(path.name for path in FILES.iterdir()))
def test_every_shape_replays_or_asks_for_what_it_needs(name: str, tmp_path: Path) -> None:
    found = recognise((FILES / name).read_bytes(), pasted=False, filename=name)
    assert found.outputs or found.request
    for output in found.outputs:
        try:
            case = case_of(output)
        except RecordingError as error:
            assert (error.field, output.ids is not None) == ("tokenizer", True)  # noqa: PT017
        else:
            assert Runner(Settings(data_dir=tmp_path), keep=False).run(case).trace.steps
