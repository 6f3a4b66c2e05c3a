"""What runs in the process of a search: the search, and what makes it a good child.

================  ==================================================================================================
deadline          at `find_seconds` the search is left where it is and the result so far is sent; an alarm ends a
                  replay that would take longer, once one replay is through
memory            no more data than `find_memory_bytes`, where the system has such a limit
requests first    a lower priority than the server's
no orphans        the process ends with the one that started it, even if that one was killed
================  ==================================================================================================

Messages to the parent are pickled: Progress values, and one Failure or CaseFound at the end.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
from contextlib import suppress
from importlib.util import find_spec
from multiprocessing import connection, parent_process
from multiprocessing.connection import Connection
from threading import Thread
from time import monotonic

from parsers.cases.find import CaseFound
from parsers.cases.model import Case
from webapp.finding.alarm import TimeUp, alarm
from webapp.finding.failure import Failure, failure_of
from webapp.finding.search import MakeSearch, Searching
from webapp.settings import ENV_PREFIX, Settings
from webapp.tokenizers.current import use

REPORT_SECONDS = 0.1
PRIORITY = 5  # added to the niceness
FIXED_WEIGHT = 20_000  # of a job, in bytes


def weight(data: bytes) -> int:
    """About what a pickled result takes in memory."""
    return 5 * len(data)


def work(sender: Connection, search: MakeSearch, case: Case, settings: Settings) -> None:
    """The life of the process: search, and send what came of it. A parent that has gone is nobody to tell."""
    be_modest(settings.find_memory_bytes)
    use(settings)
    Thread(target=end_with_parent, daemon=True).start()
    with suppress(BrokenPipeError), sender:
        sender.send_bytes(last_message(sender, search, case, settings))


def last_message(sender: Connection, search: MakeSearch, case: Case, settings: Settings) -> bytes:
    """The result, or why there is none."""
    try:
        data = pickle.dumps(searched(sender, search(case, settings), settings.find_seconds))
    except BrokenPipeError:
        raise
    except Exception as error:
        return pickle.dumps(failure_of(error))
    if weight(data) + FIXED_WEIGHT > settings.find_cache_bytes:
        setting = f"{ENV_PREFIX}FIND_CACHE_BYTES"
        return pickle.dumps(Failure("limit", f"The result has {len(data):,} bytes, more than {setting} can keep."))
    return data


def searched(sender: Connection, search: Searching, seconds: float) -> CaseFound:
    """Search until the end or the deadline; say now and then how far it is."""
    end, told = monotonic() + seconds, 0.0
    with suppress(TimeUp), alarm() as clock:
        for progress in search.run():
            now = monotonic()
            if now >= told + REPORT_SECONDS:
                sender.send_bytes(pickle.dumps(progress))
                told = now
            if progress.replays:
                if now >= end:
                    break
                clock.set(end - now)
    return search.result()


def be_modest(memory: int) -> None:
    """Let requests go first; fail with MemoryError before the machine's memory is gone; leave Ctrl-C to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()
    gc.set_threshold(100_000, 20, 50)  # a trace is many objects that stay: looking at them often costs most of it
    if hasattr(os, "nice"):
        os.nice(PRIORITY)
    if find_spec("resource"):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        limit = memory if most == resource.RLIM_INFINITY else min(memory, most)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, most))


def end_with_parent() -> None:
    """Wait for the parent's end, then end at once: a search holds nothing that would need tidying."""
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
