"""Chat template for the default weights as they are served: their own one knows no tools."""

TEMPLATE = """\
{%- set system = messages[0].content if messages and messages[0].role == 'system' else '' %}
{%- if tools or system %}{{ '<|im_start|>system\\n' + system }}
{%- if tools %}{{ '\\n\\n' if system }}You have these tools:
<tools>
{%- for tool in tools %}{{ '\\n' + (tool | tojson) }}{% endfor %}
</tools>
To use a tool, answer with its name and its arguments as JSON inside <tool_call></tool_call>:
<tool_call>
{"name": <name>, "arguments": <arguments>}
</tool_call>
{%- endif %}{{ '<|im_end|>\\n' }}{% endif %}
{%- for message in messages %}
{%- if message.role == 'user' %}{{ '<|im_start|>user\\n' + message.content + '<|im_end|>\\n' }}
{%- elif message.role == 'tool' %}{{ '<|im_start|>user\\nThe tool answered:\\n' + message.content + '<|im_end|>\\n' }}
{%- elif message.role == 'assistant' %}{{ '<|im_start|>assistant\\n' + (message.content or '') }}
{%- for call in message.tool_calls or [] %}
{{- '<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' + (call.function.arguments | tojson) }}
{{- '}\\n</tool_call>' }}
{%- endfor %}{{ '<|im_end|>\\n' }}{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}
"""
"""In the style of Hermes 2 Pro (Nous Research, "Hermes Function Calling", 2024), which the engine can parse."""
