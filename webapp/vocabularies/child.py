"""The process in which a tokenizer of somebody else's making lives: small, limited, and killed without regret.

It answers one request at a time over its standard streams: a length in four bytes, then JSON. The limits are set before
anything is read. Where the system has timers, the process also ends itself: long after a request should be answered,
and when nobody has asked for anything in a while. So none is left behind by a parent that is gone.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import signal
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO

from parsers.vocabulary.types import UsageError
from webapp.vocabularies import sources
from webapp.vocabularies.plain_json import VocabularyError, parsed
from webapp.vocabularies.sanitize import written
from webapp.vocabularies.spelling import as_data, spelling_of

IDLE_SECONDS = 300
GRACE = 3  # times the deadline, at which the parent kills
MAX_IDS = 2_000_000
PROBE = "Hello, world 123 é東🙂\n"

Request = dict[str, Any]
Answer = dict[str, Any]


def main() -> None:
    """Serve until the parent closes the stream. The first argument is the memory limit in bytes."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    gc.disable()  # a large file is millions of lists without a circle among them
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limit_memory(int(sys.argv[1]))
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is no answer
    serve(sys.stdin.buffer, answers)


def limit_memory(most: int) -> None:
    """Fail before the machine's memory is gone, where the system has such a limit."""
    if find_spec("resource"):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer every request. After a panic or a lack of memory the process ends: its state is not to be trusted."""
    worker = Worker()
    while True:
        end_in(IDLE_SECONDS)
        request = receive(requests)
        if request is None:
            return
        end_in(GRACE * request["seconds"])
        answer, sound = worker.answer(request)
        send(answers, answer | {"rss": resident()})
        if not sound:
            return


def end_in(seconds: float) -> None:
    """Let the system end this process after so long, whatever it is doing then."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def receive(stream: BinaryIO) -> Any:
    """The next message, or None at the end of the stream, be it in the middle of a message."""
    head = stream.read(4)
    size = int.from_bytes(head, "big")
    data = stream.read(size) if len(head) == 4 else b""
    return json.loads(data) if data and len(data) == size else None


def send(stream: BinaryIO, message: Any) -> None:
    data = json.dumps(message, ensure_ascii=False).encode()
    stream.write(len(data).to_bytes(4, "big") + data)
    stream.flush()


def resident() -> int:
    """The memory this process takes, in bytes; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


class Worker:
    """At most one loaded tokenizer, and what is asked of it."""

    def __init__(self) -> None:
        self._backend: Any = None
        self._tasks: dict[str, Callable[[Request], Answer]] = {
            "prepare": prepare,
            "load": self.load,
            "encode": self.encode,
            "strings": self.strings,
        }

    def answer(self, request: Request) -> tuple[Answer, bool]:
        """The answer, and whether this process may go on. A failure is an answer too."""
        try:
            return self._tasks[request["task"]](request), True
        except MemoryError:
            return {"failed": "memory"}, False
        except UsageError as error:
            return {"failed": "refused", "message": str(error)}, True
        except OSError as error:
            return {"failed": "refused", "message": f"a file cannot be read or kept ({error.strerror})"}, True
        except Exception as error:  # the library raises nothing more special
            return {"failed": "library", "message": first_line(error)}, True
        except BaseException as error:  # a panic of the library: no Exception, so that nobody goes on after it
            return {"failed": "panic", "message": first_line(error)}, False

    def load(self, request: Request) -> Answer:
        self._backend = loaded(Path(request["path"]).read_bytes())
        return {}

    def encode(self, request: Request) -> Answer:
        (found,) = self._backend.encode_batch([request["text"]], add_special_tokens=False)
        if len(found) > MAX_IDS:
            raise VocabularyError(f"the text has {len(found):,} tokens; at most {MAX_IDS:,} are taken: shorten it")
        return {"ids": found.ids, "starts": [start for start, _ in found.offsets] if request["offsets"] else None}

    def strings(self, request: Request) -> Answer:
        return {"strings": [self._backend.id_to_token(token_id) for token_id in request["ids"]]}


def loaded(data: bytes) -> Any:
    """The library's tokenizer for a checked file. Only here, in the child, is the library let near it."""
    from tokenizers import Tokenizer

    return Tokenizer.from_buffer(data)


def prepare(request: Request) -> Answer:
    """Check, convert, load and try a source file and keep the rebuilt one. The answer is what to know of it."""
    config = config_of(request.get("config"))
    slots = {int(slot): name for slot, name in request.get("slots", {}).items()}
    tokenizer = sources.rebuilt(Path(request["source"]).read_bytes(), config, slots)
    spelling = spelling_of(tokenizer["decoder"], tokenizer["pre_tokenizer"])
    data = written(tokenizer)
    backend = loaded(data)
    require_ids(backend, tokenizer["added_tokens"])
    backend.encode_batch([PROBE], add_special_tokens=False)
    Path(request["target"]).write_bytes(data)
    return {
        "fingerprint": hashlib.sha256(data).hexdigest(),
        "bytes": len(data),
        "vocab_size": backend.get_vocab_size(),
        "spelling": as_data(spelling),
        "added": [[token["id"], token["content"], token["special"]] for token in tokenizer["added_tokens"]],
        "templates": sources.templates(config),
    }


def config_of(path: str | None) -> Any:
    """The tokenizer_config.json that came with a file, as data."""
    try:
        return parsed(Path(path).read_bytes()) if path is not None else None
    except VocabularyError as error:
        raise VocabularyError(f"tokenizer_config.json: {error}") from None


def require_ids(backend: Any, added: list[dict[str, Any]]) -> None:
    """The library gives a token whose id does not come next another one, and says nothing."""
    for token in added:
        given = backend.token_to_id(token["content"])
        if given != token["id"]:
            raise VocabularyError(
                f"{token['content'][:40]!r} would get the id {given}, not {token['id']}; ids of added tokens must"
                " follow those of the vocabulary without a gap",
                "/added_tokens",
            )


def first_line(error: BaseException) -> str:
    """The beginning of what a library says."""
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
