"""What a decoder and a policy make of the tokens, before stop strings: the same shape for both kinds of decoders."""

from __future__ import annotations

from dataclasses import dataclass, field


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
