"""The decode policy of a case as data."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from parsers.formats.model import Model

DecodePolicy = Literal["exact", "vllm_fast", "vllm_slow", "vllm_mistral", "sglang", "text_streamer"]
Decoder = Literal["byte_level", "byte_fallback"]
Switch = Annotated[bool, Field(strict=True)]
Stop = Annotated[str, Field(min_length=1)]

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
    """How the server made text of the tokens.

    `skip_special_tokens` leaves out tokens with special=true. A `stop` string ends the text before it, or after it with
    `include_stop`. `drop_eos` leaves out the text of the token that ended the output.
    """

    policy: DecodePolicy = "exact"
    skip_special_tokens: Switch = False
    stop: tuple[Stop, ...] = ()
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
