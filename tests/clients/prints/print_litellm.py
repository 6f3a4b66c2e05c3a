"""litellm: answers, messages, chunks, deltas."""

import litellm
from printing import MESSAGES, TOOLS, Prints, printed


def prints(address: str, model: str, out: Prints) -> None:
    request = {"model": f"openai/{model}", "messages": MESSAGES, "tools": TOOLS}
    request |= {"api_base": f"{address}/v1", "api_key": "x"}
    answer = litellm.completion(**request)
    chunks = list(litellm.completion(stream=True, **request))
    shapes = {
        "lit_answer": [answer],
        "lit_answer_json": [answer.model_dump_json(indent=2)],
        "lit_message": [answer.choices[0].message],
        "lit_chunks": chunks,
        "lit_deltas": [one.choices[0].delta for one in chunks],
    }
    for name, values in shapes.items():
        with out.shape(name):
            for one in values:
                print(one)


printed(prints)
