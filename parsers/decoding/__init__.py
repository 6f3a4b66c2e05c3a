"""Decode policies: what text a server's detokenizer makes of a model's tokens, and when.

A policy works on stored tokens (ids, bytes, kinds), so no tokenizer is needed to replay one. `decoded` is the door.
"""

from parsers.decoding.decode import Schedule, decoded, schedule, settled
from parsers.decoding.policy import POLICIES, Decode, Decoded, DecodePolicy, Decoder, TokenFacts

__all__ = [
    "POLICIES",
    "Decode",
    "DecodePolicy",
    "Decoded",
    "Decoder",
    "Schedule",
    "TokenFacts",
    "decoded",
    "schedule",
    "settled",
]
