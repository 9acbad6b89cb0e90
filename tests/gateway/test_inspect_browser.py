"""The inspector in a real browser, over a real gateway and the scripted weak model: seen, judged, repeated, exported."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from dragoman.dialects import DIALECTS
from dragoman.display import KINDS
from dragoman.gateway import GatewayConfig, create_app
from dragoman.gateway.inspector.recorder import Recorder
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE, Tools
from dragoman.sim import WeakModel, running, serving
from dragoman.sim.faults import HARMLESS
from dragoman.sim.scripted import ScriptedPeer
from tests.support.asgi import call
from tests.support.asking import Native, Served
from tests.support.chromium import Page, page, skip_without
from tests.support.dialect_vectors import check, whole
from tests.support.gateways import ASKS, FENCE, KEY, PATHS, row
from tests.support.inspecting import SECRET, recording
from tests.support.recorded import gateway as stored_gateway
from tests.support.recorded import settled, storing
from tests.support.upstreams import model, text_reply

pytestmark = skip_without

WEATHER = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TASK: dict[str, Any] = {
    "model": "weak",
    "stream": True,
    "messages": [{"role": "user", "content": "What is the weather in Oslo?"}],
    "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": WEATHER}}],
}
EVIL = "<script>window.evil = 1</script><img src=x onerror='window.evil = 2'> & &lt;b&gt; \u202e\x07"


async def post(url: str, body: Any, **headers: str) -> None:
    async with (
        aiohttp.ClientSession(trust_env=False) as session,
        session.post(f"{url}/v1/chat/completions", json=body, headers=headers) as answer,
    ):
        await answer.read()


@contextmanager
def weak() -> Iterator[str]:
    """A gateway before the weak model, which errs in every way that can be mended."""
    with running(WeakModel(rates=dict.fromkeys(HARMLESS, 0.6), seed=7)) as upstream:
        route = Route(provider=COMPATIBLE["openai_chat"], base_url=f"{upstream}/v1", prompt_dialect=DIALECTS["hermes"])
        with serving(create_app(GatewayConfig(default=route), observers=[Recorder()])) as url:
            yield url


@asynccontextmanager
async def opened(url: str, folder: Path, at: str = "/inspect") -> AsyncIterator[Page]:
    """The page; when it is left nothing was complained of, and nobody else was asked."""
    async with page(folder) as seen:
        await seen.size(1280, 900)
        await seen.open(f"{url}{at}")
        yield seen
        assert seen.complaints == []
        assert {address for address in seen.requested if not address.startswith((url, "data:", "about:", "blob:"))} == set()


async def choose(seen: Page, tab: str) -> None:
    await seen.click(f"[data-tab={tab}]")
    await seen.until(f"document.querySelector('.tab-{tab}')")


def test_an_exchange_is_shown_live_and_may_be_replayed(tmp_path: Path) -> None:
    async def go() -> None:
        async with opened(url, tmp_path) as seen:
            await seen.until("document.querySelector('.empty')")
            await post(url, TASK)
            await seen.until("document.querySelectorAll('.exchange:not(.is-live)').length === 1")
            await seen.press("j")
            await seen.until("document.querySelector('.coloured .span-mended mark')")
            await judges(seen)
            await repeats(seen)
            await exports(seen)
            await choose(seen, "wires")
            await seen.value("document.querySelectorAll('.wire > summary').forEach((one) => one.click())")
            await seen.until("document.querySelectorAll('.wire pre').length >= 4")
            await choose(seen, "events")
            await seen.until("document.querySelector('.is-CallStarted')?.innerText.includes('get_weather')")

    with weak() as url:
        asyncio.run(go())


COPIED = '<tool_call>\n{"name": "read_file", "arguments": {"path": "b"}}\n</tool_call>'
MANY = f"""I look at `{COPIED.replace("read_file", "ping")}` first.

{COPIED}

<tool_call>
{{'name': 'ping', 'arguments': {{}},}}
</tool_call>

<tool_call>
{{"name": "rm", "arguments": {{}}}}
</tool_call>

