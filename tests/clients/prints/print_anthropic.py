"""anthropic: events, the stream helper, messages and their blocks."""

import pprint

from anthropic import Anthropic
from printing import MESSAGES, Prints, printed


def prints(address: str, model: str, out: Prints) -> None:
    client = Anthropic(base_url=address, api_key="x")
    request = {"model": model, "max_tokens": 100, "messages": MESSAGES}
    events = list(client.messages.create(stream=True, **request))
    answer = client.messages.create(**request)
    with client.messages.stream(**request) as stream:
        helped = list(stream)
    shapes = {
        "ant_events": events,
        "ant_events_json": [one.model_dump_json() for one in events],
        "ant_events_dump": [one.model_dump() for one in events],
        "ant_stream_helper": helped,
        "ant_answer": [answer],
        "ant_answer_json": [answer.model_dump_json(indent=2)],
        "ant_content": [answer.content],
        "ant_block_last": [answer.content[-1]],
    }
    for name, values in shapes.items():
        with out.shape(name):
            for one in values:
                print(one)
    with out.shape("ant_answer_pprint"):
        pprint.pprint(answer.model_dump())


printed(prints)
