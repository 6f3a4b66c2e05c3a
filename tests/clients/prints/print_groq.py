"""groq: answers, chunks, and the error that quotes an output its parser could not read."""

import json
import traceback

from groq import BadRequestError, Groq
from printing import MESSAGES, Prints, printed


def prints(address: str, model: str, out: Prints) -> None:
    client = Groq(base_url=address, api_key="x", max_retries=0)
    answer = client.chat.completions.create(model=model, messages=MESSAGES)
    chunks = list(client.chat.completions.create(model=model, messages=MESSAGES, stream=True))
    with out.shape("groq_answer"):
        print(answer)
    with out.shape("groq_chunks"):
        for one in chunks:
            print(one)
    if out.story == "leak":
        refused(client, out)


def refused(client: Groq, out: Prints) -> None:
    try:
        client.chat.completions.create(model="x-refused", messages=MESSAGES)
    except BadRequestError as error:
        with out.shape("groq_failed_str"):
            print(error)
        with out.shape("groq_failed_body"):
            print(json.dumps(error.body, indent=2))
        with out.shape("groq_failed_tb"):
            print("".join(traceback.format_exception(error)))


printed(prints)
