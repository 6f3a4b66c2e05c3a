"""ollama: answers, messages, chunks, calls."""

import ollama
from printing import MESSAGES, Prints, printed


def prints(address: str, model: str, out: Prints) -> None:
    client = ollama.Client(host=address)
    answer = client.chat(model=model, messages=MESSAGES)
    chunks = list(client.chat(model=model, messages=MESSAGES, stream=True))
    shapes = {
        "ollpy_answer": [answer],
        "ollpy_message": [answer.message],
        "ollpy_chunks": chunks,
        "ollpy_calls": [answer.message.tool_calls or ""],
    }
    for name, values in shapes.items():
        with out.shape(name):
            for one in values:
                print(one)


printed(prints)
