"""The decoded JSON of a case with everything in it that somebody wrote said by `say`, which keeps the length of texts.

Left as they are: how it is replayed and compared, and what shapes a schema; what stays of a chunk `redacted_stream`
says, and of parser, contract and tokenizer `redacted_programs`. Left out is where the case is from: links, projects,
what it was made of. A token whose text becomes another gets a number for its id, the same for the same token, for an id
says the text to whoever has the vocabulary.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import accumulate, pairwise

from parsers.cases.redaction.redacted_programs import said_contract, said_ending, said_parser, said_tokenizer
from parsers.cases.redaction.redacted_stream import Json, Say, cut, said_data, said_stream

FIRST_ID = 1000  # the ids of special tokens are below or far above
_LINKS = ("$schema", "parent")
_SOURCE_KEPT = ("kind", "engine", "version", "minimized", "licence")
_SOURCE_SAID = ("model", "settings")
_NAMING = frozenset(
    {"properties", "$defs", "definitions", "patternProperties", "dependentSchemas", "dependentRequired"}
)
_DATA = frozenset({"enum", "const", "default", "examples", "example", "required"})
_LITERAL = frozenset({"type", "format", "$schema", "contentEncoding", "contentMediaType"})
_WORDS = frozenset({
    "string", "number", "integer", "boolean", "array", "object", "null", "function", "custom", "date", "time",
    "date-time", "duration", "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6", "uri", "uri-reference",
    "iri", "iri-reference", "uri-template", "uuid", "regex", "json-pointer", "relative-json-pointer", "int32", "int64",
    "float", "double", "byte", "binary", "password", "base64", "base64url", "base16", "base32", "quoted-printable",
    "any", "dict", "list", "str", "int", "bool", "tuple",
})  # fmt: skip
_DIALECT = "://json-schema.org/"
_BOUNDS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_TELLING = 4  # digits of a bound beside zeros at its ends: with fewer it is anybody's
_SCHEMA_KEYS = _NAMING | _DATA | _LITERAL | frozenset({
    "function", "name", "description", "parameters", "strict", "title", "items", "prefixItems",
    "additionalProperties", "unevaluatedProperties", "unevaluatedItems", "anyOf", "oneOf", "allOf", "not", "if",
    "then", "else", "contains", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
    "minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties",
    "minContains", "maxContains", "propertyNames", "pattern", "nullable", "$ref", "$id", "$comment", "$anchor",
    "$dynamicRef", "deprecated", "readOnly", "writeOnly", "discriminator", "input_schema", "inputSchema",
})  # fmt: skip


def redacted(
    data: Mapping[str, Json], say: Say, *, keep_ids: bool = False, keep_model: bool = False
) -> dict[str, Json]:
    """The data of a case, redacted. With `keep_ids` tokens keep their ids, with `keep_model` the model its name."""
    made = {key: _top(key, value, say) for key, value in data.items() if key not in _LINKS}
    made["source"] = _source(data.get("source"), say, keep_model=keep_model)
    made["context"] = _context(data.get("context", {}), say, keep_model=keep_model)
    made["input"] = _input(data["input"], say, (data.get("tokenizer") or {}).get("vocab") or {}, keep_ids=keep_ids)
    if not made["context"]:
        del made["context"]
    return made


def _top(key: str, value: Json, say: Say) -> Json:
    """What a key of a case holds; those that are not listed here may come later, and are data."""
    if key in ("schema", "verdict", "replay", "compare", "checks", "source", "context", "input"):
        return value
    if key == "parser":
        return said_parser(value, say)
    if key == "contract":
        return said_contract(value)
    if key == "tokenizer":
        return said_tokenizer(value)
    if key == "tools":
        return [_schema(tool, say) for tool in value]
    if key == "expect":
        return _expect(value, say)
    if key == "engines":
        return {name: _engine(known, say) for name, known in value.items()}
    if key == "decode":
        return {name: said_data(item, say) if name == "stop" else item for name, item in value.items()}
    return said_data(value, say)


def _source(source: Mapping[str, Json] | None, say: Say, *, keep_model: bool) -> dict[str, Json]:
    given = source or {"kind": "redacted"}
    kept = {key: given[key] for key in _SOURCE_KEPT if key in given}
    said = {
        key: given[key] if keep_model and key == "model" else say(given[key]) for key in _SOURCE_SAID if given.get(key)
    }
    return {**kept, **said, "redacted": True}


def _context(context: Mapping[str, Json], say: Say, *, keep_model: bool) -> dict[str, Json]:
    made = dict(context)
    if "prompt_tail" in made:
        made["prompt_tail"] = say(_text(made["prompt_tail"]))
    if isinstance(made.get("tool_choice"), dict):
        made["tool_choice"] = {"name": say(made["tool_choice"]["name"])}
    if "template_kwargs" in made:  # keys are the template's own
        made["template_kwargs"] = {key: said_data(value, say) for key, value in made["template_kwargs"].items()}
    if "finish_reason" in made:
        made["finish_reason"] = said_ending(made["finish_reason"], say)
    if made.get("model") and not keep_model:
        made["model"] = say(made["model"])
    if made.get("id_seed") is not None:
        made["id_seed"] = said_data(made["id_seed"], say)
    return made


def _engine(known: Mapping[str, Json], say: Say) -> Json:
    made = {key: value for key, value in known.items() if key != "link"}
    if "notes" in made:
        made["notes"] = said_data(made["notes"], say)
    return {**made, "expect": _expect(made["expect"], say)} if "expect" in made else made


def _expect(expect: Mapping[str, Json] | None, say: Say) -> Json:
    """What is right: texts, calls, and both in order."""
    if expect is None:
        return None
    made = dict(expect)
    for key in ("reasoning", "content"):
        if made.get(key) is not None:
            made[key] = say(_text(made[key]))
    for key in ("tool_calls", "events"):
        if made.get(key) is not None:
            made[key] = [_part(part, say) for part in made[key]]
    if "finish_reason" in made:
        made["finish_reason"] = said_ending(made["finish_reason"], say)
    return made


def _part(part: Mapping[str, Json], say: Say) -> Json:
    said = {key: say(_text(part[key])) for key in ("name", "raw", "text") if part.get(key) is not None}
    arguments = {"arguments": said_data(part["arguments"], say)} if part.get("arguments") is not None else {}
    return {**part, **said, **arguments}


def _text(value: str | list[str]) -> str:
    return value if isinstance(value, str) else "".join(value)


def _schema(value: Json, say: Say, *, names: bool = False) -> Json:
    """A tool, or a schema in it; `names`: the keys of this object are names."""
    if isinstance(value, list):
        return [_schema(item, say) for item in value]
    if not isinstance(value, dict):
        return say(value) if isinstance(value, str) else value
    made = {}
    for key, item in value.items():
        known = not names and key in _SCHEMA_KEYS
        new = key if known else say(key)
        if known and key in _LITERAL:
            made[new] = _literal(key, item, say)
        elif known and key in _DATA:
            made[new] = said_data(item, say)
        elif isinstance(item, int | float):
            made[new] = said_data(item, say) if not known or _tells(key, item) else item
        elif known and key == "$ref" and isinstance(item, str):
            made[new] = "/".join([part if part in _NAMING else say(part) for part in item.split("/")])
        else:
            made[new] = _schema(item, say, names=known and key in _NAMING)
    return made


def _literal(key: str, value: Json, say: Say) -> Json:
    """A type, a format or a dialect: what JSON Schema, OpenAPI and servers know stays, anybody's own is said."""
    if isinstance(value, list):
        return [_literal(key, item, say) for item in value]
    known = isinstance(value, str) and (value in _WORDS or (key == "$schema" and _DIALECT in value))
    return value if known else _schema(value, say)


