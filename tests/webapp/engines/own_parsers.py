"""Parser classes that somebody may have: one of each shape, and some that misbehave. Standard library alone."""

from __future__ import annotations

import json
import os
import sys
import time
from types import SimpleNamespace
from typing import Any


class Plain:
    """begin, feed, finish: all is content, `!` is printed."""

    version = "2"

    def begin(self, request: dict[str, Any]) -> None:
        self.tools = [tool["function"]["name"] for tool in request.get("tools") or ()]
        self.seen = ""

    def feed(self, text: str, ids: list[int]) -> Any:
        self.seen += text
        if "!" in text:
            print("a mark", len(ids))
            sys.stdout.writelines([" and", " more"])
        return {"content": text} if text else None

    def finish(self, reason: str | None) -> Any:
        return {"content": f" {reason} {','.join(self.tools)}"} if self.tools else None


class Hermes:
    """It reads the format of Qwen, all at the end; a call that is none is content."""

    def begin(self, request: dict[str, Any]) -> None:
        self.seen = ""

    def feed(self, text: str, ids: list[int]) -> Any:
        self.seen += text

    def finish(self, reason: str | None) -> Any:
        before, *calls = self.seen.split("<tool_call>")
        read = [json.loads(call.partition("</tool_call>")[0]) for call in calls]
        told = [{"name": call["name"], "arguments": json.dumps(call["arguments"])} for call in read]
        sent = [{"index": at, "id": f"c{at}", "function": one} for at, one in enumerate(told)]
        return {"content": (before if before.strip() else "") or None, "tool_calls": sent}


Hermes.__name__ = "hermes"


class Keeping(Hermes):
    """What is left of one replay with a call the others get: it is kept with the class."""

    left = ""

    def finish(self, reason: str | None) -> Any:
        said, kind = super().finish(reason), type(self)
        said["content"] = f"{said['content'] or ''}{kind.left}"
        kind.left = " More." if said["tool_calls"] else kind.left
        return said


class Hung(Hermes):
    """The same, but it never comes to an end."""

    def finish(self, reason: str | None) -> Any:
        time.sleep(600)


Hung.__name__ = "hermes"


class Whole(Plain):
    """It has a path for whole outputs besides."""

    def parse(self, request: dict[str, Any], text: str) -> Any:
        return {"content": text}


class Stuck(Plain):
    """It sleeps for ever at `!`."""

    def feed(self, text: str, ids: list[int]) -> Any:
        while "!" in text:
            time.sleep(1)
        return {"content": text}


class Slow(Plain):
    """It works for a while at each delta."""

    def feed(self, text: str, ids: list[int]) -> Any:
        until = time.process_time() + 0.04
        while time.process_time() < until:
            pass
        return super().feed(text, ids)


class Raising(Plain):
    """It fails at `!`."""

    def feed(self, text: str, ids: list[int]) -> Any:
        if "!" in text:
            raise ValueError("no\n!")
        return super().feed(text, ids)


class Ending(Plain):
    """It ends its process at `!`."""

    def feed(self, text: str, ids: list[int]) -> Any:
        return sys.exit(3) if "!" in text else super().feed(text, ids)


class Signalling(Plain):
    """It wants to end whoever started it at `!`, and again where that is refused."""

    def feed(self, text: str, ids: list[int]) -> Any:
        if "!" in text:
            try:
                os.kill(os.getppid(), 0)
            except PermissionError:
                os.killpg(os.getpgid(os.getppid()), 0)
        return super().feed(text, ids)


class Starting(Plain):
    """It starts a process at `!`."""

    def feed(self, text: str, ids: list[int]) -> Any:
        if "!" in text:
            os.system("true")
        return super().feed(text, ids)


class Deep(Plain):
    """It calls itself without end at `!`."""

    def feed(self, text: str, ids: list[int]) -> Any:
        return self.feed(text, ids) if "!" in text else super().feed(text, ids)


class Short(Plain):
    """It loses an `l` that comes alone, as no server cuts a word."""

    def feed(self, text: str, ids: list[int]) -> Any:
        return None if text == "l" else super().feed(text, ids)


class Stubborn(Plain):
    """Its exception cannot be printed, and it is not ready."""

    def begin(self, request: dict[str, Any]) -> None:
        raise _UnprintableError


class _UnprintableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError


class Detector:
    """As SGLang's: `f` is a call."""

    def parse_streaming_increment(self, text: str, tools: list[Any]) -> Any:
        calls = [SimpleNamespace(tool_index=0, name=tools[0].function.name, parameters="{}")] if "f" in text else []
        return SimpleNamespace(normal_text=text.replace("f", ""), calls=calls)

    def finish(self, tools: list[Any]) -> Any:
        return SimpleNamespace(normal_text=".", calls=[])


class BothWays(Detector):
    """It reads whole outputs, too, and has a name that is no class's."""

    parser_name = "hermes"

    def has_tool_call(self, text: str) -> bool:
        return "f" in text

    def detect_and_parse(self, text: str, tools: list[Any]) -> Any:
        call = SimpleNamespace(tool_index=-1, name=tools[0].function.name, parameters='{"whole": 1}')
        return SimpleNamespace(normal_text=text.partition("f")[0], calls=[call])


class Unended:
    """As SGLang's older ones, which are not told of the end."""

    def parse_streaming_increment(self, text: str, tools: list[Any]) -> Any:
        return SimpleNamespace(normal_text=text, calls=[])


