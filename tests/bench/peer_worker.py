"""The parsers of another project, replayed in the interpreter that has them: how long it takes and what comes out.

Started as `PYTHON peer_worker.py ENGINE` by `peers.py`; needs that engine and the standard library. It reads a request
a line and answers with a line, both JSON, after a first line with the engine's version (or what kept it from loading).
The deltas of a request are replayed here as often as asked, so neither transport nor start is part of a figure.

The engines are driven as their servers drive them: one token a delta, an empty last one, and what a parser still holds
is asked for at the end. SGLang's parsers need no torch: where it is absent, their package is loaded without the parts
that do.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import signal
import sys
import types
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import metadata, util
from itertools import starmap
from pathlib import Path
from time import process_time
from typing import Any

BETWEEN_LOOKS = 64  # deltas
SHORT = 0.05  # seconds: a longer replay is not done again for the same request
HANGS = "hangs"

Said = tuple[str, str, list[tuple[int, str, str]]]  # content, reasoning, and of calls: index, name, arguments


class Hangs(BaseException):
    """A parser is at work on one delta and does not end. No `except Exception` of a parser may catch it."""


@dataclass
class Replay:
    """A parser that is ready for one output: what each delta is fed by, with what, and how the answers are read."""

    feed: Callable[..., Any]
    arguments: list[tuple[Any, ...]]
    finish: Callable[[], Any]
    said: Callable[[list[Any]], Iterator[Said]]
    design: str = ""


class Transformers:
    """transformers' ResponseParser, by the template of the request."""

    def __init__(self) -> None:
        self._parser = importlib.import_module("transformers.utils.chat_parsing").ResponseParser

    def replay(self, asked: dict[str, Any]) -> Replay:
        """A new parser for a request."""
        parser = self._parser(asked["template"], prefix="")
        texts = [(text,) for _, text in asked["deltas"]]
        return Replay(parser.feed, texts, parser.finalize, self._said)

    def _said(self, answers: list[Any]) -> Iterator[Said]:
        message = answers[-1][0]
        calls = [call.get("function", call) for call in message.get("tool_calls", ())]
        named = [(at, call["name"], json.dumps(call["arguments"])) for at, call in enumerate(calls)]
        yield message.get("content") or "", message.get("thinking") or "", named


class GrowingText:
    """partial_json_parser on the text so far, all of it again at every delta, as parsers without a state do."""

    def __init__(self) -> None:
        module = importlib.import_module("partial_json_parser")
        self._loads = partial(module.loads, allow_partial=module.ALL)

    def replay(self, asked: dict[str, Any]) -> Replay:
        """A text that is empty yet."""
        text = ""

        def feed(more: str) -> Any:
            nonlocal text
            text += more
            return self._loads(text)

        return Replay(feed, [(text,) for _, text in asked["deltas"]], lambda: self._loads(text), self._said)

    def _said(self, answers: list[Any]) -> Iterator[Said]:
        yield "", "", [(at, call["name"], json.dumps(call["parameters"])) for at, call in enumerate(answers[-1])]


class Vllm:
    """vLLM's parsers under `parse_delta`, which its server calls for every delta."""

    def __init__(self) -> None:
        os.environ |= {"VLLM_LOGGING_LEVEL": "CRITICAL", "VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1"}
        self._manager = importlib.import_module("vllm.parser").ParserManager
        self._request = importlib.import_module("vllm.entrypoints.openai.chat_completion.protocol")

    def replay(self, asked: dict[str, Any]) -> Replay:
        """A new parser for a request."""
        named = {"tool_parser_name": asked["tool"], "reasoning_parser_name": asked["reasoning"]}
        made = self._manager.get_parser(**named, enable_auto_tools=True)
        request = self._request.ChatCompletionRequest(model="m", messages=[], tools=asked["tools"])
        parser = made(_Tokenizer(asked), request.tools)
        deltas: list[tuple[Any, ...]] = [(text, [number], request, []) for number, text in asked["deltas"]]
        return Replay(
            partial(parser.parse_delta, finished=False),
            deltas,
            lambda: parser.parse_delta("", [], request, [], finished=True),
            self._said,
            "engine" if getattr(parser.tool_parser, "engine_based_streaming", False) else "hand-written",
        )

    def _said(self, answers: list[Any]) -> Iterator[Said]:
        for one in [answer for answer in answers if answer is not None]:
            shares = [(call.index, call.function) for call in one.tool_calls or () if call.function]
            calls = [(index, share.name or "", share.arguments or "") for index, share in shares]
            yield one.content or "", one.reasoning or "", calls


