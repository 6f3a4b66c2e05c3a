"""langchain-openai: messages, chunks, calls, its own dump and its debug output."""

import langchain_core.globals
from langchain_core.load import dumps
from langchain_core.messages import HumanMessage, convert_to_openai_messages, messages_to_dict
from langchain_openai import ChatOpenAI
from printing import Prints, printed


def prints(address: str, model: str, out: Prints) -> None:
    chat = ChatOpenAI(model=model, base_url=f"{address}/v1", api_key="x")
    answer = chat.invoke("hi")
    chunks = list(chat.stream("hi"))
    asked = HumanMessage("hi")
    result = chat.generate([[asked]])
    shapes = {
        "lc_print": [answer],
        "lc_repr": [repr(answer)],
        "lc_json": [answer.model_dump_json(indent=2)],
        "lc_dump": [answer.model_dump()],
        "lc_dumps": [dumps(answer, pretty=True)],
        "lc_chunks_print": chunks,
        "lc_chunks_repr": [repr(one) for one in chunks],
        "lc_tool_calls": [answer.tool_calls or ""],
        "lc_invalid": [answer.invalid_tool_calls or ""],
        "lc_chunks_json": [one.model_dump_json() for one in chunks],
        "lc_result": [repr(result)],
        "lc_state": [{"messages": [asked, answer]}],
        "lc_messages": [messages_to_dict([asked, answer])],
        # It leaves out the calls that it could not read.
        "lc_as_openai": ["" if answer.invalid_tool_calls else convert_to_openai_messages([asked, answer])],
        "lc_pretty": [answer.pretty_repr()],
        "lc_blocks": [answer.content_blocks or ""],
    }
    for name, values in shapes.items():
        with out.shape(name):
            for one in values:
                print(one)
    langchain_core.globals.set_debug(True)
    with out.shape("lc_debug"):
        chat.invoke("hi")
    langchain_core.globals.set_debug(False)


printed(prints)
