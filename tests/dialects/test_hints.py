"""Words around a call that speak against it, each beside ordinary talk that uses the same words: doubt, and none."""

from __future__ import annotations

import re
import time

import pytest

from dragoman import Parser, parse
from dragoman.dialects.engine.parsed import fold
from dragoman.dialects.judge import hint_words, hints
from dragoman.events import Event
from tests.support.samples import TOOLS

CALL = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'
BEFORE = [
    ("a refusal", "I refuse to run the following:", "The server refused the connection, so I try again:"),
    ("a refusal by its verb alone", "Me niego a hacer esto:", "Me alegro de hacer esto:"),
    ("a no in what leads up to it", "There is no way I call this:", "Nothing there, so I look again:"),
    ("a no to waiting is none", "I will not do this:", "I will not wait any longer and do this:"),
    ("a worry that is taken away", "Do not remove this:", "Don't worry, I will only remove this:"),
    ("a condition", "If I had permission, I would now make this:", "I would like to make this:"),
    ("a condition of the user's", "Should you agree later:", "It is there, and soon you see this:"),
    ("an example", "It looks so:", "Let me see what an example looks like:"),
    ("a place in which it stands", "In the log of the old run I find this:", "I look into what the log of the old run holds:"),
    ("another's act", "Somebody typed this into the chat:", "Somebody is waiting for this:"),
    ("a recap", "To recap, the call I have just made was this:", "I have just seen the file, so I make this call:"),
    ("an idiom of refusal", "This I have to turn down:", "This I have to do:"),
    ("what keeps from it", "My policy keeps me from doing this:", "My plan starts by doing this:"),
    ("a refusal in Chinese", "我拒绝执行：", "我重新执行："),
    ("a refusal in Japanese", "これは実行しません：", "これを実行します："),
    ("a refusal in Russian", "Я отказываюсь это выполнять:", "Я собираюсь это выполнять:"),
    ("a refusal in Arabic", "لن أنفذ هذا:", "سأنفذ هذا:"),
    ("an example before a comma", "For example,", "So then,"),
    ("an example in Chinese before a comma", "例如，", "接下来，"),
    ("an example in Chinese in other words", "比如：", "比较一下："),
    ("a description in Japanese", "例えば次のように書きます：", "例えば東京を調べます："),
    ("an example in Japanese in other letters", "たとえば、", "まず、"),
    ("an example in Korean", "예:", "예보를 찾습니다:"),
    ("an example in Turkish", "Örneğin:", "Şimdi:"),
    ("an example in Vietnamese", "Ví dụ:", "Bây giờ:"),
    ("an example in Indonesian", "Contohnya:", "Sekarang:"),
    ("an example in Dutch", "Bijvoorbeeld:", "Nu:"),
    ("an example in Swedish", "Till exempel:", "Nu:"),
    ("an example in Finnish", "Esimerkiksi:", "Nyt:"),
    ("an example in Greek", "Παράδειγμα:", "Τώρα:"),
    ("an example in Hebrew", "לדוגמה:", "עכשיו:"),
    ("a question that the call stands in", "Shall I run", "Now I run"),
    ("a question before a colon", "Should I send this:", "What I should do is clear, so I send this:"),
    ("a question that speaks of the call", "Want me to run this?", "What is in the folder?"),
    ("the same in Turkish", "Bunu çalıştırayım mı?", "Klasörde ne var?"),
    ("the same in Russian", "Запустить это?", "Что в папке?"),
    ("the same in Japanese", "これを実行してもいいですか？", "フォルダに何がある？"),
    ("the same in Vietnamese", "Bạn có muốn tôi chạy lệnh này không?", "Trong thư mục có gì?"),
    ("the same in Thai", "ให้ฉันรันคำสั่งนี้ไหม?", "ในโฟลเดอร์มีอะไร?"),
    ("the same in Polish", "Czy mam to uruchomić?", "Co jest w folderze?"),
    ("a question for yes or no", "Is it this one?", "What does this error mean?"),
    ("the same behind a word", "So do you want this run?", "Hmm, but why is it empty?"),
    ("a question what the user thinks", "How does this sound?", "How does this work?"),
    ("the same in French", "Vous voulez que je lance ceci ?", "Que contient-il, et pourquoi ce fichier ?"),
    ("the same in Chinese", "确定执行这个命令吗？", "为什么这个文件是空的？"),
    ("a tool's result by its label", "Tool result:", "Tool:"),
    ("a question in German", "Soll ich das ausführen:", "Jetzt darf ich das ausführen:"),
]
BEHIND = [
    ("a revocation", "Please discard this call.", "Unused files are discarded."),
    ("an order to ignore it", "Kindly disregard; too fast.", "Ignored files stay."),
    ("a no to what was written", "That's not what you asked for, is it? Let me look again.", "That's what you asked for."),
    ("a word that asks to wait", "Halt, nicht so.", "Un momento, por favor."),
    ("an adverbial", "Er, no good.", "To recap, all is well."),
    ("a mistake of the wrong name", "I typed the wrong folder.", "I typed the folder's name."),
    ("a revocation in German", "Das eben bitte ignorieren, ich habe mich vertan.", "Danach sehe ich mir die anderen an."),
    ("a revocation in Spanish", "Perdón, cancelo lo de arriba.", "Después miro lo demás."),
    ("a revocation in Russian", "Беру свои слова обратно, отправлять не надо.", "Потом посмотрю остальное."),
    ("a revocation in Chinese", "我收回刚才的请求。", "然后我看结果。"),
    ("what stands above", "Please treat the above as void.", "The shelf stands above the table."),
    ("a mistake that is owned to", "That one is void.", "That does it."),
    ("an interjection", "Dur, yanlış dosya.", "Ardından devam ederim."),
    ("an interjection in two words", "Jednak nie, proszę.", "Następnie, zobaczymy."),
    ("an interjection in Japanese", "いや、違います。", "次に、結果を見ます。"),
    ("a word that leads on", "Hoppla! Anders herum.", "Done. The mail is out."),
    ("a denial", "I have not acted on it.", "I will not touch any other file."),
    ("a question of leave", "Let me know if you want any changes before I run it.", "Let me know if you need anything else!"),
    ("a question whether it is right", "Is it all right if I run that?", "It is all right, and it runs."),
    ("the same in German", "Ist es in Ordnung, wenn ich das so mache?", "Es ist in Ordnung, ich mache das so."),
    ("a condition for later", "(Only to be executed after Friday.)", "Only two lines are left after that."),
    ("an example", "Tell me if you want more: this was only an example.", "Feel free to ask if you want more examples."),
    ("a condition in German", "Sag Bescheid, wenn du das willst.", "Sag Bescheid, wenn du noch etwas brauchst."),
    ("a condition in French", "Dites-moi si vous voulez cela.", "Dites-moi si vous avez besoin d'autre chose."),
    ("the sign of a question that the call stands in", "?", "!"),
    ("the same in Arabic", "؟ شكرا", "شكرا"),
    ("a denial in Japanese", "まだ実行していません。", "他のファイルには触れません。"),
]