def _tells(key: str, bound: float) -> bool:
    """Return whether a number of a schema may be somebody's: a bound with many digits. Sizes are shapes."""
    digits = "".join([char for char in json.dumps(bound).partition("e")[0] if char.isdigit()])
    return key in _BOUNDS and len(digits.strip("0")) >= _TELLING


# The output: text, tokens and deltas say the same, so what becomes of it is worked out once and cut where they are cut.


def _input(given: Mapping[str, Json], say: Say, vocab: Mapping[str, int], *, keep_ids: bool) -> dict[str, Json]:
    made = dict(given)
    whole = _whole(given)
    new = say(whole)
    ids = _Ids(given, vocab, keep=keep_ids)
    if given.get("text") is not None:
        made["text"] = new
    if given.get("tokens") is not None:
        made["tokens"] = _tokens(given["tokens"], whole, new, ids)
    if given.get("deltas") is not None:
        made["deltas"] = _deltas(given["deltas"], new, ids)
    if given.get("stream") is not None:
        made["stream"] = said_stream(given["stream"], say, ids.all_of)
    return made


def _whole(given: Mapping[str, Json]) -> str:
    if given.get("text") is not None:
        return _text(given["text"])
    if given.get("tokens") is not None:
        return "".join([token[1] for token in given["tokens"]])
    return "".join([delta["text"] for delta in given.get("deltas") or ()])


