"""`make test-image`: the image of the Containerfile is built, migrated, started, asked, stopped and started again.

buildah does it, which needs neither a daemon nor more of the kernel than chroot. The image that the Containerfile
starts from is pulled; where no registry can be reached, a Debian with Debian's own Python takes its place and its
name, made by debootstrap. Exit code 1 where something is not as it should be.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

from tests.image.images import Container, Images
from tests.image.server import Server

DATA = "/var/lib/toolcall-inspector"


def main(folder: Path) -> int:
    """Build, and try every check; how many fail."""
    images = Images(folder)
    base = images.with_base()
    failed = 0
    with images.started(images.built()) as container:
        print(f"built on {base}, with {container.run('python', '--version').strip()}", flush=True)
        for asks, says in CHECKS.items():
            held = asks(container)
            failed += not held
            print(f"{'ok  ' if held else 'FAIL'}  {says}", flush=True)
    return failed


def _ordinary(container: Container) -> bool:
    return container.run("id", "--user", "--name").strip() == "inspector"


def _migrated(container: Container) -> bool:
    return f"{DATA}/toolcall-inspector.sqlite3: schema " in container.run("toolcall-inspector", "db", "upgrade")


def _attends(container: Container) -> bool:
    answers = container.asked('{"hello": {"protocol": 1}}\n', "toolcall-inspector", "attend").splitlines()
    return [json.loads(line)["answer"]["protocol"] for line in answers] == [1]


def _serves(container: Container) -> bool:
    with Server(container) as first:
        if not (first.is_ready() and first.status("/") == 200 and first.called() == ["f"]):
            return False
        case_id = first.stored()
    if not first.left():
        return False
    with Server(container) as again:
        return again.is_ready() and again.status(f"/c/{case_id}") == 200


CHECKS: dict[Callable[[Container], bool], str] = {
    _ordinary: "all runs as an ordinary user",
    _migrated: "`db upgrade` makes the schema in the data folder",
    _attends: "the pytest plugin is answered over the pipes of a container",
    _serves: "the server is ready, shows a page, replays, stores, ends when told, and still has what it stored",
}


if __name__ == "__main__":
    sys.exit(min(1, main(Path(sys.argv[1]))))
