"""`make test-clients`: real clients hear six stories from a server of ours, and the inspector reads what they print.

Given is the folder of the environments, then names of clients, all by default. For each client it is told how many
prints are read as the story's message with a fair verdict, and what the others are taken for. Exit code 1 for any.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from tests.clients.environments import PRINTS, Printed, command, printed
from tests.clients.judged import as_recorded, wrong_in
from tests.clients.scripted_server import serving

CLIENTS = sorted([file.stem.removeprefix("print_") for file in PRINTS.glob("print_*")])


def main(folder: Path, clients: list[str]) -> int:
    """Try clients; the number of prints that are not read as they should be."""
    wrong = 0
    with serving() as address:
        for client in clients:
            found = printed(*command(folder, client), address)
            told = list(faulty(client, found))
            count = sum(map(len, found.values()))
            wrong += len(told)
            print(f"{'FAIL' if told else 'ok  '}  {client}: {count - len(told)} of {count} prints", flush=True)
            print("".join([f"        {one}\n" for one in told]), end="")
    return wrong


def faulty(client: str, found: Printed) -> Iterator[str]:
    """What is wrong, print by print. A client that gave up printed nothing that could be read."""
    for story, shapes in found.items():
        for shape, text in shapes.items():
            raised = shape.startswith("raised")
            wrong = [f"the client raised {text[:200]}"] if raised else wrong_in(as_recorded(client, story, shape, text))
            if wrong:
                yield f"{shape} of {story}: {'; '.join(wrong)[:300]}"


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).absolute(), sys.argv[2:] or CLIENTS) > 0)
