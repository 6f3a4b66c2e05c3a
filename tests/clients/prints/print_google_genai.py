"""google-genai: answers, chunks, candidates, parts."""

from google import genai
from printing import Prints, printed


def prints(address: str, model: str, out: Prints) -> None:
    client = genai.Client(api_key="x", http_options={"base_url": address})
    answer = client.models.generate_content(model=model, contents="hi")
    chunks = list(client.models.generate_content_stream(model=model, contents="hi"))
    candidate = answer.candidates[0]
    shapes = {
        "gem_answer": [answer],
        "gem_answer_repr": [repr(answer)],
        "gem_chunks": chunks,
        "gem_chunks_repr": [repr(one) for one in chunks],
        "gem_json": [answer.model_dump_json(indent=2, exclude_none=True)],
        "gem_dump": [answer.model_dump()],
        "gem_candidates": [answer.candidates],
        "gem_content": [candidate.content],
        "gem_parts": [candidate.content.parts],
        "gem_calls": [answer.function_calls or ""],
    }
    for name, values in shapes.items():
        with out.shape(name):
            for one in values:
                print(one)


printed(prints)
