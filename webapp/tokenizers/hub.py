"""Tokenizers from the Hugging Face hub: data files of a repository, each download in a child that can be killed.

Only where the operator allows it (the setting `hub`), never in the thread of a request, and never with a token: what is
gated is downloaded by its owner and put into a folder. No code of a repository is fetched, let alone run.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from parsers.vocabulary.types import UsageError
from webapp.cache import ByteCache
from webapp.children.endings import ChildError, Ending
from webapp.children.jobs import Failure, Job, Jobs
from webapp.children.program import Program
from webapp.settings import ENV_PREFIX, Settings
from webapp.tokenizers.adapter import TokenizerInfo
from webapp.tokenizers.prepared import with_template

PROGRAM = Path(__file__).with_name("hub_program.py")
MOST_RUNNING = 2
MOST_KEPT = 20
MEMORY = 1_000_000_000
OFF = (
    f"This server fetches nothing from the hub. Whoever runs it can allow that with {ENV_PREFIX}HUB=true; a"
    " tokenizer.json can be uploaded without it."
)
VARIABLES = (
    *("HOME", "USERPROFILE", "LOCALAPPDATA", "XDG_CACHE_HOME"),
    *("HF_HOME", "HF_HUB_CACHE", "HF_ENDPOINT", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"),
)
QUIET = {
    "HF_HUB_DISABLE_XET": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
    "HF_HUB_VERBOSITY": "critical",
}

_PREFIXES = ("hub:", "https://huggingface.co/", "huggingface.co/", "https://hf.co/")
_PART = r"[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,94}[A-Za-z0-9_])?"
_NAME = re.compile(rf"{_PART}/{_PART}")
_SHOWN = 80

Keep = Callable[[str, bytes, bytes | None], TokenizerInfo]


@dataclass(slots=True, frozen=True)
class Progress:
    """Says how far the download of a file is, in bytes; `total` 0: nobody knows."""

    file: str
    done: int
    total: int


@dataclass(slots=True, frozen=True)
class _Fetched:
    """A tokenizer that is here now; `cached` says that it was here before, in the cache of huggingface_hub."""

    info: TokenizerInfo
    cached: bool


Download = Job[Progress, _Fetched]


class Downloads(Jobs[str, Progress, _Fetched]):
    """All downloads of this process, by what is typed for a repository.

    `keep` takes what was fetched: repository, tokenizer.json, tokenizer_config.json. `endpoint` and `cache` stand for
    those of huggingface_hub.
    """

    noun = "download"
    renewed = ("done", "failed", "cancelled")

    def __init__(
        self, settings: Settings, keep: Keep, *, endpoint: str | None = None, cache: Path | None = None
    ) -> None:
        kept = ByteCache[Download](MOST_KEPT, lambda job: job.weight)
        super().__init__(running=MOST_RUNNING, waiting=0, kept=kept)
        self._settings = settings
        self._keep = keep
        self._places = {"endpoint": endpoint, "cache": None if cache is None else str(cache)}
        self.latest: Download | None = None

    @property
    def off(self) -> str:
        """Why nothing can be fetched here; '' where it can."""
        return "" if self._settings.hub else OFF

    def fetch(self, text: str) -> Download:
        """The download of a repository, started unless it is running. Raises UsageError for what cannot be fetched."""
        if self.off:
            raise UsageError(self.off)
        self.latest = self.start(repository_name(text), again=True)
        return self.latest

    def key_of(self, given: str) -> str:
        return given

    def full(self) -> Exception:
        return UsageError(f"{MOST_RUNNING} downloads are running already: wait for one, or cancel it")

    def work(self, job: Download, given: str) -> _Fetched:
        program = Program(str(PROGRAM), limits={"DATA": MEMORY}, variables=VARIABLES, environment=QUIET)
        request = {"repository": given, "most": self._settings.tokenizer_upload_bytes, **self._places}
        seconds = self._settings.hub_seconds
        answer = job.ask(program, "fetch", request, seconds=seconds, read=lambda line: Progress(**line))
        model, config, template = (None if path is None else Path(path).read_bytes() for path in answer["files"])
        return _Fetched(self._keep(given, model or b"", with_template(config, template)), answer["cached"])

    def failure_of(self, error: Exception) -> Failure:
        """Each is one sentence."""
        if isinstance(error, UsageError):
            words = str(error)
            return Failure("usage", words[:1].upper() + words[1:] + ("" if words.endswith(".") else "."))
        if not isinstance(error, ChildError):
            return Failure("bug", f"The download failed ({type(error).__name__}). Try again.")
        if error.ending is Ending.REFUSED:
            return Failure("usage", error.message)
        if error.ending is Ending.LATE:
            allowed = f"{ENV_PREFIX}HUB_SECONDS allows ({self._settings.hub_seconds})"
            words = f"The download took longer than {allowed}. Try again: what has come stays in the cache."
            return Failure("late", words)
        return Failure("ended", "The process of the download ended without an answer. Try again.", detail=error.detail)


def repository_name(text: str) -> str:
    """OWNER/NAME in what was typed, which may be an address of it. Raises UsageError for anything else.

    The same arguments name local folders elsewhere, so what looks like a path is no name.
    """
    name = text.strip()
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    name = name.removesuffix("/")
    wrong = ".." in name or "--" in name or name.endswith(".git")
    if wrong or not _NAME.fullmatch(name):
        shown = repr(text.strip()[:_SHOWN]) if text.strip() else "nothing"
        raise UsageError(f"{shown} is no name of a repository: give OWNER/NAME, for example Qwen/Qwen3-0.6B")
    return name
