"""`make test-clients`: the five commands of the plugin's page, in environments that pip fills with other versions.

Each set of requirements/clients is one stranger: an environment with that pytest and that pydantic, and the wheel of
the plugin. The inspector is in another one, from its own wheel. Exit code 1 where something is not as it should be.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.plugin.environments import ROOT, Environment, bare, built, done, with_inspector
from tests.plugin.stranger import commands, page_case, project

SETS = sorted((ROOT / "requirements" / "clients").glob("*.txt"))
EXPECTED = [0, 0, 1, 0, 0]


def main(python: str) -> int:
    """Try every set; the number of those that fail."""
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        wheels = home / "wheels"
        wheels.mkdir()
        inspector = with_inspector(home / "inspector", built(ROOT, wheels))
        plugin = built(ROOT / "pytest_plugin", wheels)
        for requirements in SETS:
            codes = tried(home / requirements.stem, python, requirements, plugin, inspector)
            failed += codes != EXPECTED
            print(f"{'ok  ' if codes == EXPECTED else 'FAIL'}  {requirements.stem}: exit codes {codes}", flush=True)
    return failed


def tried(home: Path, python: str, requirements: Path, plugin: Path, inspector: Environment) -> list[int]:
    """The exit codes of the five commands, and of the example in two processes with generated outputs."""
    home.mkdir()
    done(python, "-m", "venv", home / "venv", cwd=home)
    theirs = Environment(home / "venv" / "bin")
    pip = (theirs.python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install")
    done(*pip, "--require-hashes", "-r", requirements, cwd=home)
    downloads = home / "Downloads"
    downloads.mkdir()
    page_case(downloads / "marker.case.json")
    environ = bare(home, theirs.programs, inspector.programs, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(plugin.parent))
    folder = project(home / "project")
    ran = [subprocess.run(one, shell=True, cwd=folder, env=environ, capture_output=True) for one in commands()]
    return [one.returncode for one in ran]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
