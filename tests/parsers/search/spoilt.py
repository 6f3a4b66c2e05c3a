"""Parsers with faults that parsers in the field have had: black boxes around a built-in one, whose work they spoil."""

from __future__ import annotations

import json
import re

from parsers.selection.registry import build, get_format
from parsers.vocabulary.types import Context, Delta, MessageDelta, Piece, ToolCallDelta
from parsers.wire.assemble import Assembler


class Spoilt:
    """A black box that reads rightly."""

    def begin(self, context: Context) -> None:
        self.inner, self.assembler, self.text = build(get_format("qwen")), Assembler(), ""
        self.inner.begin(context)

    def feed(self, delta: Delta) -> MessageDelta | None:
        self.text += delta.text
        return self.on(delta.text)

    def on(self, text: str) -> MessageDelta | None:
        return self.sent(self.read(text), text)

    def read(self, text: str) -> MessageDelta | None:
        return self.assembler.add(self.inner.feed(Delta(1, (Piece(text),))))

    def sent(self, sent: MessageDelta | None, text: str) -> MessageDelta | None:
        return sent

    def finish(self, reason: str | None) -> MessageDelta | None:
        return self.assembler.add(self.inner.finish(reason))


class LosesTail(Spoilt):
    """The last character of arguments, when the delta ends in a quote."""

    def sent(self, sent: MessageDelta | None, text: str) -> MessageDelta | None:
        for part in sent.tool_calls if sent is not None and text.endswith('"') else ():
            part.arguments = (part.arguments or "")[:-1]
        return sent


class ClosesTwice(Spoilt):
    """A second brace, when the closing marker is a delta of its own."""

    def sent(self, sent: MessageDelta | None, text: str) -> MessageDelta | None:
        if text.strip() != "</tool_call>" or not self.assembler.calls:
            return sent
        return MessageDelta(tool_calls=[ToolCallDelta(self.assembler.calls - 1, arguments="}")])


class NeverCounts(Spoilt):
    """All calls have the index 0."""

    def sent(self, sent: MessageDelta | None, text: str) -> MessageDelta | None:
        for part in sent.tool_calls if sent is not None else ():
            part.index = 0
        return sent


class CountsOn(Spoilt):
    """The numbers of calls go on in the next request: the class counts them."""

    before = 0

    def begin(self, context: Context) -> None:
        super().begin(context)
        self.first = CountsOn.before

    def sent(self, sent: MessageDelta | None, text: str) -> MessageDelta | None:
        for part in sent.tool_calls if sent is not None else ():
            part.index += self.first
            CountsOn.before = part.index + 1
        return sent


class CountsOnItself(CountsOn):
    """The same, by an instance that a server keeps."""

    ours = 0

    def begin(self, context: Context) -> None:
        Spoilt.begin(self, context)
        self.first = self.ours

    def sent(self, sent: MessageDelta | None, text: str) -> MessageDelta | None:
        sent = super().sent(sent, text)
        self.ours = max([self.ours, *[part.index + 1 for part in (sent.tool_calls if sent is not None else ())]])
        return sent


class SaysAgain(Spoilt):
    """What it sent last, once more for a delta without text."""

    last: MessageDelta | None = None

    def on(self, text: str) -> MessageDelta | None:
        if text:
            self.last = super().on(text)
        return self.last


class EndsEarly(Spoilt):
    """All that follows a delta without text inside a call is lost."""

    ended = False

    def on(self, text: str) -> MessageDelta | None:
        self.ended = self.ended or (not text and "<tool_call>" in self.text)
        return None if self.ended else super().on(text)

    def finish(self, reason: str | None) -> MessageDelta | None:
        return None if self.ended else super().finish(reason)


class NeedsText(Spoilt):
    """It looks at the first character of each delta."""

    def on(self, text: str) -> MessageDelta | None:
        return super().on(text) if text[0] else None


class TrimsLast(Spoilt):
    """A delta without text after the whole output takes back the arguments' end, as one for the end token would."""

    def on(self, text: str) -> MessageDelta | None:
        if not text and self.text.endswith("</tool_call>"):
            return MessageDelta(tool_calls=[ToolCallDelta(0, arguments="}")])
        return super().on(text)


class DropsZeros(Spoilt):
    """Arguments are kept back, and sent without those that are 0, empty, false or null."""

    kept = ""

    def sent(self, sent: MessageDelta | None, text: str) -> MessageDelta | None:
        for part in sent.tool_calls if sent is not None else ():
            self.kept, part.arguments = self.kept + (part.arguments or ""), None
            if self.kept.endswith("}"):
                part.arguments = json.dumps({key: value for key, value in json.loads(self.kept).items() if value})
                self.kept = ""
        return sent


class EndsTwice(Spoilt):
    """The content that came last is sent again at the end, where the output ends with it."""

    last = ""

    def sent(self, sent: MessageDelta | None, text: str) -> MessageDelta | None:
        self.last = self.last if sent is None else sent.content or ""
        return sent

    def finish(self, reason: str | None) -> MessageDelta | None:
        rest = super().finish(reason)
        return MessageDelta(content=self.last) if self.last and self.text.endswith(self.last) else rest


class DropsBeside(Spoilt):
    """Content in the delta that ends reasoning."""

    def sent(self, sent: MessageDelta | None, text: str) -> MessageDelta | None:
        if sent is not None and "</think>" in text:
            sent.content = None
        return sent


class EatsLines(Spoilt):
    """A line end that comes alone."""

    def sent(self, sent: MessageDelta | None, text: str) -> MessageDelta | None:
        return None if text == "\n" and sent is not None and sent.content is not None else sent