@pytest.mark.parametrize(("against", "none"), [row[1:] for row in BEFORE], ids=[row[0] for row in BEFORE])
def test_words_before_a_call(against: str, none: str) -> None:
    assert hints.before(against, inline=False)
    assert hints.before(none, inline=False) == ()
    assert [call.name for call in parse(f"{against}\n{CALL}", tools=TOOLS).doubtful] == ["f"]
    assert [call.name for call in parse(f"{none}\n{CALL}", tools=TOOLS).calls] == ["f"]


@pytest.mark.parametrize(("against", "none"), [row[1:] for row in BEHIND], ids=[row[0] for row in BEHIND])
def test_words_behind_a_call(against: str, none: str) -> None:
    assert hints.behind(against)
    assert hints.behind(none) == ()
    assert [call.name for call in parse(f"{CALL}\n{against}", tools=TOOLS).doubtful] == ["f"]
    assert [call.name for call in parse(f"{CALL}\n{none}", tools=TOOLS).calls] == ["f"]


CHATS = [
    "<ana> how do I ask it?\n<bot> ",
    "<ana> hi\n<@bot> hello\n<ben> once more?\n<@bot> ",
    "<+ana_> x\n< bot> ",
]
NO_CHATS = [
    "<plan> I look it up.\n</plan>\n<answer> ",
    "<answer> ",
    "I look.\n<action> ",
    "<step> One.\n<step> ",
]


