"""What the process of a tokenizer does: check a file and make it anew, load one that was checked, cut text, spell ids.

It is a program for a child (webapp/children). The library that loads tokenizers is let near a file only here, and only
once the process is sealed: what it reads and writes is opened before, for strangers wrote it.
"""

from __future__ import annotations

import gc
import hashlib
from codecs import lookup
from collections.abc import Callable, Mapping
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

from parsers.vocabulary.types import UsageError
from webapp.children.worker import RefusedError, Task, Tell, seal
from webapp.vocabularies import files
from webapp.vocabularies.gguf_file import MAGIC, MOST_HEADER
from webapp.vocabularies.losses import losses
from webapp.vocabularies.piece_table import HEAD, added_of_table, spelling_of_table
from webapp.vocabularies.piece_tokenizer import PieceTokenizer
from webapp.vocabularies.plain_json import VocabularyError, parse_json
from webapp.vocabularies.sanitize import tokenizer_text
from webapp.vocabularies.spelling import spelling_of

MAX_IDS = 2_000_000
MAX_BYTES = 1_000_000_000  # of a rebuilt file
PROBE = "Hello, world 123 é東🙂\n"

Request = dict[str, Any]
Answer = dict[str, Any]


def tasks() -> Mapping[str, Task]:
    """The tasks, over at most one loaded tokenizer."""
    gc.disable()  # a large file is millions of lists without a circle among them
    import_module("tokenizers")
    lookup("utf-8-sig")
    loaded: list[Any] = []

    def load(request: Request) -> Answer:
        data = Path(request["path"]).read_bytes()
        seal()
        loaded[:] = [_loaded(data)]
        return {}

    def encode(request: Request) -> Answer:
        (found,) = loaded[0].encode_batch([request["text"]], add_special_tokens=False)
        if len(found) > MAX_IDS:
            raise VocabularyError(f"the text has {len(found):,} tokens; at most {MAX_IDS:,} are taken: shorten it")
        return {"ids": found.ids, "offsets": found.offsets if request["offsets"] else None}

    def strings(request: Request) -> Answer:
        return {"strings": [loaded[0].id_to_token(token_id) for token_id in request["ids"]]}

    return {task.__name__: _refusing(task) for task in (prepare, load, encode, strings)}


def _refusing(task: Callable[[Request], Answer]) -> Task:
    """The task for a child, which says no where this one finds a fault in what it was given."""

    def do(request: Request, _tell: Tell) -> Answer:
        try:
            return task(request)
        except UsageError as error:
            raise RefusedError(str(error)) from None
        except OSError as error:
            raise RefusedError(f"a file cannot be read or kept ({error.strerror})") from None

    return do


def prepare(request: Request) -> Answer:
    """Check, convert, load and try a source file and keep the rebuilt one. The answer is what to know of it."""
    source = _source(Path(request["source"]))
    config = None if request["config"] is None else Path(request["config"]).read_bytes()
    slots = {int(slot): name for slot, name in request["slots"].items()}
    with open(request["target"], "wb") as target:
        seal(writes=MAX_BYTES)
        data, answer = _prepared(source, _config(config), slots)
        target.write(data)
    return answer


def _source(path: Path) -> bytes:
    """A file; of a model file, which has gigabytes, only the part that may hold the tokenizer."""
    with path.open("rb") as file:
        return file.read(MOST_HEADER if file.peek(4)[:4] == MAGIC else -1)


def _prepared(source: bytes, config: Any, slots: Mapping[int, str]) -> tuple[bytes, Answer]:
    tokenizer = files.rebuild(source, config, slots)
    pieces = "sentencepiece" in tokenizer
    spelling = spelling_of_table(tokenizer) if pieces else spelling_of(tokenizer["decoder"], tokenizer["pre_tokenizer"])
    added = added_of_table(tokenizer) if pieces else tokenizer["added_tokens"]
    data = tokenizer_text(tokenizer)
    backend = _loaded(data)
    _require_ids(backend, added)
    backend.encode_batch([PROBE], add_special_tokens=False)
    return data, {
        "fingerprint": hashlib.sha256(data).hexdigest(),
        "bytes": len(data),
        "vocab_size": backend.get_vocab_size(),
        "spelling": asdict(spelling),
        "exact": files.is_exact(source, pieces, spelling),
        "assumed": files.assumed(source, tokenizer, config),
        "loses": losses(tokenizer, spelling),
        "added": [[token["id"], token["content"], token["special"]] for token in added],
        "templates": files.templates(files.config_of(source, config)),
    }


def _loaded(data: bytes) -> Any:
    """What a rebuilt file is asked through: the library, or our own reading of a table of pieces."""
    from tokenizers import Tokenizer

    if data.startswith(HEAD):
        return PieceTokenizer(parse_json(data))
    return Tokenizer.from_buffer(data)


def _config(data: bytes | None) -> Any:
    try:
        return None if data is None else parse_json(data)
    except VocabularyError as error:
        raise VocabularyError(f"tokenizer_config.json: {error}") from None


def _require_ids(backend: Any, added: list[dict[str, Any]]) -> None:
    """The library gives a token whose id does not come next another one, and says nothing."""
    for token in added:
        given = backend.token_to_id(token["content"])
        if given != token["id"]:
            raise VocabularyError(
                f"{token['content'][:40]!r} would get the id {given}, not {token['id']}; ids of added tokens must"
                " follow those of the vocabulary without a gap",
                "/added_tokens",
            )
