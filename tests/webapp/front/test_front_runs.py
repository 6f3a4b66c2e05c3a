"""The cases of held runs are known before the children: nobody waits for the one that holds a run."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from werkzeug.test import Client

from tests.webapp.children.processes import PATIENCE, until
from tests.webapp.front.test_front import TOKEN, environ_of, quietly
from webapp.front import replay_program
from webapp.front.front import Front

MakeFront = Callable[..., Front]


def test_the_case_of_a_run_is_known_while_the_child_that_holds_it_is_at_work_for_long(
    make_front: MakeFront,
) -> None:
    """Children that hold two runs may ask for each other's at a time: no child waits for another one."""
    front = make_front()
    client, tokens = Client(front), [TOKEN, TOKEN[::-1]]
    with ThreadPoolExecutor(2) as threads:
        for token in tokens:
            assert client.get(f"/run?do=runs&what=keep&token={token}&line=case-{token}").status_code == 200
        left: list[bool] = []
        environ = environ_of(f"/r/{TOKEN}?do=sleep", **{"waitress.client_disconnected": lambda: bool(left)})
        asking = threads.submit(lambda: [*front(environ, quietly)])
        until(lambda: front._crew.state.busy)
        found = [client.get(f"/run?do=runs&what=read&token={token}").text for token in (*tokens, "0" * 32)]
        assert found == [*[f"case-{token}" for token in tokens], ""]
        assert not asking.done()
        left.append(True)
        asking.result(PATIENCE)


def test_the_case_of_a_run_is_known_as_long_as_somebody_asks_for_the_run(
    make_front: MakeFront, monkeypatch: pytest.MonkeyPatch
) -> None:
    front = make_front(run_seconds=60)
    client, now = Client(front), [0.0]
    monkeypatch.setattr(front._lines, "_clock", lambda: now[0])
    for token in (TOKEN, TOKEN[::-1]):
        client.get(f"/run?do=runs&what=keep&token={token}&line=case")
    now[0] = 50
    client.get(f"/r/{TOKEN}/find")
    now[0] = 100
    front._lines.forget_old()
    used, alone = front._lines.used, front._lines._size(b"case")
    assert used == alone
    assert client.get(f"/run?do=runs&what=read&token={TOKEN}").text == "case"


@pytest.mark.replays
def test_an_edited_run_says_what_it_was_edited_from_whichever_child_has_it(make_front: MakeFront) -> None:
    front = make_front(replay_program.__name__)
    client = Client(front)
    found = re.search(r'name="held"\s+value="([0-9a-f]{32})"', client.post("/run", data={"text": "one two"}).text)
    assert found is not None
    holder = front._crew._holder(f"/r/{found[1]}")
    assert holder is not None
    holder.busy = True
    edited = client.post("/run", data={"text": "one three", "held": found[1]})
    holder.busy = False
    assert ('id="fork"' in edited.text, "edited, not shared" in edited.text) == (True, True)
    address = re.search(r"/r/[0-9a-f]{32}", edited.text)
    assert address is not None
    assert 'id="fork"' in client.get(address[0]).text
