"""An engine may send half of a surrogate pair anywhere: no page, answer, file or line of text may fail for that."""

from __future__ import annotations

import json
from urllib.parse import parse_qsl, urljoin, urlsplit

import pytest
from flask.testing import FlaskClient

from tests.amount import TIMES
from tests.webapp.page.dom import page as tree
from webapp.runs.exports import TARGETS

MOST_PAGES = 7 * TIMES
pytestmark = pytest.mark.usefixtures("fake_engine")


def case(text: str, engine: str = "fake", name: str = "halves") -> dict[str, object]:
    return {"schema": 1, "parser": {"name": name, "engine": engine}, "input": {"text": text}}


@pytest.mark.parametrize("text", ["ab", "a!b"])
@pytest.mark.parametrize("task", ["replay", "find", "between?beside=fake:echo"])
@pytest.mark.replays
def test_answers_escape_it(client: FlaskClient, task: str, text: str) -> None:
    answer = client.post(f"/api/v1/{task}", json=case(text))
    assert answer.status_code == 200, answer.text
    assert "\\ud8" in answer.text
    assert json.loads(answer.data)


def linked(client: FlaskClient, start: str, within: str) -> dict[str, int]:
    """The status of the pages that are reached from an address, one for each path and kind of query."""
    found: dict[str, int] = {}
    waiting, kinds = [start], set[tuple[str, ...]]()
    while waiting and len(found) < MOST_PAGES:
        address = waiting.pop(0)
        answer = client.get(address)
        found[address] = answer.status_code
        if answer.mimetype == "text/html":
            tags = [node.attrs for node in tree(answer.text).all("a") + tree(answer.text).all("[hx-get]")]
            links = [urljoin(address, one.get("hx-get") or one.get("href") or "") for one in tags]
            for one in [one.partition("#")[0] for one in links if urlsplit(one).path.startswith(within)]:
                kind = (urlsplit(one).path, *dict(parse_qsl(urlsplit(one).query)))
                if kind not in kinds:
                    kinds.add(kind)
                    waiting.append(one)
    return found


@pytest.mark.parametrize("text", ["ab", "a!b"])
@pytest.mark.replays
def test_every_page_of_a_run_shows_it(client: FlaskClient, text: str) -> None:
    made = client.post("/api/v1/cases", json=case(text))
    assert made.status_code == 201, made.text
    start = f"/c/{made.json['id']}"  # type: ignore[index]
    found = linked(client, start, start)
    assert {address: status for address, status in found.items() if status >= 500} == {}
    assert len(found) > 5


@pytest.mark.parametrize("text", ["ab", "a!b"])
@pytest.mark.replays
def test_every_export_is_a_file(client: FlaskClient, text: str) -> None:
    made = client.post("/api/v1/cases", json=case(text))
    for target in TARGETS:
        answer = client.get(f"/api/v1/cases/{made.json['id']}/export/{target}?accept=1")  # type: ignore[index]
        assert answer.status_code < 500, target
        assert answer.data.decode("utf-8"), target
