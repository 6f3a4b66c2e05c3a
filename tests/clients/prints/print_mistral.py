"""mistralai: answers, messages, chunks."""

from mistralai.client import Mistral
from printing import MESSAGES, Prints, printed


def prints(address: str, model: str, out: Prints) -> None:
    client = Mistral(api_key="x", server_url=f"{address}/mistral")
    answer = client.chat.complete(model=model, messages=MESSAGES)
    chunks = list(client.chat.stream(model=model, messages=MESSAGES))
    shapes = {
        "mis_answer": [answer],
        "mis_answer_json": [answer.model_dump_json(indent=2)],
        "mis_message": [answer.choices[0].message],
        "mis_chunks": chunks,
        "mis_chunks_json": [one.model_dump_json() for one in chunks],
    }
    for name, values in shapes.items():
        with out.shape(name):
            for one in values:
                print(one)


printed(prints)
