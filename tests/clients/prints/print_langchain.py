"""langchain-openai: messages, chunks, calls, its own dump and its debug output."""

import langchain_core.globals
from langchain_core.load import dumps
from langchain_openai import ChatOpenAI
from printing import Prints, printed


def prints(address: str, model: str, out: Prints) -> None:
    chat = ChatOpenAI(model=model, base_url=f"{address}/v1", api_key="x")
    answer = chat.invoke("hi")
    chunks = list(chat.stream("hi"))
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
