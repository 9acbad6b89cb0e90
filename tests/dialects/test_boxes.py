"""What stands in a box is text as written, and what only looks like a box holds back no call (judge-rules, H and J)."""

from __future__ import annotations

import json

import pytest

from dragoman import IssueKind, Parsed, Parser, parse
from dragoman.dialects.engine.parsed import fold

TOOLS = [{"name": "bash", "parameters": {"type": "object", "properties": {"command": {"type": "string"}}}}]
H = '<tool_call>{"name": "bash", "arguments": {"command": "ls"}}</tool_call>'
X = "<function=bash>\n<parameter=command>\nls\n</parameter>\n</function>"
HARMONY = '<|channel|>commentary to=functions.bash <|constrain|>json<|message|>{"command": "ls"}<|call|>'

QUOTED = {
    "spaced guillemets": f"Il a écrit « {H} » hier.",
    "guillemets inwards": f"»{H}« sagte er.",
    "spaced quotation marks": f'He wrote " {H} " there.',
    "typographic marks apart": f"“ {H} ” so.",
    "single marks that touch it": f"He wrote '{H}' there.",
    "entities": f"&quot;{H}&quot; he said.",
    "a text area": f"<textarea>{H}</textarea>",
    "sample output": f"See <samp>{H}</samp>.",
    "a pre element with blank lines": f"<pre>\n\n{H}\n\n</pre>",
    "a script": f"<script>var a = `{H}`;</script>",
    "a comment": f"<!-- {H} -->\nText",
    "a LaTeX listing": f"\\begin{{lstlisting}}\n{H}\n\\end{{lstlisting}}\n",
    "a LaTeX word": f"Use \\verb|{H}| here.",
    "a table's cell": f"| a | b |\n|---|---|\n| call | {H} |\n\nDone.",
    "a table's head": f"| {H} | b |\n|---|---|\n| x | y |",
    "a table without outer bars": f"a | b\n--- | ---\nx | {H}\n",
    "a diff": f"--- a\n+++ b\n@@ -1,2 +1,2 @@\n ctx\n-{H}\n+{H}\n",
    "two lines of a diff": f"Change:\n\n-old\n+{H}\n",
    "the first line of a diff": f"Change:\n\n-{H}\n+new\n",
    "a string of a JSON answer": '{"text": "x <tool_call>{\\"name\\": \\"bash\\"}</tool_call> y", "calls": 1}',
    "a list of strings": json.dumps(["a", H]),
    "a mention in a JSON answer": '{"a": "the <tool_call> tag", "b": 2}',
    "a YAML block": f"note: |\n  {H}\nnext: 1",
    "a folded YAML item": f"a:\n  - text: >-\n      {H}\n",
    "the second line of indented code": f"Text:\n\n    a\n    {H}\n    b\n\nend",
    "a call over several indented lines": "Text:\n\n    a\n" + "".join(f"    {line}\n" for line in X.split("\n")) + "\nend",
    "special tokens in indented code": f"Form:\n\n    {HARMONY}\n\nThat is the form.",
    "code in a list item": f"- a\n\n      {H}\n",
    "a tag in a span": "Use `<tool_call>` tags.",
    "two tags in spans": "Use `<tool_call>` and `</tool_call>` tags. Then more.",
    "a pattern in a span": "We match `<tool_call>(.*?)</tool_call>` with DOTALL.",
    "reasoning spoken of": "Models write <think> first. More on page 3.",
    "both marks of reasoning spoken of": "Use <think> and </think> for it. Then answer.",
    "the end of reasoning spoken of": "The answer is 4. Strip </think> from the output first.",
    "a tag in a sentence": "Der Tag <tool_call> fehlt. Bitte ergänzen.",
    "a special token in a sentence": "[TOOL_CALLS] is Mistral's mark.",
    "end tokens in a sentence": "Qwen ends with <|endoftext|>, Llama with <|eot_id|>. Both are fine.",
    "framing in a sentence": "The tokens <|im_start|> and <|im_end|> delimit turns.",
    "a turn's mark without a role": "ChatML starts turns with <|im_start|> and a role. More here.",
    "a turn's mark with a role in a span": "ChatML has `<|im_start|>user` there. More here.",
    "a turn's mark with a role in a sentence": "A turn is <|im_start|>user, then text. More.",
    "a turn's mark first on its line": "<|im_start|> is the mark ChatML opens turns with.",
    "an element of examples": f"<examples>\n<example>\n{H}\n</example>\n</examples>",
    "an element of examples, spelt otherwise": f'<Few_Shot id="1">{H}</Few_Shot>',
    "a transcript in an element": f"<transcript>\n{H}\n\n</transcript>",
    "a wiki's element": f"<nowiki>{H}</nowiki>",
    "a forum's quotation": f"[quote=Bob]\n{H}\n[/quote]",
    "a forum's code": f"[CODE]{H}[/CODE]",
    "a string of several lines": f'prompt = """\n{H}\n"""\nprint(prompt)',
    "a string of several lines in other marks": f"prompt = f'''\n\n{H}\n\n'''\n",
    "a string of several lines that is an argument": f'parse("""{H}""")',
    "the second of two such strings": f'"""One."""\nx = """{H}"""\n',
    "a comment of code over several lines": f"/*\n * {H}\n */\nint main() {{}}",
    "a comment of code behind code": f"int x; /* {H} */",
    "a comment of code on one line": f"// {H}\nrun();",
    "a comment in a query": f"-- {H}\nSELECT 1;",
    "a comment in a script": f"# {H}\nls",
    "a here-document": f"cat <<'EOF'\n{H}\nEOF\n",
    "a here-document whose end is indented": f"x = <<~TEXT\n  {H}\n  TEXT\n",
    "a tool's result": f"<tool_response>\n{H}\n</tool_response>\nI do not do what the page says.",
    "a tool's result around another element": f"<function_results>\n<result>{H}</result>\n</function_results>\nThat is all.",
    "an observation": f"<observation>{H}</observation>\nThat is all.",
    "a tool's result in square brackets": f"[TOOL_RESULTS]{H}[/TOOL_RESULTS]\nI do not do that.",
    "what a command wrote": f"<stdout>\n{H}\n</stdout>\nThat is all.",
    "results of a search": f"<search_results>\n<result>{H}</result>\n</search_results>\nThat is all.",
    "a file": f'<file path="a.md">\n{H}\n</file>\nThat is the file.',
    "a turn's marks in a line": f"Fine. [/INST] [INST] {H} [/INST]",
    "a dialogue": "User: hi\nAssistant: hello\nUser: bye\nAssistant: ok",
}
LIVE = {
    "a lone quotation mark": f'A 5" disk. {H}',
    "a quotation that never closes": f'He said "hi. {H}',
    "a span that ends with its paragraph": f"it is `open\n\n{H}",
    "a lone bar": f"a | b {H}",
    "a line that begins with a bar": f"| note\n{H}",
    "behind a table": f"| a | b |\n|---|---|\n| 1 | 2 |\n{H}",
    "a bullet": f"- a\n- {H}",
    "a plus": f"+ {H}",
    "behind a diff": f"@@ -1 +1 @@\n-a\n+b\n\nNow:\n{H}",
    "a list item's paragraph": f"1. First:\n\n    {H}",
    "a deep list item's paragraph": f"- a\n    - b\n\n      {H}",
    "indented at the start": f"    {H}",
    "an element spoken of": f"Put <pre> around it.\n\n{H}",
    "behind a JSON answer": f'{{"a": "x"}}\n{H}',
    "an apostrophe": f"the users' list '{H}",
    "a field of a form": f"The server:\n\nUser: root\nHost: x\n\n{H}",
    "a heading that begins like a turn": f"### User guide\n\n{H}",
    "its own label": f"Assistant: {H}",
    "its own heading": f"### Assistant:\n{H}",
    "a turn's mark that is noise": f"<|im_start|>{H}",
    "its own turn's header": f"<|im_start|>assistant\n{H}",
    "a turn's mark spoken of behind it": f"{H}\nChatML has <|im_start|> marks.",
    "the end of reasoning spoken of behind it": f"{H}\nStrip </think> from it.",
    "reasoning spoken of before it": f"Models write <think> before. {H}",
    "reasoning that ends behind its last word": f"I should do it.</think>{H}",
    "a name behind the opener": f"<tool_call> bash {H[11:-12].split(': ', 2)[2][:-1]}</tool_call>",
    "an end token that leaked": f"Hi.<|im_end|>\n{H}",
    "behind an element of examples": f"<example>ls</example>\n{H}",
    "an element of examples that never closes": f"See <example> below.\n{H}",
    "a tool's result spoken of": f"It comes in <tool_response> tags.\n{H}",
    "a tool's result spoken of, and one invented": f"It comes in <tool_response> tags.\n{H}\n<tool_response>1</tool_response>",
    "a turn's mark in a sentence": f"Llama has [INST] marks.\n{H}",
    "both of them in a sentence": f"Llama has [INST] and [/INST] marks.\n{H}",
    "behind a string of several lines": f'x = """a"""\n{H}',
    "a string of several lines that never closes": f'x = """a\n{H}',
    "behind a comment of code": f"/* a */\n{H}",
    "a path with a star": f"I list src/* now.\n{H}\nThen */ is left.",
    "behind a here-document": f"cat <<EOF\na\nEOF\n{H}",
    "a here-document that never ends": f"cat <<EOF\n{H}",
    "a shift to the left": f"1 << n\n{H}\nn",
    "below a comment of code": f"// Now:\n{H}",
    "behind a heading": f"# Step 1: {H}",
    "an answer's element": f"<answer>\n{H}\n</answer>",
    "reasoning below a word": f"Sure.\n<think>\nhm\n</think>\n{H}",
}
FOREIGN = {
    "User:": f"Done.\n\nUser: hi\n\n{H}",
    "Human: and Assistant:": f"It is 4.\n\nHuman: delete it\n\nAssistant: {H}",
    "### User": f"Done.\n\n### User\nhi\n\n{H}",
    "### Human:": f"Done.\n### Human: hi\n### Assistant:\n{H}",
    "**User:**": f"Done.\n\n**User:** hi\n\n{H}",
    "[INST]": f"It is 4.</s>[INST] delete it [/INST]{H}",
    "a transcript": f"User: hi\nAssistant: {H}",
}


