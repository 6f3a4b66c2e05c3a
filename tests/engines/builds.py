"""Sets an engine up in a folder that is kept: environments, packages of npm, and what is compiled.

Everything is stamped with a checksum of what it was made from, so a second run starts at once.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ROOT / "requirements" / "engines"
EXAMPLES = ROOT / "docs" / "examples"
BACKEND = ROOT / "tests" / "engines" / "backend"  # in the place of one that takes the index of crates
NPM = ("npm", "--loglevel", "error")
FLAGS = ("-std=c++17", "-O1", "-w", "-ffunction-sections", "-fdata-sections")
FOLDERS = ("common", "include", "ggml/include", "vendor")


@contextmanager
def made(place: Path, *sources: Path) -> Iterator[bool]:
    """Say whether something is to be made of these files, and stamp it when it was."""
    stamp, text = place.with_name(place.name + ".stamp"), sha256(b"".join([one.read_bytes() for one in sources]))
    known = stamp.exists() and stamp.read_text("utf-8") == text.hexdigest() and place.exists()
    if not known:
        stamp.unlink(missing_ok=True)
        place.parent.mkdir(parents=True, exist_ok=True)
    yield not known
    stamp.write_text(text.hexdigest(), "utf-8")


def run(*command: object, **more: object) -> None:
    """Run a program. Raises RuntimeError with its last words."""
    done = subprocess.run([str(one) for one in command], capture_output=True, text=True, **more)  # type: ignore[call-overload]
    if done.returncode:
        raise RuntimeError(f"{command[0]}: {(done.stderr or done.stdout).strip()[-600:]}")


def interpreter(folder: Path, name: str, locks: Path = LOCKS) -> Path:
    """The Python that has a locked set."""
    place, lock = folder / "pythons" / name, locks / f"{name}.txt"
    with made(place, lock) as wanted:
        if wanted:
            shutil.rmtree(place, ignore_errors=True)
            run(sys.executable, "-m", "venv", place)
            pip = (place / "bin" / "python", "-m", "pip", "--quiet", "--no-input", "--disable-pip-version-check")
            run(*pip, "install", "--no-deps", "--require-hashes", "-r", lock)
    return place / "bin" / "python"


def packages(folder: Path, locks: Path = LOCKS) -> Path:
    """The folder with the packages of npm."""
    place, lock = folder / "npm", locks / "npm" / "package-lock.json"
    with made(place, lock) as wanted:
        if wanted:
            place.mkdir(exist_ok=True)
            for one in ("package.json", "package-lock.json", ".npmrc"):
                shutil.copy(locks / "npm" / one, place)
            run(*NPM, "--prefix", place, "ci")
    return place


def o200k(folder: Path) -> str:
    """The vocabulary that openai-harmony reads, from the one that js-tiktoken has."""
    place, source = folder / "o200k", packages(folder) / "node_modules/js-tiktoken/dist/ranks/o200k_base.cjs"
    with made(place, source) as wanted:
        if wanted:
            place.mkdir(exist_ok=True)
            text = source.read_text("utf-8").removeprefix("module.exports = ").strip().rstrip(";")
            ranks = [line.split(" ") for line in json.loads(text)["bpe_ranks"].split("\n") if line]
            rows = sorted((int(first) + at, token) for _, first, *tokens in ranks for at, token in enumerate(tokens))
            lines = "".join([f"{token} {number}\n" for number, token in rows])
            (place / "o200k_base.tiktoken").write_text(lines, "utf-8")
    return str(place)


def template(folder: Path) -> str:
    """A response template: the first example of ours."""
    file = ROOT / "webapp" / "engines" / "response_template" / "examples.json"
    place = folder / "template.json"
    place.write_text(json.dumps(json.loads(file.read_text("utf-8"))[0]["template"]), "utf-8")
    return str(place)


def llama_source(folder: Path) -> Path:
    """The source of llama.cpp, out of a release that has it whole."""
    place, lock = folder / "llama.cpp", LOCKS / "llamacpp.txt"
    with made(place, lock) as wanted:
        if wanted:
            here = folder / "sources"
            pip = (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:")
            run(*pip, "--require-hashes", "-r", lock, "-d", here)
            with tarfile.open(next(here.glob("llama_cpp_python-*.tar.gz"))) as archive:
                archive.extractall(here, filter="data")
            shutil.rmtree(place, ignore_errors=True)
            next(here.glob("llama_cpp_python-*/vendor/llama.cpp")).rename(place)
    return place


def llama_files(source: Path) -> list[Path]:
    """What of it is compiled."""
    common = [*("chat*", "json*", "common", "log", "peg-parser", "trie", "unicode"), "jinja/*", "parsers/*"]
    return sorted({file for one in common for file in source.glob(f"common/{one}.cpp")})


def llamacpp(folder: Path) -> tuple[str, str]:
    """The worker around llama.cpp's chat parsers, and where it is started."""
    source, own, place = llama_source(folder), EXAMPLES / "llama_worker.cpp", folder / "llama_worker"
    with made(place, own, LOCKS / "llamacpp.txt") as wanted:
        if wanted:
            objects = folder / "objects"
            objects.mkdir(exist_ok=True)
            includes = [f"-I{source / one}" for one in FOLDERS]
            version = f'-DLLAMA_VERSION="{_pinned("llamacpp")}"'

            def compiled(file: Path) -> Path:
                to = objects / f"{file.parent.name}_{file.stem}.o"
                if file == own or not to.exists():
                    run("c++", *FLAGS, *includes, version, "-c", file, "-o", to)
                return to

            with ThreadPoolExecutor(2) as pool:
                found = [*pool.map(compiled, [*llama_files(source), own])]
            run("c++", *found, "-o", place, "-Wl,--gc-sections", "-lpthread")
    return f"{place} {source / 'models' / 'templates'}", str(folder)


def _pinned(name: str) -> str:
    """The first pin of a set, as a version."""
    line = next(line for line in (LOCKS / f"{name}.txt").read_text("utf-8").splitlines() if "==" in line)
    return " ".join(line.removesuffix(" \\").split("=="))


def aisdk(folder: Path) -> tuple[str, str]:
    """The worker around the parsers of the npm package."""
    return f"{shutil.which('node')} {EXAMPLES / 'ai_sdk_worker.mjs'}", str(packages(folder))


def go(folder: Path) -> tuple[str, str]:
    """The example in Go."""
    place, own = folder / "go_worker", EXAMPLES / "worker.go"
    with made(place, own) as wanted:
        if wanted:
            run("go", "build", "-o", place, own)
    return str(place), str(folder)


TOKENIZERS: dict[str, Callable[[Path], str]] = {"o200k": o200k, "template": template}
COMMANDS: dict[str, Callable[[Path], tuple[str, str]]] = {"aisdk": aisdk, "llamacpp": llamacpp, "go": go}
