"""What fetches files from the hub, as the program of a child: it imports nothing of ours but the way to say no.

The cache of huggingface_hub is looked at first. huggingface_hub tries an unreachable hub five times, which takes 23
seconds (measured with 2.4): whoever started this has the patience, or ends it.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from typing import Any

from webapp.children.worker import RefusedError, Task, Tell

MODELS = ("tokenizer.json", "tekken.json", "tokenizer.model")  # the first that is there
MODEL = MODELS[0]
BESIDE = ("tokenizer_config.json", "chat_template.jinja")
FILES = (*MODELS, *BESIDE)
EVERY = 250_000  # bytes between two reports


class TooLargeError(Exception):
    """A file is larger than a tokenizer may be."""


def tasks() -> Mapping[str, Task]:
    """The one task."""
    return {"fetch": fetch}


def fetch(asked: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """The paths of the files; all but the first may be missing. Raises RefusedError with a sentence."""
    try:
        model = next(filter(None, [_cached(asked, name) for name in MODELS]), None)
        if model is not None:
            return {"files": [model, *[_cached(asked, name) for name in BESIDE]], "cached": True}
        model = _first(asked, tell)
        return {"files": [model, *[_optional(asked, name, tell) for name in BESIDE]], "cached": False}
    except Exception as error:  # whatever a hub or a disk can do
        raise RefusedError(sentence(error, asked)) from error


def _cached(asked: Mapping[str, Any], name: str) -> str | None:
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        found: str = hf_hub_download(asked["repository"], name, cache_dir=asked["cache"], local_files_only=True)
    except LocalEntryNotFoundError:
        return None
    return found


def _download(asked: Mapping[str, Any], name: str, tell: Tell) -> str:
    from huggingface_hub import constants, hf_hub_download

    constants.DOWNLOAD_CHUNK_SIZE = EVERY
    tell({"file": name, "done": 0, "total": 0})
    path: str = hf_hub_download(
        asked["repository"],
        name,
        cache_dir=asked["cache"],
        endpoint=asked["endpoint"],
        token=False,
        tqdm_class=progress_bar(asked, name, tell),
    )
    return path


def progress_bar(asked: Mapping[str, Any], name: str, tell: Tell) -> Any:
    """Return what stands where huggingface_hub draws a progress bar, as a class: it tells, and refuses what is too
    large."""

    class Bar:
        def __init__(self, total: int | None = None, initial: int = 0, **_others: object) -> None:
            self.total, self.done, self.next = total or 0, initial, 0
            self.update(0)

        def __enter__(self) -> Bar:
            return self

        def __exit__(self, *_: object) -> None:
            tell({"file": name, "done": self.done, "total": self.total})

        def update(self, size: float | None = 1) -> None:
            self.done += int(size or 0)
            if max(self.done, self.total) > asked["most"]:
                raise TooLargeError(f"{name} has {max(self.done, self.total):,} bytes")
            if self.done >= self.next:
                self.next = self.done + EVERY
                tell({"file": name, "done": self.done, "total": self.total})

        def close(self) -> None:
            """Nothing is drawn."""

    return Bar


def _first(asked: Mapping[str, Any], tell: Tell) -> str:
    """The first file of a vocabulary that the repository has. Raises what says that it has none."""
    from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError

    missing: Exception | None = None
    for name in MODELS:
        try:
            return _download(asked, name, tell)
        except EntryNotFoundError as error:
            if isinstance(error, LocalEntryNotFoundError):
                raise
            missing = missing or error
    raise missing or FileNotFoundError(MODEL)


def _optional(asked: Mapping[str, Any], name: str, tell: Tell) -> str | None:
    from huggingface_hub.errors import EntryNotFoundError

    try:
        return _download(asked, name, tell)
    except (EntryNotFoundError, TooLargeError):
        return None


def sentence(error: Exception, asked: Mapping[str, Any]) -> str:
    """Return what a person is told, and what there is to do."""
    from huggingface_hub import constants, errors

    name, hub = asked["repository"], asked["endpoint"] or constants.ENDPOINT
    if isinstance(error, errors.HFValidationError):
        return f"{name} is no name of a repository: give OWNER/NAME, for example Qwen/Qwen3-0.6B."
    if isinstance(error, errors.GatedRepoError):
        return (
            f"{name} is gated: only people it admits can fetch it, and this server uses nobody's token. Download its"
            " tokenizer.json yourself and upload it here."
        )
    if isinstance(error, errors.RepositoryNotFoundError | errors.RevisionNotFoundError):
        return f"There is no {name} at {hub}, or it is private. Look at the spelling, or upload its tokenizer.json."
    if isinstance(error, errors.LocalEntryNotFoundError | errors.OfflineModeIsEnabled):
        return _not_reached(error, hub)
    if isinstance(error, errors.EntryNotFoundError):
        return (
            f"{name} has no {' and no '.join(MODELS)}. Save the tokenizer with save_pretrained of transformers, and"
            f" upload the {MODEL} it writes."
        )
    if isinstance(error, errors.HfHubHTTPError) and error.response is not None:
        return f"{hub} answers with status {error.response.status_code}. Try again later, or upload a {MODEL}."
    return _of_this_machine(error, asked)


def _not_reached(error: Exception, hub: str) -> str:
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return (
            "It is not in the cache of this server, which is told to stay offline (HF_HUB_OFFLINE). Upload a"
            f" {MODEL} instead."
        )
    return f"{hub} cannot be reached from this server, and nothing is in its cache. Upload a {MODEL} instead."


def _of_this_machine(error: Exception, asked: Mapping[str, Any]) -> str:
    number = error.errno if isinstance(error, OSError) else None
    if isinstance(error, TooLargeError):
        return f"{error}; this server takes {asked['most']:,}."
    if number in (errno.ENOSPC, errno.EDQUOT):
        return "The disk of this server is full. Make room, then try again."
    if number in (errno.EACCES, errno.EPERM, errno.EROFS):
        return "The cache folder of this server cannot be written. Set HF_HOME to a folder that can."
    return f"The download failed ({type(error).__name__}). Try again, or upload a {MODEL}."