def read(text: str, finish: str = "stop") -> Parsed:
    """The reading of a text, which is the same in pieces."""
    whole = parse(text, tools=TOOLS, finish_reason=finish)
    for size in (1, 3):
        parser = Parser(tools=TOOLS, finish_reason=finish)
        parts = [e for i in range(0, len(text), size) for e in parser.feed(text[i : i + size])]
        pieces = fold([*parts, *parser.close()])
        assert ([c.arguments for c in pieces.calls], pieces.text) == ([c.arguments for c in whole.calls], whole.text)
    return whole


@pytest.mark.parametrize("box", QUOTED)
def test_what_is_quoted_stays_as_written(box: str) -> None:
    parsed = read(QUOTED[box])
    assert (parsed.calls, parsed.doubtful, parsed.text) == ((), (), QUOTED[box])


@pytest.mark.parametrize("place", LIVE)
def test_what_only_looks_like_a_quotation_holds_no_call_back(place: str) -> None:
    assert [call.name for call in read(LIVE[place]).calls] == ["bash"]


@pytest.mark.parametrize("turn", FOREIGN)
def test_no_call_counts_behind_another_partys_turn_in_words(turn: str) -> None:
    parsed = read(FOREIGN[turn])
    assert parsed.calls == ()
    assert IssueKind.HALLUCINATED_RESULT in {issue.kind for issue in parsed.issues}


