"""The rules of servers, written out plainly: the text that is out after each token, decoded anew at every step.

Each takes a function from ids to text and gives the text of each step, and what comes at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tokenizers import Tokenizer
from tokenizers.decoders import DecodeStream

Ids = Sequence[int]
DecodeIds = Callable[[Ids], str]
BAD = "\ufffd"


def decode_stream(tokenizer: Tokenizer, ids: Ids, *, skip: bool, prompt: Ids = ()) -> list[str]:
    """vLLM's fast path over the library's own stream."""
    stream = DecodeStream(ids=list(prompt), skip_special_tokens=skip)
    out = []
    for one in ids:
        try:
            text = stream.step(tokenizer, one)
        except Exception as error:
            if not str(error).startswith("Invalid prefix"):
                raise
            stream = DecodeStream(skip_special_tokens=skip)
            text = stream.step(tokenizer, one)
        out.append(text or "")
    return out


def offsets(decode: DecodeIds, ids: Ids, prompt: Ids = ()) -> list[str]:
    """Prefix and read offsets, no flush."""
    known, prefix, read, out = list(prompt), 0, len(prompt), []
    for one in ids:
        known.append(one)
        before, now = decode(known[prefix:read]), decode(known[prefix:])
        if len(now) > len(before) and not now.endswith(BAD):
            prefix, read = read, len(known)
            out.append(now[len(before) :])
        else:
            out.append("")
    return out


def is_ideograph(char: str) -> bool:
    """The ranges, from the Unicode names of the blocks: unified ideographs, extensions A to E, and compatibility."""
    blocks = [(0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
              (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)]  # fmt: skip
    return any(first <= ord(char) <= last for first, last in blocks)


def printable(text: str) -> str:
    """What may be shown of text that is not done."""
    if text.endswith("\n") or (text and is_ideograph(text[-1])):
        return text
    if len(text) > 1 and is_ideograph(text[-2]):
        return text[:-1]
    return text[: text.rfind(" ") + 1]


def sglang(decode: DecodeIds, ids: Ids, prompt: Ids = ()) -> list[str]:
    """Surrogate and read offsets; what can be printed of text that waits is out; all at the end."""
    known, surr, read, done, sent, out = list(prompt), 0, len(prompt), 0, 0, []
    for number, one in enumerate(ids, start=1):
        known.append(one)
        new = decode(known[surr:])[len(decode(known[surr:read])) :]
        pending = sent - done
        if number == len(ids):
            shown = new
        elif new and not new.endswith(BAD):
            surr, read, shown, done = read, len(known), new, done + len(new)
            out.append(shown[pending:])
            sent = done
            continue
        else:
            shown = printable(new)
        out.append(shown[pending:])
        sent = max(sent, done + len(shown))
    return out


def text_streamer(decode: DecodeIds, ids: Ids) -> list[str]:
    """Words of a cache that a newline empties; the rest at the end."""
    cache: list[int] = []
    printed, out = 0, []
    for one in ids:
        cache.append(one)
        text = decode(cache)
        if text.endswith("\n"):
            shown, cache, printed = text[printed:], [], 0
        elif text and is_ideograph(text[-1]):
            shown = text[printed:]
            printed += len(shown)
        else:
            shown = text[printed : text.rfind(" ") + 1]
            printed += len(shown)
        out.append(shown)
    if out and cache:
        out[-1] += decode(cache)[printed:]
    return out