class EatsAngles(Spoilt):
    """Every < that begins no marker."""

    def sent(self, sent: MessageDelta | None, text: str) -> MessageDelta | None:
        if sent is not None and sent.content is not None:
            sent.content = sent.content.replace("<", "") or None
        return sent


class UnescapesTwice(Spoilt):
    """A \\n in a value becomes a line break in its JSON."""

    def sent(self, sent: MessageDelta | None, text: str) -> MessageDelta | None:
        for part in sent.tool_calls if sent is not None else ():
            part.arguments = (part.arguments or "").replace("\\n", "\n")
        return sent


class Swaps(Spoilt):
    """The answer becomes reasoning after an empty block of it."""

    def sent(self, sent: MessageDelta | None, text: str) -> MessageDelta | None:
        if sent is not None and sent.content and re.search(r"<think>\s*</think>", self.text):
            sent.reasoning, sent.content = sent.content, None
        return sent


class NamesAnew(Spoilt):
    """Another id in every delta."""

    def sent(self, sent: MessageDelta | None, text: str) -> MessageDelta | None:
        for part in sent.tool_calls if sent is not None else ():
            part.id = f"call-{len(self.text)}"
        return sent


class OnlyLatin(Spoilt):
    """It cannot read all characters."""

    def on(self, text: str) -> MessageDelta | None:
        text.encode("latin-1")
        return super().on(text)


class Merges(Spoilt):
    """Of calls in one delta only the first has a name."""

    def sent(self, sent: MessageDelta | None, text: str) -> MessageDelta | None:
        if sent is not None and len(sent.tool_calls) > 1:
            first, *others = sent.tool_calls
            first.arguments = "".join([part.arguments or "" for part in (first, *others)])
            sent.tool_calls = [first]
        return sent


class LeaksLines(Merges):
    """And each call that is named sends the line end before its marker again, as content."""

    def sent(self, sent: MessageDelta | None, text: str) -> MessageDelta | None:
        sent = super().sent(sent, text)
        if sent is not None and any(part.name for part in sent.tool_calls) and len(text) < 40:
            sent.content = "\n" + (sent.content or "")
        return sent


class Caps(Spoilt):
    """Arguments end after so many characters."""

    def sent(self, sent: MessageDelta | None, text: str) -> MessageDelta | None:
        room = 4096 - (len(self.text) - len(text))
        for part in sent.tool_calls if sent is not None else ():
            part.arguments = (part.arguments or "")[: max(room, 0)]
        return sent


class Blocks(Spoilt):
    """Whole calls by a regular expression: the first closing marker ends a call, in a string as well."""

    CALL = re.compile(r"<tool_call>(.*?)</tool_call>", re.DOTALL)

    def on(self, text: str) -> MessageDelta | None:
        return None

    def finish(self, reason: str | None) -> MessageDelta | None:
        calls = []
        for number, body in enumerate(self.CALL.findall(self.text)):
            try:
                said = json.loads(body)
            except ValueError:
                continue
            arguments = json.dumps(said["arguments"])
            calls.append(ToolCallDelta(number, f"call-{number}", said["name"], arguments))
        return MessageDelta(None, self.CALL.sub("", self.text) or None, calls)


class WholeOnly(Spoilt):
    """A second code path, which reads everything at the end."""

    def on(self, text: str) -> MessageDelta | None:
        return None

    def finish(self, reason: str | None) -> MessageDelta | None:
        events = self.inner.feed(Delta(1, (Piece(self.text),)))
        return self.sent(self.assembler.add(events + self.inner.finish(reason)), self.text)


class Respells(WholeOnly):
    """It writes the arguments anew."""

    def sent(self, sent: MessageDelta | None, text: str) -> MessageDelta | None:
        for part in sent.tool_calls if sent is not None else ():
            part.arguments = json.dumps(json.loads(part.arguments or "{}"))
        return sent


class Reorders(Spoilt):
    """Arguments that come in one delta have their keys in the other order."""

    def sent(self, sent: MessageDelta | None, text: str) -> MessageDelta | None:
        for part in sent.tool_calls if sent is not None else ():
            if (part.arguments or "").endswith("}") and (part.arguments or "").startswith("{"):
                part.arguments = json.dumps(dict(reversed(json.loads(part.arguments or "{}").items())))
        return sent


class NeedsEmpty(Spoilt):
    """A call is read with an empty delta behind the one that has all of it, and lost otherwise."""

    deltas = 0

    def on(self, text: str) -> MessageDelta | None:
        self.deltas += 1
        return self.sent(self.read(self.text), text) if self.deltas == 2 and not text else None


class FirstOnly(WholeOnly):
    """It finds one call."""

    def sent(self, sent: MessageDelta | None, text: str) -> MessageDelta | None:
        if sent is not None:
            sent.tool_calls = sent.tool_calls[:1]
        return sent


class TextOnly(WholeOnly):
    """It finds no call."""

    def sent(self, sent: MessageDelta | None, text: str) -> MessageDelta | None:
        return MessageDelta(None, text)


class Shares(Spoilt):
    """Something that all instances share runs full: each thirtieth one loses what comes in its first delta."""

    made = 0

    def begin(self, context: Context) -> None:
        super().begin(context)
        Shares.made += 1
        self.full = Shares.made % 30 == 0

    def on(self, text: str) -> MessageDelta | None:
        lost, self.full = self.full, False
        return None if lost else super().on(text)


class Deaf(Spoilt):
    """It finds no call at all."""

    def sent(self, sent: MessageDelta | None, text: str) -> MessageDelta | None:
        if sent is not None:
            sent.tool_calls = []
        return sent


class FailsAtTimes(Shares):
    """As before, but the instance fails."""

    def on(self, text: str) -> MessageDelta | None:
        if self.full:
            raise RuntimeError("the pool is full")
        return super().on(text)
