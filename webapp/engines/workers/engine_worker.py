"""The worker of an engine: replays of its parsers, asked for in lines of JSON as docs/engine-protocol.md has them.

Started as `PYTHON -u engine_worker.py ADAPTER [CLASS]` by the interpreter that has the engine, Python 3.9 or newer; it
needs the standard library alone. Nobody but us writes to what was standard output: that becomes standard error before
anything of the engine is imported, and what its parsers print is kept, bounded, with the step it was printed in.
"""

from __future__ import annotations

import sys

if __name__ == "__main__" and sys.path and __file__.startswith(sys.path[0] or "\0"):
    del sys.path[0]  # our other files there are no modules of an engine

if sys.version_info < (3, 9):  # noqa: UP036 - whoever has an older one is told so; what stands below it cannot read
    sys.stdin.readline()  # hello: nothing is said that nobody asked for
    words = '{{"failed": "it needs Python 3.9 or newer, and this is {}.{}"}}\n'
    sys.stdout.write(words.format(*sys.version_info[:2]))
    sys.stdout.flush()
    sys.exit(1)

import gc
import json
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache, partial
from importlib.util import module_from_spec, spec_from_file_location
from time import perf_counter_ns, process_time_ns
from traceback import extract_tb
from types import ModuleType
from typing import Any, BinaryIO, TextIO

PROTOCOL = 1
MOST_PRINTED = 2_000  # characters that are kept of what a parser prints in one replay
MOST_PRINTING = 100  # steps with such
MOST_WORDS = 1_000  # characters of what an exception says
GRACE = 3  # times the deadline, after which the process ends itself
IDLE_SECONDS = 900
SOURCES: dict[str, str] = {}  # of adapters, where worker and adapters are one file
PREFIX = "toolcall_worker_"  # of the names that our other files have among the modules of an engine

MOST_SOURCES = 100  # modules that somebody may be writing
_INSTALLED = {os.path.realpath(one) for one in (sys.prefix, sys.base_prefix, os.path.dirname(os.__file__))}
worked_ns = perf_counter_ns if os.name == "nt" else process_time_ns  # on Windows that goes by 15 milliseconds
_STARTS_PROCESSES = ("os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.startfile", "os.system", "subprocess.")

Tell = Callable[[Mapping[str, Any]], None]


class Printed:
    """Standard output and error: kept with the step while a replay runs, passed on otherwise."""

    encoding, errors, newlines = "utf-8", "replace", None

    def __init__(self, stream: TextIO) -> None:
        self.step: int | None = None
        self.kept: list[list[Any]] = []
        self._room = 0
        self._stream = stream

    def begin(self) -> None:
        """A replay begins."""
        self.step, self.kept, self._room = 0, [], MOST_PRINTED

    def write(self, text: str) -> int:
        """Keep or pass on a text."""
        if self.step is None:
            return self._stream.write(text)
        begun = bool(self.kept) and self.kept[-1][0] == self.step
        if self._room > 0 and (begun or (text.strip() and len(self.kept) < MOST_PRINTING)):
            if not begun:
                self.kept.append([self.step, ""])
            self.kept[-1][1] += text[: self._room]
            self._room -= len(text)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write all of them."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Pass on what waits."""
        self._stream.flush()

    def isatty(self) -> bool:
        """Nobody watches."""
        return False

    def fileno(self) -> int:
        """The file of standard error."""
        return self._stream.fileno()


class Guard:
    """While a replay runs, no process is started, for a copy of this one would answer for it, and none but this one is
    sent a signal: our parent serves others."""

    def __init__(self) -> None:
        self.on = False
        sys.addaudithook(self._look)

    def _look(self, event: str, given: Any) -> None:
        if not self.on:
            return
        if event.startswith(_STARTS_PROCESSES):
            raise _refused(event, "start no process")
        if event == "os.killpg" or (event == "os.kill" and given[0] != os.getpid()):
            raise _refused(event, "send no signal to another process")


def _refused(event: str, what: str) -> PermissionError:
    """Told with the line that wanted it."""
    error = PermissionError(event + ": a parser may " + what + " while it is replayed")
    asking = sys._getframe(2)
    names = asking.f_code.co_name, asking.f_lineno, os.path.basename(asking.f_code.co_filename)
    error.told_place = "{}, line {} of {}".format(*names)  # type: ignore[attr-defined]
    return error


class Hangs(BaseException):
    """A replay took longer than it may and was left where it stood. Not an Exception: parsers catch those."""


