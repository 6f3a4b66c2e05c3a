"""Chat templates of families, written for these tests after what is published of each, and hostile ones."""

from __future__ import annotations

QWEN = """{%- for message in messages %}
{%- if message.role == "tool" %}
{{- '<|im_start|>user\\n<tool_response>\\n' ~ message.content ~ '\\n</tool_response><|im_end|>\\n' }}
{%- else %}
{{- '<|im_start|>' ~ message.role ~ '\\n' }}
{%- if message.content %}{{ message.content }}{% endif %}
{%- for tool_call in message.tool_calls %}
{%- set call = tool_call.function if tool_call.function else tool_call %}
{{- '\\n<tool_call>\\n{"name": "' ~ call.name ~ '", "arguments": ' }}
{%- if call.arguments is string %}{{ call.arguments }}{% else %}{{ call.arguments | tojson }}{% endif %}
{{- '}\\n</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>\\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"""

# The answer goes on where the prompt opened reasoning, which is left out of earlier turns.
THINKING = QWEN.replace("'<|im_start|>assistant\\n' }}{% endif", "'<|im_start|>assistant\\n<think>\\n' }}{% endif")

# Takes arguments as text, writes calls for null content only, and ends them when the tools have answered.
DEEPSEEK = """{%- for m in messages %}
{%- if m.role == 'user' %}{{ '<｜User｜>' + m.content }}
{%- elif m.role == 'assistant' and m.content is none %}{{ '<｜Assistant｜><｜tool▁calls▁begin｜>' }}
{%- for t in m.tool_calls %}
{{- '<｜tool▁call▁begin｜>' + t.function.name + '<｜tool▁sep｜>' + t.function.arguments + '<｜tool▁call▁end｜>' }}
{%- endfor %}
{%- elif m.role == 'assistant' %}{{ '<｜Assistant｜>' + m.content + '<｜end▁of▁sentence｜>' }}
{%- elif m.role == 'tool' %}
{{- '<｜tool▁calls▁end｜><｜end▁of▁sentence｜><｜tool▁output▁begin｜>' + m.content + '<｜tool▁output▁end｜>' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<｜Assistant｜><think>\\n' }}{% endif %}"""

# Refuses ids that are not nine letters and digits, and a conversation that does not end with the tools.
MISTRAL = """{%- for m in messages %}
{%- if m.role == 'user' %}{{ '[INST]' + m.content + '[/INST]' }}
{%- elif m.tool_calls %}
{%- if loop.last %}{{ raise_exception('The tools must answer.') }}{% endif %}
{{- '[TOOL_CALLS][' }}
{%- for t in m.tool_calls %}
{%- if t.id is not defined or t.id | length != 9 %}{{ raise_exception('Ids have nine characters.') }}{% endif %}
{{- '{"name": "' + t.function.name + '", "arguments": ' + t.function.arguments | tojson + ', "id": "' + t.id + '"}' }}
{%- if not loop.last %}{{ ', ' }}{% endif %}
{%- endfor %}
{{- ']</s>' }}
{%- elif m.role == 'assistant' %}{{ ' ' + m.content + '</s>' }}
{%- else %}{{ '[TOOL_RESULTS]' + m.content + '[/TOOL_RESULTS]' }}
{%- endif %}
{%- endfor %}"""

HOSTILE = {
    "endless": (
        "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
        "the template does not come to an end.",
    ),
    "huge range": ("{{ range(10 ** 9) }}", "the template does what the sandbox forbids (Range too big."),
    "attributes": ("{{ ''.__class__.__mro__ }}", "the template does what the sandbox forbids (access to attribute"),
    "globals": ("{{ cycler.__init__.__globals__ }}", "the template does what the sandbox forbids (access to attribute"),
    "mutation": ("{{ messages.append(1) }}", "the template does what the sandbox forbids (access to attribute"),
    "memory": ("{{ 'a' * 10 ** 10 }}", "the template needs more than 400 megabytes of memory."),
    "recursion": ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "the template fails with RecursionError"),
    "syntax": ("a\n{% if %}", "the template has a syntax error in line 2 ("),
    "refusal": ("{{ raise_exception('One call.') }}", "the template refuses such a conversation (One call)."),
    "nothing": ("{{ nope.x.y }}", "the template fails with UndefinedError ('nope' is undefined)."),
    "a file": ("{% include '/etc/passwd' %}", "the template fails with TypeError (no loader for this environment"),
}
