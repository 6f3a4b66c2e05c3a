"""The tests for the crate tool-parser that `make test-engines` compiles: a call of each format, and what must fail."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.engines.builds import BACKEND
from tests.engines.rust_crate import WRONG, exported_tests
from webapp.runs.runner import Runner
from webapp.settings import Settings


@pytest.mark.replays
def test_each_format_has_a_test_of_a_call_and_one_that_expects_another_name() -> None:
    found = exported_tests(Runner(Settings(), keep=False))
    assert {"qwen", "deepseek", "mistral", "kimik2"} <= found.keys()
    for name, (right, wrong) in found.items():
        assert f"async fn test_{name}_call()" in right
        assert f"async fn test_{name}_wrong()" in wrong
        assert (WRONG in right, WRONG in wrong) == (False, True)


def test_pip_is_told_the_name_of_a_source_and_no_more(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "a_b"\nversion = "1.2"\n')
    code = "import maturin; print(maturin.prepare_metadata_for_build_wheel('.'))"
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(BACKEND)!r}); {code}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "a_b-1.2.dist-info\n"
    told = (tmp_path / "a_b-1.2.dist-info" / "METADATA").read_text("utf-8")
    assert told == "Metadata-Version: 2.1\nName: a_b\nVersion: 1.2\n"