class _Tokenizer:
    """As much of a tokenizer as parsers ask for: the tokens of the output, and markers that are special."""

    def __init__(self, asked: dict[str, Any]) -> None:
        special: dict[str, int] = asked["special"]
        self._ids = {text: number for number, text in asked["deltas"]} | special
        self._texts = {number: text for text, number in self._ids.items()}
        self.all_special_tokens = list(special)
        self.all_special_ids = list(special.values())

    def get_vocab(self) -> dict[str, int]:
        """Ids by text."""
        return self._ids

    def decode(self, ids: list[int], **_options: Any) -> str:
        """The text of some ids."""
        return "".join([self._texts.get(one, "") for one in ids])

    def encode(self, text: str, **_options: Any) -> list[int]:
        """The id of one token."""
        return [self._ids[text]] if text in self._ids else []


class Sglang:
    """SGLang's detectors: the one for reasoning first, then the one for calls on what it leaves."""

    def __init__(self) -> None:
        if util.find_spec("torch") is None:
            _stand_in()
        self._tool = importlib.import_module("sglang.srt.entrypoints.openai.protocol").Tool
        self._calls = importlib.import_module("sglang.srt.function_call.function_call_parser").FunctionCallParser
        self._reasoning = importlib.import_module("sglang.srt.parser.reasoning_parser").ReasoningParser

    def replay(self, asked: dict[str, Any]) -> Replay:
        """A new pair of parsers for a request."""
        calls = self._calls([self._tool(**tool) for tool in asked["tools"]], asked["tool"])
        texts = [(text,) for _, text in asked["deltas"]]
        if asked["reasoning"] is None:
            finish = partial(_finished, calls, calls.parse_stream_end)
            return Replay(calls.parse_stream_chunk, texts, finish, self._said)
        reasoning = self._reasoning(asked["reasoning"])

        def handed_on(said: tuple[str | None, str | None]) -> tuple[str, list[Any], str]:
            content, found = calls.parse_stream_chunk(said[1]) if said[1] else ("", [])
            return content, found, said[0] or ""

        def ended() -> tuple[str, list[Any], str]:
            content, found, thought = handed_on(reasoning.parse_stream_end())
            more, others = calls.parse_stream_end()
            return content + more, [*found, *others], thought

        def feed(text: str) -> tuple[str, list[Any], str]:
            return handed_on(reasoning.parse_stream_chunk(text))

        return Replay(feed, texts, partial(_finished, calls, ended), self._said)

    def _said(self, answers: list[Any]) -> Iterator[Said]:
        for content, calls, *reasoning in answers:
            yield content, "".join(reasoning), [(call.tool_index, call.name or "", call.parameters) for call in calls]


def _finished(calls: Any, end: Callable[[], Any]) -> Any:
    """What comes at the end, and the rest of the last call's arguments, which SGLang's server adds."""
    said = end()
    found, streamed = calls.detector.prev_tool_call_arr, calls.detector.streamed_args_for_tool
    if found and len(found) <= len(streamed):
        arguments, sent = found[-1].get("arguments", {}), streamed[len(found) - 1]
        whole = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        if whole.startswith(sent) and whole != sent:
            said[1].append(types.SimpleNamespace(tool_index=len(found) - 1, name="", parameters=whole[len(sent) :]))
    return said


