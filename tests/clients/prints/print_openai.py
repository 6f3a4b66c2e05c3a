"""openai: chunks, answers, parts of both, Responses."""

import json
import pprint

from openai import OpenAI
from printing import MESSAGES, TOOLS, Prints, printed


def prints(address: str, model: str, out: Prints) -> None:
    client = OpenAI(base_url=f"{address}/v1", api_key="x")
    request = {"model": model, "messages": MESSAGES, "tools": TOOLS}
    chunks_of(list(client.chat.completions.create(stream=True, **request)), out)
    answer_of(client.chat.completions.create(**request), out)
    responses_of(client, model, out)


def chunks_of(chunks, out: Prints) -> None:
    choices = [one.choices[0] for one in chunks]
    calls = [one.delta.tool_calls for one in choices if one.delta.tool_calls]
    shapes = {
        "oai_chunk_print": chunks,
        "oai_chunk_list": [chunks],
        "oai_chunk_dump": [one.model_dump() for one in chunks],
        "oai_chunk_json": [one.model_dump_json() for one in chunks],
        "oai_chunk_json2": [one.model_dump_json(indent=2) for one in chunks],
        "oai_choices": [one.choices for one in chunks],
        "oai_choice0": choices,
        "oai_delta": [one.delta for one in choices],
        "oai_delta_dict": [one.delta.model_dump() for one in choices],
        "oai_delta_dict_ex": [one.delta.model_dump(exclude_none=True) for one in choices],
        "oai_delta_json": [one.delta.model_dump_json(exclude_unset=True) for one in choices],
        "oai_delta_calls": calls,
        "oai_delta_call0": [one[0] for one in calls],
    }
    for name, values in shapes.items():
        with out.shape(name):
            for one in values:
                print(one)
    with out.shape("oai_chunk_pprint"):
        for one in chunks:
            pprint.pprint(one)
    with out.shape("oai_delta_to_dict"):
        for one in choices:
            print("delta:", one.delta.to_dict())
    with out.shape("json_log_lines"):
        for one in chunks:
            line = {"time": "2025-11-28T10:00:00Z", "level": "DEBUG", "msg": "chunk", "chunk": one.model_dump()}
            print(json.dumps(line))
    with out.shape("logging_lines"):
        for number, one in enumerate(chunks):
            print(f"2025-11-28 10:00:00,{number:03d} DEBUG client: chunk={one}")


def answer_of(answer, out: Prints) -> None:
    choice = answer.choices[0]
    calls = choice.message.tool_calls
    shapes = {
        "oai_answer": answer,
        "oai_answer_dump": answer.model_dump(),
        "oai_answer_json": answer.model_dump_json(indent=2),
        "oai_choices_ans": answer.choices,
        "oai_choice_ans": choice,
        "oai_message": choice.message,
        "oai_message_dict": choice.message.model_dump(),
        "oai_calls": calls or "",
        "oai_call0": calls[0] if calls else "",
    }
    for name, value in shapes.items():
        with out.shape(name):
            print(value)
    with out.shape("oai_message_label"):
        print("Response:", choice.message)
    with out.shape("oai_answer_dump_pprint"):
        pprint.pprint(answer.model_dump())


def responses_of(client: OpenAI, model: str, out: Prints) -> None:
    events = list(client.responses.create(model=model, input="hi", stream=True))
    answer = client.responses.create(model=model, input="hi")
    with out.shape("resp_events"):
        for one in events:
            print(one)
    with out.shape("resp_events_json"):
        for one in events:
            print(one.model_dump_json())
    with out.shape("resp_events_dump"):
        for one in events:
            print(one.model_dump())
    with out.shape("resp_answer"):
        print(answer)
    with out.shape("resp_answer_pprint"):
        pprint.pprint(answer.model_dump())
    with out.shape("resp_output"):
        print(answer.output)
    with out.shape("resp_output_json"):
        print(json.dumps([one.model_dump() for one in answer.output], indent=2))
    with out.shape("resp_item_last"):
        print(answer.output[-1])


printed(prints)