```json
{{"name": "read_file", "arguments": {{"path": "x"}}}}
```"""
EXPECTED = {
    ("quoted", "box"): "a code span",
    ("quoted", "copy"): "a tool's result, shown text 2 (read_file) at character 8",
    ("mended", "strong"): "trailing comma at $",
    ("refused", "unknown_tool"): "there is no tool named 'rm' (unknown tool)",
    ("doubtful", "weak"): "fenced_json, in a fenced block, with nothing behind it",
}
SHOWN = """JSON.stringify([...document.querySelectorAll('.step .verdicts > li')].map(
    (one) => [one.dataset.verdict, one.dataset.rule, one.innerText, one.querySelectorAll('.evidence dt').length]))"""


@pytest.mark.slow
def test_every_candidate_shows_its_evidence_and_doubt_its_answer(tmp_path: Path) -> None:
    served = Served("native", "chat", observers=[Recorder()])
    served.ask([MANY, Native((("read_file", {"path": "x"}),))], stream=False, shown=f"A page: {COPIED}")

    async def go() -> None:
        async with opened(url, tmp_path, "/inspect#1") as seen:
            await seen.until("document.querySelector('.doubt')")
            found = json.loads(await seen.value(SHOWN))
            assert {(verdict, rule) for verdict, rule, *_ in found} == set(EXPECTED)
            for verdict, rule, words, lines in found:
                assert EXPECTED[verdict, rule] in words
                assert rule.replace("_", " ") in words
                assert lines > 1
            assert await seen.value("document.querySelector('.doubt').dataset.answer") == "confirmed"
            story = await seen.value("document.querySelector('.tab-story').innerText")
            assert "was asked whether it meant a call" in story
            assert "Did you mean to make it?" in story
            assert "remembered this model means calls that it writes so: fenced_json" in story
            colours = "getComputedStyle(document.querySelector('.span-doubtful')).borderBottomStyle"
            assert await seen.value(colours) == KINDS["doubtful"].line
            await forgets(seen)

    with serving(served.app) as url:
        asyncio.run(go())


async def forgets(seen: Page) -> None:
    await seen.click("#habits")
    await seen.until("document.querySelectorAll('#remembered .habits li').length === 1")
    row = await seen.value("document.querySelector('#remembered .habits li').innerText")
    assert "fenced_json, in a fenced block" in row
    assert "http://model.test/v1" in row
    await seen.click("#remembered .forget")
    await seen.until("document.querySelector('#remembered').innerText.includes('Nothing is remembered.')")
    await seen.click("#remembered .main")
    await seen.until("!document.querySelector('#remembered').open")


async def judges(seen: Page) -> None:
    await choose(seen, "judge")
    await seen.until("document.querySelector('#slider')?.max > 2")
    await seen.value(
        "{ const s = document.querySelector('#slider'); s.value = 1; s.dispatchEvent(new Event('input')); }"
    )
    await seen.until("document.querySelector('.slider output').innerText.includes(' of ')")
    assert await seen.value("document.querySelector('.unread').textContent.length > 0")
    before = await seen.value("document.querySelector('.tab-judge').innerText")
    assert "get_weather" not in before.partition("Decided so far")[2]
    change = "s.value = 'tool_call_fence'; s.dispatchEvent(new Event('change', {bubbles: true}));"
    await seen.value(f"{{ const s = document.querySelector('#judge-dialect'); {change} }}")
    await seen.until(
        "document.querySelector('.tab-judge .wrote') && !document.querySelector('.tab-judge .span-mended')"
    )


async def repeats(seen: Page) -> None:
    await choose(seen, "again")
    await seen.click(".tab-again button.main")
    await seen.until("document.querySelectorAll('.exchange:not(.is-live)').length === 2")
    await seen.until("document.querySelectorAll('.tab-again .coloured').length === 2")


async def exports(seen: Page) -> None:
    await choose(seen, "export")
    await seen.until("document.querySelectorAll('.exported').length === 4")
    vector, wire, command, _ = json.loads(
        await seen.value("JSON.stringify([...document.querySelectorAll('.exported')].map((one) => one.textContent))")
    )
    made = json.loads(vector)
    check(made, whole(made, "hermes"))
    assert [call["name"] for call in made["calls"]] == ["get_weather"]
    assert "stream" in wire
    assert command.startswith("curl ")


def test_model_text_is_shown_exactly_and_never_as_markup(tmp_path: Path) -> None:
    text = f"{EVIL}\n{FENCE}\n```js\nlet a = `b`;\n```\t∅ 𝄞 é\n"

    async def go() -> None:
        async with opened(url, tmp_path, "/inspect#1") as seen:
            await seen.until("document.querySelector('.coloured')")
            assert await seen.value("document.querySelector('.coloured').textContent") == text
            assert await seen.value("window.evil") is None
            assert await seen.value("document.querySelectorAll('main script, main img').length") == 0

    gateway, _ = recording(model("openai_chat", text_reply(text)), tools=Tools.TEXT)
    with serving(gateway) as url:
        asyncio.run(post(url, {**ASKS["openai_chat"], "stream": True}))
        asyncio.run(go())


@pytest.mark.slow
def test_large_lists_and_texts_stay_few_elements(tmp_path: Path) -> None:
    long = f"{'All work and no play. ' * 48_000}\n{FENCE}"
    gateway, recorder = recording(model("openai_chat", text_reply(long, size=4000)), tools=Tools.TEXT)

    async def go() -> None:
        async with opened(url, tmp_path) as seen:
            await seen.until("document.querySelector('#count').innerText.startsWith('601 ')")
            assert await seen.value("document.querySelectorAll('.exchange').length") < 50
            await seen.press("G")
            await seen.until("document.querySelector('.exchange.picked')?.innerText.includes('#1')")
            await seen.value("location.hash = '#601'")
            await seen.until("document.querySelector('.coloured')")
            assert await seen.value("document.querySelector('.coloured').textContent.length") < 30_000
            assert await seen.value("document.querySelectorAll('#detail *').length") < 1000
            await seen.click(".coloured .more")
            await seen.until(f"document.querySelector('.coloured').textContent.length === {len(long)}")

    with serving(gateway) as url:
        asyncio.run(fill(url))
        asyncio.run(post(url, {**ASKS["openai_chat"], "stream": True}))
        assert len(list(recorder)) == 601
        asyncio.run(go())


async def fill(url: str) -> None:
    """Requests that are refused at once."""
    async with aiohttp.ClientSession(trust_env=False) as session:
        for _ in range(6):
            await asyncio.gather(*(_refused(session, url) for _ in range(100)))


async def _refused(session: aiohttp.ClientSession, url: str) -> None:
    async with session.post(f"{url}/v1/chat/completions", data=b"{}") as answer:
        assert answer.status == 400


@pytest.mark.slow
def test_the_list_filters_by_verdict_and_walks_by_keys(tmp_path: Path) -> None:
    slanted = FENCE.replace('"sky"}}', '"sky",}}')
    gateway, _ = recording(model("openai_chat", text_reply("Plain."), text_reply(slanted), text_reply("Zebra.")), tools=Tools.TEXT)

    async def go() -> None:
        async with opened(url, tmp_path) as seen:
            await seen.until("document.querySelectorAll('.exchange').length === 3")
            await seen.click(".mark.is-mended")
            await seen.until("document.querySelectorAll('.exchange').length === 1")
            await seen.click(".mark.is-mended")
            await seen.press("/")
            assert await seen.value("document.activeElement.id") == "filter"
            search = "f.value = 'zebra'; f.dispatchEvent(new Event('input'));"
            await seen.value(f"{{ const f = document.querySelector('#filter'); {search} }}")
            await seen.until("document.querySelector('#count').innerText === '1 of 3 exchanges'")
            await seen.press("Escape")
            await seen.press("j")
            await seen.until("document.querySelector('h2').innerText.startsWith('#3')")
            await seen.press("2")
            await seen.until("document.querySelector('.tab-events')")
            await seen.press("?")
            await seen.until("document.querySelector('#keys').open")
            await seen.click("#keys button")
            await seen.click("#clear")
            await seen.until("document.querySelector('.empty')")

    with serving(gateway) as url:
        for _ in range(3):
            asyncio.run(post(url, {**ASKS["openai_chat"], "stream": True}))
        asyncio.run(go())


@pytest.mark.slow
def test_the_page_asks_for_a_key_and_keeps_it(tmp_path: Path) -> None:
    gateway, _ = recording(model("openai_chat", text_reply("Up.")), config={"access": (row(),)})

    async def go() -> None:
        async with page(tmp_path) as seen:
            await seen.open(f"{url}/inspect")
            for key in ("sk-wrong-key", KEY):
                await seen.until("document.querySelector('#ask').open")
                enter = f"a.querySelector('input').value = {json.dumps(key)}; a.querySelector('button').click();"
                await seen.value(f"{{ const a = document.querySelector('#ask'); {enter} }}")
                if key != KEY:
                    await seen.until("document.querySelector('#ask').innerText.includes('not known')")
            await seen.until("document.querySelectorAll('.exchange').length === 1")
            stored = "JSON.stringify([sessionStorage, localStorage, document.cookie])"
            session, local, cookie = json.loads(await seen.value(stored))
            assert KEY in json.dumps(session)
            assert KEY not in json.dumps(local) + cookie
            shown = await seen.value("document.documentElement.outerHTML")
            assert KEY not in shown
            assert SECRET not in shown

    with serving(gateway) as url:
        asyncio.run(post(url, {**ASKS["openai_chat"], "stream": True}, authorization=f"Bearer {KEY}"))
        asyncio.run(go())


@pytest.mark.slow
def test_without_a_gateway_the_page_says_that_it_tries_again(tmp_path: Path) -> None:
    async def go() -> None:
        async with page(tmp_path) as seen:
            with serving(recording(ScriptedPeer([]))[0]) as url:
                await seen.open(f"{url}/inspect")
                await seen.until("document.querySelector('#live').innerText.startsWith('live')")
            await seen.until("document.querySelector('#live').innerText.includes('does not answer')")

    asyncio.run(go())


STORED = "document.querySelectorAll('.exchange').length"


@pytest.mark.parametrize("content", [True, False])
@pytest.mark.slow
def test_recordings_are_shown_sifted_and_grouped_by_session(tmp_path: Path, content: bool) -> None:
    async def go() -> None:
        async with opened(url, tmp_path / "profile") as seen:
            await seen.until(f"{STORED} === 3")
            await seen.until(f"document.getElementById('live').textContent.startsWith('recorded{'' if content else ', without'}')")
            assert await seen.value("document.getElementById('clear').hidden")
            await seen.click("#sessions")
            await seen.until("document.querySelector('.exchange[data-session]')")
            assert await seen.value(STORED) == 2
            await seen.value("[...document.querySelectorAll('.exchange')].find((one) => one.innerText.includes('2 exchanges')).click()")
            await seen.until(f"{STORED} === 2 && !document.querySelector('.exchange[data-session]')")
            await seen.click("#sessions")
            await seen.until(f"{STORED} === 3")
            await seen.value("document.querySelector('.mark.is-mended').click()")
            await seen.until(f"{STORED} === 1")
            await seen.press("j")
            await seen.until("document.querySelector('.tab-story .call')")
            story = await seen.value("document.querySelector('.tab-story').innerText")
            assert ("was not recorded" in story) is not content
            assert "mended" in story
            assert ("What is up?" in story) is content
            await choose(seen, "judge")
            await choose(seen, "export")
            await seen.value("document.querySelector('.mark.is-mended').click()")
            await seen.until(f"{STORED} === 3")
            await seen.value("(() => { const f = document.getElementById('filter'); f.value = 'another thing'; f.dispatchEvent(new Event('input')); })()")
            await seen.until(f"{STORED} === {1 if content else 0}" if content else "document.querySelector('.empty')")

    slanted = FENCE.replace('"sky"}}', '"sky",}}')
    with storing(str(tmp_path / "r.sqlite"), content=content) as recorder:
        app = stored_gateway(model("openai_chat", text_reply(slanted), text_reply("Up."), text_reply("Hm.")), recorder, tools=Tools.TEXT)
        first = {"role": "user", "content": "What is up?"}
        for messages in ([first], [first, {"role": "assistant", "content": "?"}, first], [{"role": "user", "content": "Another thing."}]):
            call(app, PATHS["openai_chat"], {**ASKS["openai_chat"], "messages": messages})
        settled(recorder.writer, 3)
        with serving(app) as url:
            asyncio.run(go())


@pytest.mark.slow
def test_what_is_recorded_meanwhile_appears_by_itself(tmp_path: Path) -> None:
    async def go() -> None:
        async with opened(url, tmp_path / "profile") as seen:
            await seen.until(f"{STORED} === 1")
            await seen.press("j")
            await seen.until("document.querySelector('h2').innerText.startsWith('#1')")
            await post(url, {**ASKS["openai_chat"], "stream": True})
            await seen.until(f"{STORED} === 2")  # nothing is loaded anew, and what is read stays
            assert await seen.value("document.querySelector('h2').innerText.startsWith('#1')")
            await seen.click("#sessions")
            await seen.until("document.querySelector('.exchange[data-session]')?.innerText.includes('2 exchanges')")
            await post(url, {**ASKS["openai_chat"], "stream": True})
            await seen.until("document.querySelector('.exchange[data-session]').innerText.includes('3 exchanges')")

    with storing(str(tmp_path / "r.sqlite")) as recorder:
        app = stored_gateway(model("openai_chat", *map(text_reply, ("One.", "Two.", "Three."))), recorder)
        call(app, PATHS["openai_chat"], ASKS["openai_chat"])
        settled(recorder.writer, 1)
        with serving(app) as url:
            asyncio.run(go())
