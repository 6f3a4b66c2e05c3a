"""The decode policy of a case as data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from parsers.formats.model import Model, Switch
from parsers.vocabulary.types import Piece
from parsers.vocabulary.words import counted

DecodePolicy = Literal["exact", "vllm_fast", "vllm_slow", "vllm_mistral", "sglang", "text_streamer"]
Decoder = Literal["byte_level", "byte_fallback", "word_piece"]
_Stop = Annotated[str, Field(min_length=1)]

# In the order in which they are listed; the words are for people.
POLICIES: dict[DecodePolicy, str] = {
    "exact": "Every byte becomes text as soon as it can, and nothing is lost at the end.",
    "vllm_fast": "vLLM with a fast tokenizer: text that ends in U+FFFD waits, and is never sent at the end.",
    "vllm_slow": "vLLM with token strings: as vllm_fast, and a decoder that revises its text has it cut by length.",
    "vllm_mistral": "vLLM with mistral-common: as vllm_slow, and special tokens are left out but for "
    "[TOOL_CALLS], [ARGS], [THINK] and [/THINK].",
    "sglang": "SGLang: text that ends in U+FFFD waits behind its last space or CJK character; all is sent at the end.",
    "text_streamer": "transformers' TextStreamer: words, once a space, newline or CJK character ends them; all is sent "
    "at the end.",
}
FLUSHES: frozenset[DecodePolicy] = frozenset({"exact", "sglang", "text_streamer"})
PRIMED: frozenset[DecodePolicy] = frozenset({"vllm_fast", "vllm_slow", "vllm_mistral", "sglang"})


class Decode(Model):
    """The way in which the server made text of the tokens.

    `skip_special_tokens` leaves out tokens with special=true. A `stop` string ends the text before it, or after it with
    `include_stop`. `drop_eos` leaves out the text of the token that ended the output.
    """

    policy: DecodePolicy = "exact"
    skip_special_tokens: Switch = False
    stop: tuple[_Stop, ...] = ()
    include_stop: Switch = False
    drop_eos: Switch = False

    @model_validator(mode="after")
    def _includes_something(self) -> Decode:
        if self.include_stop and not self.stop:
            raise PydanticCustomError("include_stop", "'include_stop' needs 'stop': the strings that end the output")
        return self

    def again(self) -> Decode | None:
        """The policy for an output that was decoded with it already: nothing is left to leave out or to stop at."""
        return None if self.policy == "exact" else Decode(policy=self.policy)


# What a decode policy made of an output: its pieces, when their text comes, and what became of each token.


@dataclass(slots=True, frozen=True)
class TokenFacts:
    """The fate of one token.

    `pending`: bytes of a character that has begun and is not whole after this token. `lost`: its bytes, where the
    policy never sends their text. `skipped`: left out by the options, id only. `late`: how many tokens later its text
    is out. `revised`: the decoder rewrites text here that was sent. `stopped`: it comes after a stop string, or is one.
    """

    pending: bytes = b""
    lost: bytes = b""
    skipped: bool = False
    late: int = 0
    revised: bool = False
    stopped: bool = False


PLAIN = TokenFacts()


@dataclass(slots=True, frozen=True)
class Decoded:
    """An output as a policy decodes it.

    `pieces`: as many as tokens, with their ids and bytes. `due`: how many code points of the joined text are out after
    each token, None where each token's text comes with it. `tokens`: what became of each.
    """

    pieces: tuple[Piece, ...]
    due: tuple[int, ...] | None
    tokens: tuple[TokenFacts, ...]

    def summary(self) -> tuple[str, ...]:
        """Return what the policy left out or changed, a few words each."""
        said, tokens = list[str](), self.tokens
        sent = [at for at, facts in enumerate(tokens, 1) if not (facts.lost or facts.skipped or facts.stopped)]
        end = sent[-1] if sent else 0  # what is lost behind it is lost at the end
        for group, where in ((tokens[:end], "in the middle"), (tokens[end:], "at the end")):
            if lost := sum([len(facts.lost) for facts in group]):
                said.append(f"{counted(lost, 'byte')} lost by policy {where}")
        for words, number in (
            ("left out, id only", sum([facts.skipped for facts in tokens])),
            ("revised after its text was sent", sum([facts.revised for facts in tokens])),
            ("at or after the stop string", sum([facts.stopped for facts in tokens])),
        ):
            said += [f"{counted(number, 'token')} {words}"] * bool(number)
        if late := max([facts.late for facts in tokens], default=0):
            said.append(f"text up to {counted(late, 'token')} late")
        return tuple(said)


# What a decoder and a policy make of the tokens, before stop strings: the same shape for both kinds of decoders.


@dataclass(slots=True)
class Spelled:
    """The text that each token has a share of, how much text is out after each, and what is pending.

    `out` may be less than the text: then the rest is never sent, unless the policy flushes. `lost` and `revised` are
    numbers of tokens.
    """

    texts: list[str] = field(default_factory=list)
    out: list[int] = field(default_factory=list)
    pending: list[bytes] = field(default_factory=list)
    lost: set[int] = field(default_factory=set)
    revised: set[int] = field(default_factory=set)
