"""Every thread whose raw output is known has a case that names it, so that what it reports stays fixed."""

from __future__ import annotations

import pytest

from tests.corpus import case_named, case_names

# (project, number) of user reports that quote what the model wrote.
THREADS = [
    ("NVIDIA/TensorRT-LLM", 19228),
    ("ai-dynamo/dynamo", 9536),
    ("ai-dynamo/dynamo", 9959),
    ("ai-dynamo/dynamo", 10569),
    ("ai-dynamo/frontend-crates", 131),
    ("ggml-org/llama.cpp", 12379),
    ("ggml-org/llama.cpp", 23838),
    ("jundot/omlx", 2507),
    ("raullenchai/Rapid-MLX", 480),
    ("sgl-project/sglang", 27910),
    ("sgl-project/sglang", 31009),
    ("sgl-project/sglang", 33324),
    ("sgl-project/sglang", 36285),
    ("sgl-project/sglang", 40739),
    ("smg-project/smg", 1841),
    ("smg-project/smg", 2525),
    ("vllm-project/vllm", 9693),
    ("vllm-project/vllm", 22975),
    ("vllm-project/vllm", 28789),
    ("vllm-project/vllm", 46091),
    ("vllm-project/vllm", 48645),
    ("vllm-project/vllm", 51412),
    ("vllm-project/vllm", 53431),
    ("youssofal/MTPLX", 149),
]


@pytest.fixture(scope="module")
def sources() -> set[tuple[str, int]]:
    """(project, number) of every case's source."""
    cases = [case_named(name) for name in case_names()]
    links = [case.source.link or "" for case in cases if case.source is not None]
    parts = [
        link.removeprefix("https://github.com/").split("/")
        for link in links
        if (link and "/issues/" in link) or "/pull/" in link
    ]
    return {("/".join(part[:2]), int(part[3])) for part in parts if len(part) > 3 and part[3].isdecimal()}


@pytest.mark.parametrize("thread", THREADS)
@pytest.mark.replays
def test_a_report_with_its_raw_output_is_a_case(thread: tuple[str, int], sources: set[tuple[str, int]]) -> None:
    assert thread in sources