@pytest.mark.parametrize("before", ["<think>\nOption A:\n", "<think>maybe ", "It said \"", "so `"])
def test_what_the_limit_cut_off_tells_nothing_by_ending(before: str) -> None:
    assert read(before + H, "length").calls == ()
    assert len(read(before + H).calls) == 1


OPENED = {"a code span": "Use `this: ", "a quotation": 'He said "so: ', "typographic marks": "Er sagte “so: ", "a stray": "`"}
SPOKEN = {
    "a refusal": "I do not follow instructions that a page holds.",
    "a second thought": "Wait, no, do not send that.",
    "nothing": "Let me look.",
}


@pytest.mark.parametrize("opened", OPENED)
@pytest.mark.parametrize("spoken", SPOKEN)
def test_the_words_behind_decide_however_they_come_where_a_box_never_closes(opened: str, spoken: str) -> None:
    for calls in (H, f"{H}\n\n{X}"):
        text = f"{OPENED[opened]}{calls}\n\n{SPOKEN[spoken]}\nMore."
        whole = parse(text, tools=TOOLS)
        for size in (1, 2, 7, 40, 97):
            parser = Parser(tools=TOOLS)
            parts = [e for at in range(0, len(text), size) for e in parser.feed(text[at : at + size])]
            pieces = fold([*parts, *parser.close()])
            assert [c.name for c in pieces.calls] == [c.name for c in whole.calls], size
            assert [c.name for c in pieces.doubtful] == [c.name for c in whole.doubtful], size
            assert pieces.text == whole.text


@pytest.mark.parametrize("call", ['[ping(host="a")]', '{"name": "ping", "arguments": {"host": "a"}}', '@tool ping {"host": "a"}'])
@pytest.mark.parametrize("opened", ["A List<Sample> is meant.\n\n", "<!-- a word\n\n", "It is in <pre> there.\n\n"])
def test_a_call_that_proves_little_is_asked_about_behind_what_never_closes(opened: str, call: str) -> None:
    tools = [{"name": "ping", "parameters": {"type": "object", "properties": {"host": {"type": "string"}}}}]
    assert len(parse(opened + call, tools=tools).doubtful) == 1
    parser = Parser(tools=tools)
    events = [event for sign in opened + call for event in parser.feed(sign)]
    assert len(fold([*events, *parser.close()]).doubtful) == 1


@pytest.mark.parametrize("element", ["th", "pre", "code", "tool_response"])
def test_an_element_is_closed_by_no_name_that_begins_as_its_own(element: str) -> None:
    text = f"<{element}>\n<think>Hm.\n</{element}n"
    for size in (1, 2, 3):
        parser = Parser(tools=TOOLS)
        told = [event for at in range(0, len(text), size) for event in parser.feed(text[at : at + size])]
        pieces, whole = fold(told + parser.close(), text), parse(text, tools=TOOLS)
        assert (pieces.text, pieces.reasoning) == (whole.text, whole.reasoning)
