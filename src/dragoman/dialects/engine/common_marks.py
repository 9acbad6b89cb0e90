"""Marks of no dialect in particular: reasoning, ends of turns, other parties, tools' answers, fences.

Knows their spellings; not what becomes of what they open (`markers.py` says which kinds count where).
"""

from __future__ import annotations

from .mark_starts import FENCE

THINK: dict[str, tuple[str, ...]] = {
    "<think>": ("</think>",),
    "<thinking>": ("</thinking>", "</think>"),
    "<thought>": ("</thought>", "</think>"),
    "<reasoning>": ("</reasoning>",),
    "<scratch_pad>": ("</scratch_pad>",),
    "<scratchpad>": ("</scratchpad>",),
    "<reflection>": ("</reflection>",),
    "[THINK]": ("[/THINK]",),
    "◁think▷": ("◁/think▷",),
    "<antThinking>": ("</antThinking>",),
    "<|begin_of_thought|>": ("<|end_of_thought|>",),
}
"""Reasoning tags that stand in front of any dialect (formats.md 4.3); families add their own in `Dialect.reasoning`."""

QUIET = (
    "<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|endoftext|>", "<|end_of_text|>", "<｜end▁of▁sentence｜>", "</s>",
    "<|end_of_turn|>", "<|role_end|>", "<end_of_turn>", "<|END_OF_TURN_TOKEN|>", "<|return|>", "<|endofprompt|>",
)
"""End tokens that leak into text (formats.md 5)."""
STRAY = (
    "[/TOOL_CALLS]", "<|CHATBOT_TOKEN|>", "<|content_tool_error|>",
    "<｜tool▁output▁end｜>", "<｜tool▁outputs▁end｜>",
)
"""Tokens around calls and results that are never words (Ollama reads past them too)."""

NOISE = frozenset(q.casefold() for q in QUIET)
INSTRUCTION = "[inst]"
"""Another party's turn, wherever on its line: what passes over text stops there."""
TURN_OF = (
    "<｜User｜>", "<|user|>", "<|system|>", "<|human|>", "<|prompter|>", "<|im_user|>", "<|im_system|>",
    "<|USER_TOKEN|>", "<|SYSTEM_TOKEN|>",
)
"""Tokens that open the turn of one other party."""
FOREIGN_TURN = (
    "<|start_header_id|>", "<|im_start|>", "<start_of_turn>", "<|START_OF_TURN_TOKEN|>", "<|start_of_role|>", "<|turn>",
    "]~b]", *TURN_OF,
)
"""Tokens that open another turn: what follows was not asked for (judge-rules.md 7)."""
NAMED_TURN = frozenset(mark.casefold() for mark in TURN_OF)

FABRICATED = (
    "<function_results>", "<tool_response>", "<tool_result>", "<tool_results>", "<tool_output>", "<function_result>",
    "<function_response>", "[TOOL_RESULTS]", "~~~tool_result", "```tool_result", "```tool_output", "```function_output",
    "<｜tool▁outputs▁begin｜>", "<｜tool▁output▁begin｜>", "<|tool_response>", "<|tool_response:start|>",
    "<|tool_result|>", "<|tool_output|>",
    "[TOOL_RESPONSE]", "[TOOL_RESULT]", "[Tool result]", "[Tool output]", "```tool_response",
    "<|observation|>", "<observation>", "Observation:",
)
"""What a tool's answer looks like: written by the model after its own call, it is invented (judge-rules.md 7)."""

FENCES = (FENCE, "~~~")
FENCE_SIGNS = "`~"
LINE_MARKS = frozenset({
    *FENCES, "observation:", "~~~tool_result", "```tool_result", "```tool_output", "```function_output",
    "```tool_response", "[tool result]", "[tool output]",
})  # fmt: skip
"""Marks of no dialect that count only first on their line."""