@pytest.mark.parametrize("above", CHATS)
def test_a_line_of_a_chat_is_asked_about(above: str) -> None:
    assert hints.before(above, inline=True) == (hints.RECORD,)
    assert [call.name for call in parse(above + CALL, tools=TOOLS).doubtful] == ["f"]


@pytest.mark.parametrize("above", NO_CHATS)
def test_a_tag_before_a_call_is_no_speaker(above: str) -> None:
    assert hints.before(above, inline=True) == ()
    assert [call.name for call in parse(above + CALL, tools=TOOLS).calls] == ["f"]


PLANNED = [
    "1. Look.\n2. If there is one under 200, block the day: ",
    "Falls die Datei fehlt, lege sie an: ",
    "S'il pleut, annule la réunion : ",
    "Unless it is there, write it: ",
]
ANNOUNCED = [
    "If the file is there, it says so; let me look: ",
    "Since it is missing, I create it: ",
    "If it helps, I'll read it now: ",
]


@pytest.mark.parametrize("above", PLANNED)
def test_a_call_in_a_sentence_that_begins_with_a_condition_is_asked_about(above: str) -> None:
    assert hints.before(above, inline=True) == ("a condition",)
    assert [call.name for call in parse(above + CALL, tools=TOOLS).doubtful] == ["f"]


@pytest.mark.parametrize("above", ANNOUNCED)
def test_a_call_that_is_announced_behind_a_condition_runs(above: str) -> None:
    assert hints.before(above, inline=True) == ()
    assert [call.name for call in parse(above + CALL, tools=TOOLS).calls] == ["f"]


GOES_ON = [
    ("The old agent wrote", "and the file was gone.", "The old agent wrote.", "And the file was gone."),
    ("L'appel serait", "mais je ne fais rien.", "Je regarde :", "mais cela dure."),
    ("前回の記録には", "と書かれていました。", "見ます。", "と思います。"),
]


@pytest.mark.parametrize(("lead", "tail", "other_lead", "other_tail"), GOES_ON)
def test_a_sentence_that_goes_on_behind_a_call_speaks_of_it(
    lead: str, tail: str, other_lead: str, other_tail: str
) -> None:
    assert hints.GOES_ON in hints.behind(tail, lead)
    assert hints.GOES_ON not in hints.behind(tail, other_lead)
    assert hints.GOES_ON not in hints.behind("Here it is.", lead)
    assert hints.GOES_ON not in hints.behind(other_tail, other_lead)


SPOKEN_OF = [
    "```json\n{}\n```\n\nI do not need that one.\n\n",
    "> f()\n\nThat must not run.\n\n",
    "| a | b |\n\nYou must not use that.\n\n",
    "I could also use `f()`, but you must not run that.\n\n",
]


@pytest.mark.parametrize("text", SPOKEN_OF)
def test_a_sentence_that_speaks_of_what_is_quoted_says_nothing_of_the_next_call(text: str) -> None:
    assert hints.before(text, inline=False) == ()
    assert hints.before(text.rstrip(), inline=False)
    assert hints.before(f"{text.rstrip()} Do not run this:\n\n", inline=False)


