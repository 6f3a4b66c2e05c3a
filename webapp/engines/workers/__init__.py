"""What runs in somebody else's interpreter: the worker and its adapters, the standard library of Python 3.9 alone.

=====================  ================================================================================================
engine_worker.py       the loop that speaks docs/engine-protocol.md; started as a file, with the name of an adapter
adapter_vllm.py        vLLM's parsers, under the code of its chat server
adapter_sglang.py      SGLang's parsers, called as its chat server calls them, with torch or without
adapter_class.py       a class of somebody's own
=====================  ================================================================================================
"""
