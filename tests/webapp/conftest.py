"""PostgreSQL for the tests of case store and team server: started once, where `make test-team` asks for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.postgresql import WANTED, Cluster, cluster, programs


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Cluster]:
    """A server of the tests' own. Where it is asked for and not there, that is a failure and no skipped test."""
    if not WANTED:
        pytest.skip("PostgreSQL is for `make test-team`")
    found = programs()
    assert found is not None, "no initdb: install PostgreSQL (Debian: postgresql)"
    with cluster(found) as running:
        yield running