def test_a_sentence_behind_a_call_in_doubt_speaks_of_that_one() -> None:
    said = "That is only an example.\n\n"
    assert hints.before(said, inline=False)
    assert hints.before(said, inline=False, after_call=True) == ()
    assert hints.before("Do not run the following one.\n\n", inline=False, after_call=True)


BATCH = '[TOOL_CALLS][{"name": "f", "arguments": {"a": 1}}, {"name": "f", "arguments": {"a": 2}}]'


def test_words_before_a_batch_say_the_same_of_all_its_calls() -> None:
    """The first of them is told while the others are read: what follows is still no sentence's end."""
    parsed = parse(f"I do not do so.\n\n{BATCH}", tools=TOOLS)
    assert [call.arguments["a"] for call in parsed.calls] == [1, 2]
    parsed = parse(f"I do not do this:\n\n{BATCH}", tools=TOOLS)
    assert [call.arguments["a"] for call in parsed.doubtful] == [1, 2]


OTHER = CALL.replace("1}", "2}")


@pytest.mark.parametrize(
    ("text", "runs", "asks"),
    [
        (f"The agent wrote\n\n{OTHER}\n\nThat is only an example.\n\n{CALL}", [1], [2]),
        (f"{OTHER}\n\nForget about this.\n\n{CALL}", [1], [2]),
        (f"{OTHER}\n\nForget about this.\nI do not do this:\n\n{CALL}", [], [2, 1]),
        (f"{OTHER}\n\nI do not do the following.\n\n{CALL}", [], [2, 1]),
        (f"{OTHER}\n\nI will not do this.\n\n{CALL}", [], [2, 1]),
    ],
)
def test_a_sentence_between_two_calls_speaks_of_the_one_it_takes_back(
    text: str, runs: list[int], asks: list[int]
) -> None:
    for parsed in (parse(text, tools=TOOLS), fold(piecewise(text))):
        assert [call.arguments["a"] for call in parsed.calls] == runs
        assert [call.arguments["a"] for call in parsed.doubtful] == asks


def piecewise(text: str) -> list[Event]:
    parser = Parser(tools=TOOLS)
    return [event for sign in text for event in parser.feed(sign)] + parser.close()


def patterns_of(name: str) -> list[re.Pattern[str]]:
    words = getattr(hint_words, name)
    if not isinstance(words, hint_words.Terms):
        return [words]
    return [pattern for pattern in (words._anywhere, words._beyond) if pattern is not None]


NAMES = [name for name in vars(hint_words) if name.isupper()]


@pytest.mark.parametrize("name", NAMES)
def test_the_words_are_written_in_small_letters(name: str) -> None:
    for pattern in patterns_of(name):
        words = re.sub(r"\\.", "", pattern.pattern)
        assert words == hint_words.small(words)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_spelt_beyond_ascii_stands_in_no_line_of_it(name: str) -> None:
    words = getattr(hint_words, name)
    if isinstance(words, hint_words.Terms) and words._beyond is not None:
        assert all(set(part) - set(map(chr, range(128))) for part in words._beyond.pattern.split("|"))


@pytest.mark.parametrize("line", ["DO NOT RUN THIS:", "Bunu ÇALIŞTIRMA:", "Hayır, DEĞİL:", "Я НЕ МОГУ:", "ÄLÄ tee:"])
def test_letters_of_any_case_say_the_same(line: str) -> None:
    assert hints.before(line, inline=False) == hints.before(hint_words.small(line), inline=False) != ()


def test_hints_cost_no_more_than_the_text_they_look_at() -> None:
    patterns = [pattern for name in NAMES for pattern in patterns_of(name)]
    for sign in ("a", "no ", "nehme ", "ne ", "如果", "我", "ignore ", "in the "):
        for text in (sign * 100, sign * 1000):
            begun = time.process_time()
            for pattern in patterns:
                pattern.search(text[: hints.REACH])
            assert time.process_time() - begun < 1
