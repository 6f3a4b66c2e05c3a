"""Images and containers of buildah, in a folder of their own: they are none of the machine's."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "docs" / "examples" / "deploy" / "Containerfile"
CERTIFICATES = Path("/etc/ssl/certs")
PACKAGES = "python3,python3-venv,ca-certificates"
DEBIAN = "bookworm"


class Images:
    """Makes images in a folder, as files without layers of a kernel's file system, and starts containers of them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._environ = {**os.environ, "STORAGE_DRIVER": "vfs", "BUILDAH_ISOLATION": "chroot"}

    def buildah(self, *words: str | Path) -> str:
        """What a command of buildah prints."""
        ran = subprocess.run(self.command(*words), capture_output=True, text=True, env=self._environ)
        if ran.returncode:
            raise SystemExit(f"{' '.join(map(str, words))}\n{ran.stdout[-2000:]}{ran.stderr[-4000:]}")
        return ran.stdout

    def command(self, *words: str | Path) -> list[str | Path]:
        return ["buildah", "--root", self._folder / "root", "--runroot", self._folder / "run", *words]

    def asked(self, said: str, *words: str | Path) -> str:
        """What a command of buildah prints that reads this."""
        command = self.command(*words)
        return subprocess.run(command, input=said, capture_output=True, text=True, env=self._environ).stdout

    def popen(self, *words: str | Path, log: Path) -> subprocess.Popen[bytes]:
        with log.open("wb") as to:
            return subprocess.Popen(self.command(*words), stdout=to, stderr=to, env=self._environ)

    def with_base(self) -> str:
        """Have the image that the Containerfile starts from; the words say what it is."""
        name = FILE.read_text("utf-8").partition("FROM ")[2].split()[0]
        if name not in self.buildah("images", "--format", "{{.Name}}:{{.Tag}}"):
            pulled = subprocess.run(self.command("pull", name), capture_output=True, env=self._environ)
            if pulled.returncode:
                self._made_of_debian(name)
        return "a Debian made here" if self._debian.exists() else name

    @property
    def _debian(self) -> Path:
        return self._folder / "debian"

    def _made_of_debian(self, name: str) -> None:
        print(f"{name} cannot be pulled: making a Debian in its place, some minutes", flush=True)
        shutil.rmtree(self._debian, ignore_errors=True)
        told = ["--variant=minbase", f"--include={PACKAGES}", DEBIAN, str(self._debian)]
        subprocess.run(["debootstrap", *told], check=True, stdout=subprocess.DEVNULL)
        (self._debian / "usr" / "bin" / "python").symlink_to("python3")
        container = self.buildah("from", "scratch").strip()
        self.buildah("add", "--quiet", container, self._debian, "/")
        self.buildah("commit", "--quiet", "--rm", container, f"localhost/{name}")

    def built(self) -> str:
        """Build the Containerfile as the documentation says. pip is told of this machine what it needs to reach the
        package index: its certificates and settings."""
        told = [f"--env={key}={os.environ[key]}" for key in ("PIP_CERT", "PIP_DEFAULT_TIMEOUT") if key in os.environ]
        trusted = ["--volume", f"{CERTIFICATES}:{CERTIFICATES}:ro"] if CERTIFICATES.exists() else []
        self.buildah("bud", "--pull-never", "--network", "host", *told, *trusted, "-f", FILE, "-t", "inspector", ROOT)
        return "localhost/inspector"

    @contextmanager
    def started(self, image: str) -> Iterator[Container]:
        name = self.buildah("from", "--pull-never", image).strip()
        try:
            yield Container(self, name, self._folder)
        finally:
            self.buildah("rm", name)


class Container:
    """What an image becomes when it runs. Its data folder lives as long as it."""

    def __init__(self, images: Images, name: str, folder: Path) -> None:
        self._images, self._name, self._folder = images, name, folder

    def run(self, *command: str) -> str:
        """What a command in it prints."""
        return self._images.buildah("run", self._name, "--", *command)

    def asked(self, said: str, *command: str) -> str:
        """What a command in it prints that reads this, its input held open as `docker run -i` does."""
        return self._images.asked(said, "run", self._name, "--", *command)

    def left_running(self, *command: str) -> subprocess.Popen[bytes]:
        """A command in it that goes on, on the machine's own network."""
        return self._images.popen("run", "--network", "host", self._name, "--", *command, log=self._folder / "log")