class Worker:
    """An adapter, and the replays that are asked of it. Each is made inside of `within`, which may end it by raising
    Hangs; whoever runs the worker in a process of its own ends that instead."""

    def __init__(
        self,
        adapter: Any,
        printed: Printed,
        guard: Any,
        within: Callable[[], AbstractContextManager[Any]] = nullcontext,
    ) -> None:
        self._adapter = adapter
        self._printed = printed
        self._guard = guard
        self._within = within
        self._tokenizer: Any = None
        self._sources: list[str] = []
        self._modules = 0

    def hello(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """What engine this is. A tokenizer goes to an adapter that reads its own kind, else it is read here."""
        _limit_memory(asked.get("memory") or 0)
        path = asked.get("tokenizer")
        if path and hasattr(self._adapter, "take_tokenizer"):
            self._adapter.take_tokenizer(path)
        elif path:
            self._tokenizer = module_of("token_table").whole_tokenizer(path, module_of)
        said = {"protocol": PROTOCOL, "sources": [], **self._adapter.hello()}
        self._sources, self._modules = _sources(), len(sys.modules)
        return {**said, "sources": said["sources"] or self._sources}

    def run(self, asked: Mapping[str, Any], tell: Tell | None = None) -> dict[str, Any]:
        """Many replays. `tell` hears of each step before it is made, where that was asked for.

        `table` of what an adapter is asked makes the TokenTable of the run, once.
        """
        heard = tell if asked.get("report") == "steps" else None
        table = lru_cache(lambda: module_of("token_table").TokenTable(asked, self._tokenizer))
        told_more = {**asked, "table": table}
        replays = [self._replay(told_more, deltas, heard) for deltas in asked["replays"]]
        return {"replays": replays, **self._imported_since()}

    def _imported_since(self) -> dict[str, Any]:
        """Where all modules lie, if a parser imported some that nobody was told of."""
        if len(sys.modules) == self._modules:
            return {}
        before, self._sources, self._modules = self._sources, _sources(), len(sys.modules)
        return {} if self._sources == before else {"sources": self._sources}

    def _replay(self, asked: Mapping[str, Any], deltas: Any, tell: Tell | None) -> dict[str, Any]:
        sent: list[Any] = []
        micros: list[int] = []
        states: list[Any] = []
        answer: dict[str, Any] = {"sent": sent, "micros": micros, "raised": None}
        watch = _watch() if asked.get("observe") == "state" else None
        lines = _look(asked)
        printed, self._guard.on = self._printed, True
        printed.begin()
        try:
            with self._within():
                for step, work in enumerate(self._steps(asked, deltas, watch or lines)):
                    printed.step = step + 1
                    if tell is not None:
                        tell({"progress": {"step": step + 1, "sent": sent[-1] if sent else None}})
                    began = worked_ns()
                    said = work() if lines is None else lines.ran(step + 1, work)
                    micros.append((worked_ns() - began) // 1_000)
                    sent.append(said)
                    if watch is not None:
                        states.append(watch.step())
        except (Exception, Hangs, SystemExit) as error:
            slow = {"slow": True} if isinstance(error, Hangs) else {}
            answer["raised"] = {"step": printed.step, **told(error), **slow}
            if watch is not None and printed.step:
                states.append(watch.step())
        finally:
            self._guard.on, printed.step = False, None
        if watch is not None:
            answer.update(watch.told(), states=states)
        if lines is not None:
            answer.update(lines.told())
        if printed.kept:
            answer["printed"] = printed.kept
        return answer

    def _steps(self, asked: Mapping[str, Any], deltas: Any, watch: Any) -> Iterator[Callable[[], Any]]:
        """What is to be done at each step. What goes wrong before the first counts as step 0."""
        if asked.get("path") == "whole":
            text, ids = _joined(deltas)
            yield lambda: self._adapter.whole(asked, text, ids)
            return
        replay = self._adapter.replay(asked)
        if watch is not None:
            watch.begin(replay)
        reason = asked.get("finish_reason")
        for number, delta in enumerate(deltas, 1):
            text, ids = delta[0], delta[1] if len(delta) > 1 else []
            ends = number == len(deltas) and hasattr(replay, "last") and _comes_with_the_end(deltas, ids, reason)
            yield partial(replay.last, text, ids, reason) if ends else partial(replay.feed, text, ids)
        yield lambda: replay.finish(reason)


def _comes_with_the_end(deltas: Any, ids: Any, reason: Any) -> bool:
    """Whether a server says with the last delta that it is the last: where it sends several tokens a delta the end
    token is one of them, and where the length was reached there is none."""
    return len(deltas) == 1 or len(ids) > 1 or reason == "length"


def _sources() -> list[str]:
    """Folders and files of modules that did not come with the interpreter: somebody may be writing them."""
    own = {os.path.dirname(os.path.abspath(__file__)), *_INSTALLED}
    found = set()
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and _is_outermost(name) and not any(_lies_in(file, one) for one in own):
            found.add(os.path.dirname(file) if os.path.basename(file) == "__init__.py" else file)
    return sorted(found)[:MOST_SOURCES]


def _is_outermost(name: str) -> bool:
    """Whether a module lies in no folder of another one; packages without an __init__.py have none of their own."""
    parts = name.split(".")[:-1]
    around = [sys.modules.get(".".join(parts[: at + 1])) for at in range(len(parts))]
    return all(one is not None and getattr(one, "__file__", None) is None for one in around)


def _lies_in(file: str, folder: str) -> bool:
    return bool(folder) and os.path.realpath(file).startswith(os.path.join(folder, ""))


def _watch() -> Any:
    lines = module_of("line_trace")
    return module_of("state_watch").StateWatch(lines.spelled, lines.fields_of)


def _joined(deltas: Any) -> tuple[str, list[int]]:
    return "".join([delta[0] for delta in deltas]), [one for delta in deltas for one in (delta[1:] or [[]])[0]]


def told(error: BaseException) -> dict[str, str]:
    """An exception as the protocol has it: its type, what it says, and where it came from."""
    try:
        words = " ".join(str(error).split())[:MOST_WORDS]
    except Exception:
        words = ""
    if isinstance(error, SystemExit):
        words = ended_words(error)
    if isinstance(error, MemoryError):
        words = words or "it had all the memory that the entry of its engine allows (memory)"
    if isinstance(error, SyntaxError) and error.filename:
        where = f"line {error.lineno} of {os.path.basename(error.filename)}"
        return {"kind": type(error).__name__, "message": str(error.msg)[:MOST_WORDS], "place": where}
    frames = extract_tb(error.__traceback__, limit=-1)
    last = frames[-1] if frames else None
    place = "" if last is None else f"{last.name}, line {last.lineno} of {os.path.basename(last.filename)}"
    place = getattr(error, "told_place", place)  # of a class that is not as it should be, not where that was noticed
    return {"kind": type(error).__name__, "message": words, "place": place}


def ended_words(error: SystemExit) -> str:
    """What SystemExit means where a parser raises it."""
    code = "" if error.code is None else f" ({str(error.code)[:200]})"
    return f"it tried to end the process that it runs in{code}"


class _Lines:
    """The lines that one step ran, and which steps ran one line."""

    def __init__(self, asked: Mapping[str, Any]) -> None:
        self._step = asked["step"]
        deltas = [*asked["replays"][0], [""]]
        self._finding = module_of("sent_by")
        part = [asked.get(key) for key in ("call", "at")]
        self._sought = self._finding.Sought(asked.get("sought") or "", asked.get("channel") or "", *part)
        self._fed = [delta[0] for delta in deltas[: self._step]]
        self._earlier: list[str] = []  # what was sent before in the channel of what is sought
        self._where = asked.get("where")
        self._tracing = module_of("line_trace")
        self._roots = self._tracing.Roots([])
        self._trace: Any = None
        self._steps: list[int] = []

    def begin(self, replay: Any) -> None:
        """Look at the files of its parsers from now on."""
        self._roots = self._tracing.Roots(replay.watched() if hasattr(replay, "watched") else [])

    def ran(self, step: int, work: Callable[[], Any]) -> Any:
        """What a step does."""
        if step == self._step:
            self._trace = self._tracing.LineTrace(self._roots, self._sent_by())
            with self._trace:
                return work()
        if self._where is None:
            return self._sent(step, work())
        with self._tracing.LineSteps(self._roots, *self._where) as line:
            said = work()
        if line.ran:
            self._steps.append(step)
        return self._sent(step, said)

    def _sent(self, step: int, said: Any) -> Any:
        if step < self._step:
            self._earlier.append(self._finding.said_in(said, self._sought))
        return said

    def _sent_by(self) -> Any:
        """Who sent what is sought, with what was sent and fed before."""
        text, fed = self._sought.text, self._fed
        at = len(text) - 1 if self._sought.at is None else self._sought.at
        made = module_of("first_made").FirstMade(text, at, "".join(self._earlier), "".join(fed)) if text else None
        return self._finding.SentBy(self._sought, fed[-1], "".join(fed[:-1]), made)

    def told(self) -> dict[str, Any]:
        """All of it."""
        found = self._tracing.LineTrace(self._roots) if self._trace is None else self._trace
        return {"lines": {**found.told(), "steps": self._steps}}


class _Costs:
    """How many lines of Python all steps execute."""

    def __init__(self) -> None:
        self._lines: int | None = 0
        self._counted = module_of("executed_lines").executed_lines

    def begin(self, replay: Any) -> None:
        """Whatever is executed counts."""

    def ran(self, _step: int, work: Callable[[], Any]) -> Any:
        """What a step does."""
        said: list[Any] = []
        lines = self._counted(lambda: said.append(work()))
        self._lines = None if lines is None or self._lines is None else self._lines + lines
        return said[0] if said else work()

    def told(self) -> dict[str, Any]:
        """All of it; nothing where nobody could count them."""
        return {} if self._lines is None else {"executed": self._lines}


class _Cover:
    """Which lines of the parser's files all steps run."""

    def __init__(self) -> None:
        self._cover: Any = None

    def begin(self, replay: Any) -> None:
        """Look at the files of its parsers from now on."""
        watched = replay.watched() if hasattr(replay, "watched") else []
        self._cover = module_of("line_cover").LineCover(watched)

    def ran(self, _step: int, work: Callable[[], Any]) -> Any:
        """What a step does."""
        if self._cover is None:
            return work()
        with self._cover:
            return work()

    def told(self) -> dict[str, Any]:
        """All of it; nothing of a path that shows no parser."""
        return {} if self._cover is None else {"covered": self._cover.told()}


_LOOKS: dict[Any, Callable[[Any], Any]] = {
    "lines": _Lines,
    "costs": lambda _asked: _Costs(),
    "cover": lambda _asked: _Cover(),
}


def _look(asked: Mapping[str, Any]) -> Any:
    """What looks at the steps of a replay while they run; None where nothing was asked for."""
    look = _LOOKS.get(asked.get("observe"))
    return None if look is None else look(asked)


def serve(source: BinaryIO, sink: BinaryIO, load: Callable[[], Worker]) -> None:
    """Answer a line with a line, until there are no more. The adapter is loaded by the first."""
    worker: Worker | None = None
    ours = os.getpid()

    def tell(message: Mapping[str, Any]) -> None:
        if os.getpid() != ours:
            os._exit(1)
        sink.write(json.dumps(message).encode("ascii") + b"\n")
        sink.flush()

    while True:
        _end_in(IDLE_SECONDS)
        line = source.readline()
        if not line:
            return
        try:
            asked = json.loads(line)
            _end_in(GRACE * asked.get("run", {}).get("seconds", IDLE_SECONDS))
            worker = worker or _loaded(load)
            answer = worker.run(asked["run"], tell) if "run" in asked else worker.hello(asked["hello"])
        except Exception as error:
            told_error = told(error)
            where = " (in {place})" if told_error["place"] else ""
            tell({"failed": ("{kind}: {message}" + where).format(**told_error)})
            if worker is None:
                return  # what of an engine could be imported is in nobody's hands
        else:
            tell({"answer": answer})


def _loaded(load: Callable[[], Worker]) -> Worker:
    """The worker with its engine. While that is imported nothing is looked at for garbage, and what is there then is
    not looked at again: it stays, and to look at it over and over is a fifth of the time that vLLM 0.33.0 takes."""
    gc.disable()
    try:
        return load()
    finally:
        gc.freeze()
        gc.enable()


def adapter_of(name: str, *given: str) -> Any:
    """The adapter of that name, given the rest of the command line. Raises what importing the engine raises."""
    return module_of("adapter_" + name).adapter(*given)


def module_of(title: str) -> Any:
    """One of our other files. Raises ImportError where there is none of that name, and what importing it raises.

    One that has a WORKER finds `adapter_of` there, for a class that is the matter of another adapter.
    """
    name = PREFIX + title
    if name in sys.modules:
        return sys.modules[name]
    if title in SOURCES:
        module = sys.modules[name] = ModuleType(name)
        exec(compile(SOURCES[title], title + ".py", "exec"), vars(module))  # noqa: S102 - our own text
    else:
        file = os.path.join(os.path.dirname(os.path.abspath(__file__)), title + ".py")
        spec = spec_from_file_location(name, file)
        if spec is None or spec.loader is None or not os.path.exists(file):
            raise ImportError("there is no " + title.replace("_", " "))
        module = sys.modules[name] = module_from_spec(spec)
        spec.loader.exec_module(module)
    getattr(module, "WORKER", {})["adapter_of"] = adapter_of
    return module


def _limit_memory(most: int) -> None:
    """Take at most so many bytes more than now, where the system has limits."""
    try:
        import resource

        with open("/proc/self/statm", encoding="ascii") as file:
            taken = int(file.read().split()[5]) * resource.getpagesize()
        if most:
            resource.setrlimit(resource.RLIMIT_DATA, (taken + most, resource.getrlimit(resource.RLIMIT_DATA)[1]))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, OSError, ValueError):
        pass


def _end_in(seconds: float) -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def main() -> None:
    """Serve whoever started us."""
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    printed = Printed(sys.stderr)
    sys.stdout = sys.stderr = printed
    guard = Guard()
    serve(source, sink, lambda: Worker(adapter_of(*sys.argv[1:]), printed, guard))
    os._exit(0)  # threads of an engine may run on


if __name__ == "__main__":
    main()