class _Ids:
    """New numbers for ids. Those of markers stay, and those of tokens whose text stays."""

    def __init__(self, given: Mapping[str, Json], vocab: Mapping[str, int], *, keep: bool) -> None:
        tokens = given.get("tokens") or ()
        self._kept = {*vocab.values(), *[token[0] for token in tokens if _kind(token) in ("special", "added")]}
        self._keep = keep
        self._made: dict[tuple[int, str | None], int] = {}
        self._taken = self._kept | {token[0] for token in tokens}
        self._order: list[tuple[int, int]] = []
        self._next = FIRST_ID

    def token(self, known: int | None, text: str, *, same: bool) -> int | None:
        """The number of the next token, whose text is `text` now; `same`: as it was before."""
        if known is None:
            return None
        new = known if same else self._new(known, text)
        self._order.append((known, new))
        return new

    def all_of(self, known: list[int]) -> list[int]:
        """The numbers for all ids of the output in order: those of the tokens where they are these."""
        if known == [before for before, _ in self._order]:
            return [new for _, new in self._order]
        return [self._new(one, None) for one in known]

    def _new(self, known: int, text: str | None) -> int:
        if self._keep or known in self._kept:
            return known
        if (known, text) not in self._made:
            while self._next in self._taken:
                self._next += 1
            self._made[known, text] = self._next
            self._next += 1
        return self._made[known, text]


def _kind(token: list[Json]) -> str | None:
    return token[2].get("kind") if len(token) > 2 else None


def _tokens(tokens: list[list[Json]], whole: str, new: str, ids: _Ids) -> list[list[Json]]:
    """The tokens of the new text, cut where those of the old one are, in bytes too."""
    texts = cut(new, [len(token[1]) for token in tokens])
    raws = _raws(tokens, whole, new)
    made = []
    for token, text, raw in zip(tokens, texts, raws, strict=True):
        extra = {key: value for key, value in (token[2] if len(token) > 2 else {}).items() if key != "hex"}
        same = text == token[1] and (raw is None or raw.hex() == _bytes(token).hex())
        if raw is not None and raw != text.encode("utf-8", "surrogatepass"):
            extra["hex"] = raw.hex()
        number = ids.token(token[0], text, same=same)
        made.append([number, text, extra] if extra else [number, text])
    return made


def _bytes(token: list[Json]) -> bytes:
    told = token[2].get("hex") if len(token) > 2 else None
    return token[1].encode("utf-8", "surrogatepass") if told is None else bytes.fromhex(told)


def _raws(tokens: list[list[Json]], whole: str, new: str) -> list[bytes | None]:
    """The bytes of each new token. Where the old ones did not spell the text, only those of a text that stays."""
    before, after = whole.encode("utf-8", "surrogatepass"), new.encode("utf-8", "surrogatepass")
    olds = [_bytes(token) for token in tokens]
    if b"".join(olds) == before:
        return [after[start:end] for start, end in pairwise([0, *accumulate(map(len, olds))])]
    texts = cut(new, [len(token[1]) for token in tokens])
    return [old if text == token[1] else None for old, text, token in zip(olds, texts, tokens, strict=True)]


def _deltas(deltas: list[Json], new: str, ids: _Ids) -> list[Json]:
    texts = cut(new, [len(delta["text"]) for delta in deltas])
    numbers = iter(ids.all_of([one for delta in deltas for one in delta.get("ids") or ()]))
    made = []
    for delta, text in zip(deltas, texts, strict=True):
        told = delta.get("ids")
        made.append({**delta, "text": text} | ({} if told is None else {"ids": [next(numbers) for _ in told]}))
    return made