def _stand_in() -> None:
    """SGLang without torch, as the adapter of our worker loads it."""
    file = Path(__file__).parents[2] / "webapp" / "engines" / "workers" / "adapter_sglang.py"
    spec = util.spec_from_file_location("adapter_sglang", file)
    if spec is None or spec.loader is None:
        raise ImportError(f"there is no {file.name}")
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.stand_in()


ENGINES: dict[str, Callable[[], Any]] = {
    "transformers": Transformers,
    "partial_json_parser": GrowingText,
    "vllm": Vllm,
    "sglang": Sglang,
}


def answer(engine: Any, asked: dict[str, Any]) -> dict[str, Any]:
    """The best of at most `times` replays: CPU `seconds`, how many deltas were `fed` in them, and the last message.

    The first one tells what comes out; the others keep no answer, as a server keeps none. A replay that takes longer
    than the `most` seconds of the request is cut short, and is the last. Raises Hangs after `patience` seconds of wall
    time: the parser is at work on one delta and does not end.
    """
    answers = deque[Any]()
    best, fed, replay = _replayed(engine, asked, answers)
    whole = fed == len(asked["deltas"])
    for _ in range(asked["times"] - 1 if whole else 0):
        spent, _, _ = _replayed(engine, asked, deque(maxlen=0))
        best = min(best, spent)
        if spent > SHORT:
            break
    said = _message(replay.said(list(answers))) if whole else {}
    return {"seconds": best, "fed": fed, "design": replay.design, "message": said}


def _replayed(engine: Any, asked: dict[str, Any], answers: deque[Any]) -> tuple[float, int, Replay]:
    """CPU seconds, deltas fed and what was replayed by a new parser, which may be at work for so long."""
    replay: Replay = engine.replay(asked)
    signal.setitimer(signal.ITIMER_REAL, asked["patience"])
    spent, fed = _timed(replay, asked["most"], answers)
    signal.setitimer(signal.ITIMER_REAL, 0)
    return spent, fed, replay


def _timed(replay: Replay, most: float, answers: deque[Any]) -> tuple[float, int]:
    """CPU seconds and deltas fed, with `answers` for what came of them; one that is cut short is not told its end."""
    feed, arguments = replay.feed, replay.arguments
    start = process_time()
    for at in range(0, len(arguments), BETWEEN_LOOKS):
        part = arguments[at : at + BETWEEN_LOOKS]
        answers.extend(starmap(feed, part))
        if at + len(part) < len(arguments) and process_time() - start > most:
            return process_time() - start, at + len(part)
    answers.append(replay.finish())
    return process_time() - start, len(arguments)


def _message(said: Iterator[Said]) -> dict[str, Any]:
    content: list[str] = []
    reasoning: list[str] = []
    calls: dict[int, list[str]] = {}
    for text, thought, shares in said:
        content.append(text)
        reasoning.append(thought)
        for index, name, arguments in shares:
            call = calls.setdefault(index, ["", ""])
            call[0] += name
            call[1] += arguments
    return {"content": "".join(content), "reasoning": "".join(reasoning), "calls": [calls[at] for at in sorted(calls)]}


def _hangs(*_: object) -> None:
    raise Hangs


def main() -> None:
    """Answer until there is no more input. What an engine prints goes nowhere."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.path.remove(os.path.dirname(os.path.abspath(__file__)))  # our other files there are no modules of an engine
    logging.disable()
    signal.signal(signal.SIGALRM, _hangs)

    def say(answered: dict[str, Any]) -> None:
        print(json.dumps(answered), file=answers, flush=True)

    try:
        engine = ENGINES[sys.argv[1]]()
        say({"version": metadata.version(sys.argv[1])})
    except Exception as error:
        say({"error": f"{type(error).__name__}: {error}"})
        return
    for line in sys.stdin:
        try:
            say(answer(engine, json.loads(line)))
        except Hangs:
            say({"error": HANGS})
        except Exception as error:
            signal.setitimer(signal.ITIMER_REAL, 0)
            say({"error": f"{type(error).__name__}: {error}"})


if __name__ == "__main__":
    main()