class Legacy:
    """As vLLM's hand-written ones; `f` is a call."""

    def __init__(self, tokenizer: Any) -> None:
        self.vocab = tokenizer.get_vocab()

    def extract_tool_calls_streaming(
        self, before: str, now: str, text: str, known: list[int], ids: list[int], new: list[int], request: Any
    ) -> Any:
        if now != before + text or ids != known + new:
            raise AssertionError
        if not text:
            return {"content": f"{len(ids)} {request.tool_choice} {len(self.vocab)}"}
        if "f" not in text:
            return SimpleNamespace(content=text, reasoning=None, tool_calls=[]) if text.strip() else None
        call = SimpleNamespace(index=0, id="a", function=SimpleNamespace(name="f", arguments="{}"))
        return SimpleNamespace(content=None, tool_calls=[call])


class LegacyBothWays(Legacy):
    """It reads whole outputs, too."""

    def extract_tool_calls(self, text: str, request: Any) -> Any:
        call = SimpleNamespace(id="a", function=SimpleNamespace(name="f", arguments=request.tool_choice))
        return SimpleNamespace(tools_called="f" in text, tool_calls=[call], content=None)


class LegacyOfDicts(Legacy):
    """What it says of whole outputs is a dict, or none of it."""

    def extract_tool_calls(self, text: str, request: Any) -> Any:
        call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": request.tool_choice}}
        known: dict[str, Any] = {"f": {"tool_calls": [call]}, "none": None, "number": {"tool_calls": 7}}
        known["no"] = {"tools_called": False, "tool_calls": [], "content": "no"}
        return known[text]


class LegacyParsed(Legacy):
    """It has a path of its own for them."""

    def parse(self, request: Any, text: str) -> Any:
        return {"content": f"{text} of {len(self.vocab)}"}


class LegacyOfTools(Legacy):
    """It is made with the tools, too, as vLLM makes them."""

    def __init__(self, tokenizer: Any, tools: Any) -> None:
        super().__init__(tokenizer)
        self.names = [tool.function.name for tool in tools or ()]

    def extract_tool_calls_streaming(self, *given: Any) -> Any:
        return {"content": ",".join(self.names)}


class LegacyOfChoice(Legacy):
    """It has a choice of its own, with a default."""

    def __init__(self, tokenizer: Any, strict: bool = True) -> None:
        super().__init__(tokenizer)
        self.strict, self.names = strict, list[str]()

    def extract_tool_calls_streaming(self, *given: Any) -> Any:
        return {"content": f"{self.strict} {','.join(self.names)}"}


class LegacyOfNamed(LegacyOfChoice):
    """It is given the tools by name alone."""

    def __init__(self, tokenizer: Any, strict: bool = True, *, tools: Any) -> None:
        super().__init__(tokenizer, strict)
        self.names = [tool.function.name for tool in tools]


class Unified:
    """As vLLM's of reasoning and calls: `f` is a call, and what is in brackets is thought."""

    def __init__(self, tokenizer: Any, tools: Any = None, *args: Any, **more: Any) -> None:
        self.names = [tool.function.name for tool in tools or ()]

    def parse_delta(self, text: str, ids: list[int], request: Any, prompt: Any = None, *, finished: bool) -> Any:
        if "!" in text:
            return f"no delta: {request.tool_choice}"
        call = SimpleNamespace(index=0, id="a", function=SimpleNamespace(name=self.names[0], arguments="{}"))
        thought, said = (text, None) if "(" in text else (None, f"{text.replace('f', '')}{ids}{prompt}{finished}")
        return SimpleNamespace(reasoning=thought, content=said, tool_calls=[call] if "f" in text else [])


class UnifiedBothWays(Unified):
    """It reads whole outputs, too."""

    def parse(
        self, text: str, request: Any, enable_auto_tools: bool = False, *, model_output_token_ids: Any = ()
    ) -> Any:
        if text == "none":
            return None
        calls = [SimpleNamespace(name="f", arguments=f"{enable_auto_tools}")] if "f" in text else None
        return "Hm.", f"{[*model_output_token_ids]}", calls


class UnifiedOfTwo(Unified):
    """Its own way takes no more than it must, and gives a dict."""

    def parse(self, text: str, request: Any) -> Any:
        return {"content": text}


class Unending(Unified):
    """It is not told of the end as its server tells it."""

    def parse_delta(self, text: str, ids: list[int], request: Any, prompt: Any = None) -> Any:  # type: ignore[override]
        """Nothing."""


class Shapeless:
    """Nobody knows how to call it."""


class Returns(Plain):
    """It returns what its first delta says, as JSON."""

    def feed(self, text: str, ids: list[int]) -> Any:
        return json.loads(text)


class Endless:
    """It has no finish."""

    def begin(self, request: dict[str, Any]) -> None:
        """Nothing."""

    def feed(self, text: str, ids: list[int]) -> Any:
        """Nothing."""


class Demanding(Plain):
    """Nobody gives it what it wants."""

    def __init__(self, tokenizer: Any, tools: Any) -> None:
        self.given = tokenizer, tools


class Deafened(Plain):
    """It takes no ids."""

    def feed(self, text: str) -> Any:  # type: ignore[override]
        return {"content": text}


class Lucky(Plain):
    """It needs no instance."""

    @staticmethod
    def feed(text: str, ids: list[int]) -> Any:
        return {"content": text, "role": "assistant"}
