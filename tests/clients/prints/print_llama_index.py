"""llama-index-llms-openai: responses, messages, chunks, selected calls, dumps, and what the debug handler prints."""

from llama_index.core.callbacks import CallbackManager, LlamaDebugHandler
from llama_index.core.llms import ChatMessage
from llama_index.llms.openai_like import OpenAILike
from printing import MESSAGES, TOOLS, Prints, printed


def prints(address: str, model: str, out: Prints) -> None:
    debug = LlamaDebugHandler(print_trace_on_end=False)
    chat = OpenAILike(
        model=model,
        api_base=f"{address}/v1",
        api_key="x",
        is_chat_model=True,
        is_function_calling_model=True,
        callback_manager=CallbackManager([debug]),
    )
    asked = [ChatMessage(**one) for one in MESSAGES]
    answer = chat.chat(asked, tools=TOOLS)
    # Printed as they come: the library puts what follows into the call of a chunk that came before.
    chunks = [(repr(one), one.model_dump_json()) for one in chat.stream_chat(asked, tools=TOOLS)]
    late = list(chat.stream_chat(asked, tools=TOOLS))
    shapes = {
        "li_repr": [repr(answer)],
        "li_json": [answer.model_dump_json(indent=2)],
        "li_dump": [answer.model_dump()],
        "li_raw": [answer.raw],
        "li_message": [answer.message.model_dump_json()],
        "li_message_repr": [repr(answer.message)],
        "li_blocks": [answer.message.blocks],
        "li_kwargs_calls": [answer.message.additional_kwargs or ""],
        "li_chunks_repr": [one for one, _ in chunks],
        "li_chunks_json": [one for _, one in chunks],
        "li_chunks_late": [repr(one) for one in late if out.story != "idx"],  # where it makes one name of two
        "li_event": [repr(debug.get_llm_inputs_outputs()[0][1])],
    }
    for name, values in shapes.items():
        with out.shape(name):
            for one in values:
                print(one)
    with out.shape("li_tool_calls"):
        print(chat.get_tool_calls_from_response(answer, error_on_no_tool_call=False) or "")


printed(prints)
