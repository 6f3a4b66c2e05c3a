"""Downloads, each in a process that can be killed and watched by a thread of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Lock, Thread, Timer
from typing import Any

from parsers.vocabulary.types import UsageError
from webapp.children import bare_environment
from webapp.hub.job import Job, State
from webapp.hub.names import repository
from webapp.settings import ENV_PREFIX, Settings
from webapp.tokenizers.base import TokenizerInfo
from webapp.tokenizers.chat_template import with_template

PROGRAM = Path(__file__).with_name("child.py")
MOST_RUNNING = 2
MOST_KEPT = 20
OFF = (
    f"This server fetches nothing from the hub. Whoever runs it can allow that with {ENV_PREFIX}HUB=true; a"
    " tokenizer.json can be uploaded without it."
)
NEEDED = (
    *("HOME", "USERPROFILE", "LOCALAPPDATA", "XDG_CACHE_HOME"),
    *("HF_HOME", "HF_HUB_CACHE", "HF_ENDPOINT", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"),
)

Keep = Callable[[str, bytes, bytes | None], TokenizerInfo]


class HubJobs:
    """All downloads of this process. Safe to share between threads.

    `keep` takes what was fetched: repository, tokenizer.json, tokenizer_config.json. `endpoint` and `cache` stand for
    those of huggingface_hub.
    """

    def __init__(
        self, settings: Settings, keep: Keep, *, endpoint: str | None = None, cache: Path | None = None
    ) -> None:
        self._settings = settings
        self._keep = keep
        self._endpoint = endpoint
        self._cache = cache
        self._lock = Lock()
        self._jobs: dict[str, Job] = {}
        self._processes: dict[str, subprocess.Popen[str]] = {}
        self._threads: list[Thread] = []

    @property
    def off(self) -> str:
        """Why nothing can be fetched here; '' where it can."""
        return "" if self._settings.hub else OFF

    def start(self, text: str) -> Job:
        """The download of a repository, started unless it is running. Raises UsageError for what cannot be fetched."""
        if self.off:
            raise UsageError(self.off)
        name = repository(text)
        with self._lock:
            job = self._jobs.get(name)
            if job is not None and not job.over:
                return job
            if sum(not one.over for one in self._jobs.values()) >= MOST_RUNNING:
                raise UsageError(f"{MOST_RUNNING} downloads are running already: wait for one, or cancel it")
            return self._begin(name)

    def known(self, name: str) -> Job | None:
        """The latest download of a repository, if there was one."""
        return self._jobs.get(name)

    def latest(self) -> Job | None:
        """The download that was started last."""
        return next(reversed(self._jobs.values()), None)

    def cancel(self, name: str) -> None:
        """Stop a download, if there is one."""
        with self._lock:
            job = self._jobs.get(name)
            if job is not None:
                self._end(job, "cancelled", "The download was cancelled.")

    def close(self) -> None:
        """Stop everything, and wait until no process is left."""
        for name in list(self._jobs):
            self.cancel(name)
        for thread in self._threads:
            thread.join()

    def _begin(self, name: str) -> Job:
        self._jobs.pop(name, None)
        job = self._jobs[name] = Job(name)
        for old in [one.repository for one in self._jobs.values() if one.over][: max(len(self._jobs) - MOST_KEPT, 0)]:
            del self._jobs[old]
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        thread = Thread(target=self._work, args=(job,), name="hub", daemon=True)
        self._threads.append(thread)
        thread.start()
        return job

    def _work(self, job: Job) -> None:
        """The life of a download: its process, and what comes of it."""
        timer = Timer(self._settings.hub_seconds, self._late, (job,))
        timer.daemon = True
        try:
            process = self._started(job)
            timer.start()
            with process:
                self._listen(job, process)
        except Exception as error:
            with self._lock:
                self._end(job, "failed", f"The download failed ({type(error).__name__}). Try again.")
        finally:
            timer.cancel()
            self._processes.pop(job.repository, None)
            job.pid = None
            job.ended.set()

    def _started(self, job: Job) -> subprocess.Popen[str]:
        with self._lock:
            process = subprocess.Popen(  # noqa: S603 - our own program, no shell, data on standard input
                [sys.executable, "-I", str(PROGRAM)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=bare_environment(*NEEDED),
                encoding="utf-8",
            )
            self._processes[job.repository] = process
            job.pid = process.pid
            if job.over:
                process.kill()
        return process

    def _listen(self, job: Job, process: subprocess.Popen[str]) -> None:
        asked = {
            "repository": job.repository,
            "endpoint": self._endpoint,
            "cache": None if self._cache is None else str(self._cache),
            "most": self._settings.tokenizer_upload_bytes,
        }
        if process.stdin is None or process.stdout is None:  # both are pipes
            return
        try:
            process.stdin.write(json.dumps(asked) + "\n")
            process.stdin.flush()  # and stays open: the process ends when it is closed
            for line in process.stdout:
                self._heard(job, json.loads(line))
        except (OSError, ValueError):
            if not job.over:
                raise
        with self._lock:
            self._end(job, "failed", "The process of the download ended without an answer. Try again.")

    def _heard(self, job: Job, line: dict[str, Any]) -> None:
        if "file" in line:
            job.file, job.done, job.total = line["file"], line["done"], line["total"]
            return
        if "failed" in line:
            with self._lock:
                self._end(job, "failed", line["failed"])
            return
        model, config, template = (None if path is None else Path(path).read_bytes() for path in line["files"])
        job.cached = line["cached"]
        try:
            info = self._keep(job.repository, model or b"", with_template(config, template))
        except UsageError as error:
            with self._lock:
                self._end(job, "failed", _sentence(str(error)))
            return
        with self._lock:
            job.info = info
            self._end(job, "done", "")

    def _late(self, job: Job) -> None:
        with self._lock:
            self._end(
                job,
                "failed",
                f"The download took longer than {ENV_PREFIX}HUB_SECONDS allows ({self._settings.hub_seconds}). Try"
                " again: what has come stays in the cache.",
            )

    def _end(self, job: Job, state: State, problem: str) -> None:
        """Only the first word counts; the process of a job that is over has nothing left to do."""
        if not job.over:
            job.problem = problem
            job.state = state
        process = self._processes.get(job.repository)
        if process is not None and job.state != "done":
            process.kill()


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:] + ("" if words.endswith(".") else ".")
