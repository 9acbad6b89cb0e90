"""What the words directly around a call say against it: enough to ask, never enough to decide.

A short list in many languages, which may be wrong either way: a hint only turns *run* into *ask*.  Knows words; nothing
of calls or markup.
Contract: `before` looks at the last line of what precedes, `behind` at the first line of what follows; both are pure.
Source: judge-rules.md, second edition, C.
"""

from __future__ import annotations

import re
from functools import lru_cache

REACH = 240
"""Characters on either side that are looked at."""
SENTENCES = re.compile(r"(?<=[.!?。！？；;])\s+")


def _any(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts), re.IGNORECASE)


NEGATION = _any(
    r"\b(?:do not|don['’]?t|never|must not|mustn['’]?t|should not|shouldn['’]?t|cannot|can['’]?t|won['’]?t|will not|"
    r"would not|wouldn['’]?t|refuse|decline|not going to|unable to|under no circumstances|dangerous|forbidden|"
    r"nicht|niemals|kein(?:e|en|em|er|es)?|weigere|ne\b.{1,20}\bpas|n['’]\w+ pas|jamais|refuse de|"
    r"no (?:ejecut|voy|debes|puedo|lo|hagas|env[ií])\w*|nunca|jam[aá]s|n[aã]o|non (?:esegu|posso|devi|lo)\w*|mai|"
    r"niet|nooit|inte|aldrig|ikke|nie|nigdy|ei saa|älä)\b",
    r"\b(?:не|нельзя|никогда)\b",
    r"不要|不能|不会|不會|别|請勿|请勿|禁止|しないで|ません|できない|実行しない|하지 ?마|않|마세요|안 됩",
    r"لا |لن |ممنوع|नहीं|मत |değil|mayın|meyin|yapma|çalıştırma|ห้าม|không|đừng|μην|אל ",
)
"""Prohibition and refusal."""
CONDITION = _any(
    r"\b(?:if|once|when|unless|until|after|before|provided|in case)\s+(?:you|the user|approved|confirmed)\b",
    r"\byou\s+(?:would|could|can|should|might|may|must|need to|have to|send|write)\b|\b(?:would|could|might)\s+(?:be|look|write|"
    r"send|call|run|use)\b|\b(?:must|has to|should) (?:emit|write|send|produce)\b",
    r"\b(?:wenn|falls|sobald) (?:Sie|du)\b|\bsi (?:vous|tu|usted|quieres|confirmas)\b|\bse (?:você|vuoi|confermi)\b",
    r"если вы|如果你|如果您|もし|만약|إذا ",
)
"""What would be done, or by whom."""
EXAMPLE = _any(
    r"\b(?:for example|for instance|an? (?:only )?example|example:|e\.g\.|looks? like|such as|syntax|format|template|schema|shape|"
    r"illustrat\w+|sample|placeholder|documentation|beispiel|zum beispiel|syntaxe?|exemple|ejemplo|exemplo|esempio|"
    r"voorbeeld|sintaxis|sintassi|formato|biçim|örnek|przykład)\b",
    r"пример|синтаксис|формат|例|示例|格式|예시|예를|مثال|صيغة|उदाहरण|प्रारूप",
)
"""What is shown, not made."""
PAST = _any(
    r"\b(?:yesterday|ago|earlier|previously|last (?:week|month|time|year|night)|gestern|vorhin|hier soir|ayer|ontem|ieri)\b",
    r"\bI (?:already |just )?(?:ran|sent|called|executed|made|used|did)\b",
    r"вчера|昨天|昨日|어제|أمس",
)
"""What was done before."""
QUESTION = _any(
    r"\b(?:shall|should|may|can|could) I\b[^.!\n]*\?|\b(?:do|would) you (?:want|like) me to\b|\bok(?:ay)?\?|\bis that (?:ok|right|fine)\b",
    r"\b(?:soll ich|darf ich|puis-je|dois-je|quieres que|puedo|posso|devo|zal ik|ska jag)\b[^.!\n]*\?",
    r"要我|需要我|我可以.*[吗嗎]|しますか|でしょうか|할까요|هل |क्या मैं",
)
"""What is asked of the user."""
REVOKED = _any(
    r"\b(?:ignore|disregard|forget|scratch|cancel)\b[^.\n]{0,30}\b(?:that|this|it|above|call|last)\b|\bwait,? no\b",
    r"\b(?:only|just|merely) (?:an? )?(?:example|illustration|demo|draft)\b|\bwith your own\b|\breplace the\b|"
    r"\bwas (?:only|just)\b|\band (?:wait|stop) ?(?:there|for)?\b",
)
"""What takes it back."""
FALTERS = _any(
    r"\A\W*(?:(?:oh|hm+|ah|ach|mh|ops|well|but|und|aber|mais|pero|mas)\b[\s,.…!-]*)?(?:"
    r"(?:no|nein|non|nee|nej|nei|não|nie|нет|hayır|stop|halt|undo|nope|whoops|oops|ups|hoppla|actually)(?=\s*[,.!…—–-]|\s*\Z|\s+wait\b)|"
    r"(?:wait|moment|warte|attends|attendez|espera|espere|aspetta|wacht|vent|vänta|стой|постой|подожди)\s*[,.!…—–-]+\s*(?:no|nein|non|não|nee|nej|nei|нет|that|this|das|i)\b|"
    r"hold on\b|wait\W*\Z|(?:better )?not (?:this|that)\b|better not\b|never ?mind\b|nvm\b|scrap\b|strike\b|belay\b|abort\b|rather not\b|let me not\b|let me (?:re)?think\b|"
    r"on (?:second thoughts?|reflection)\b|correction\b|doch (?:lieber )?nicht\b|lieber nicht\b|mejor no\b|melhor não\b|meglio di no\b|plutôt pas\b)",
    r"\b(?:(?:take|undo|revert|withdraw) (?:(?:that|this|it)\b|(?:the|my) (?:last )?call)|changed my mind|(?:that|this|it|the call|call) (?:['’]s|is|was|were) (?:\w+ ){0,2}(?:void|wrong|mistaken?|invalid)|"
    r"(?:was|is) (?:a|my) mistake|(?:wrong|incorrect) (?:call|tool|file|path|folder|directory|arguments?|one|command|order)|should not have|shouldn['’]t have)\b",
    r"\b(?:falsch(?:e[nrs]?)?|vertippt|erreur|trompée?|equivocad[oa]|me equivoqu[eé]|errad[oa]|me enganei|sbagliat[oa]|ik vergis me)\b",
    r"\A\W*(?:等等|等一下|不对|不對|不[，。,]|算了|弄错|搞错|取消|やっぱり|待って|違う|間違|いや[、。]|やめ|아니[,.요]|잠깐|취소|отмена|не то|لا[،,.]|انتظر|नहीं[,।]|रुको|रुकिए)",
    r"отмена|ошиб(?:ся|лась|ка)|弄错了|搞错了|間違えました|やめます|실수",
)
"""Second thoughts, at the beginning of what follows, and mistakes that are owned to."""
FEW = 4
"""Words of a sentence that is too short to speak of anything but what stands right before it."""
SHOWN = _any(
    r"[:：\w]\s*\Z",
    r"\b(?:this|that|these|those|the following|following|below|above|it|call|command|dies(?:e[ns]?)?|das|folgende\w*|"
    r"cela|ceci|ça|suivant\w*|esto|eso|siguiente\w*|isto|isso|seguinte\w*|questo|seguente|dit|dat)\b",
    r"это|этот|следующ|这|這|以下|下面|これ|この|次|이|다음|هذا|यह|इसे|bunu|şunu",
)
"""What speaks of the call, not of something else."""

LEADS = (
    ("a prohibition or refusal", NEGATION, True),
    ("a question", QUESTION, False),
    ("a condition", CONDITION, False),
    ("an example", EXAMPLE, True),
    ("a report of the past", PAST, True),
)
"""Hint → its words, and whether the sentence must speak of the call besides."""
TAILS = (
    ("a revocation", REVOKED, False),
    ("second thoughts", FALTERS, False),
    ("a prohibition or refusal", NEGATION, True),
    ("a question", QUESTION, False),
    ("a condition", CONDITION, False),
    ("an example", EXAMPLE, True),
)
RESULT = "a tool's result that the model wrote itself"
"""Before any call it may be a word on the format, or the last result once more; what follows may be invented too."""
ANNOUNCES = re.compile(
    r"\b(?:let me|let['’]s|I['’]ll|I will|I['’]m going to|I am going to|now I|I need to|lass mich|ich werde|je vais|voy a|vou|"
    r"vado a|sto per|ik ga)\b|让我|我来|我將|我将|ます|하겠|할게|сейчас я|я сейчас|سأ|मैं",
    re.IGNORECASE,
)
"""A sentence that announces an act is no example and no report."""


def before(text: str, *, inline: bool) -> tuple[str, ...]:
    """What the last sentence before a call says against it; `inline` when it stands on the same line."""
    line = text.rstrip()[-REACH:].rpartition("\n")[2].strip()
    if not line:
        return ()
    return _before(SENTENCES.split(line)[-1], inline)


def behind(text: str) -> tuple[str, ...]:
    """What the first line after a call says against it."""
    return _behind(text.lstrip()[:REACH].partition("\n")[0].strip())


@lru_cache(maxsize=512)
def _before(line: str, inline: bool) -> tuple[str, ...]:
    return _found(LEADS, line, shown=inline or SHOWN.search(line) is not None)


@lru_cache(maxsize=512)
def _behind(line: str) -> tuple[str, ...]:
    short = len(line.split()) <= FEW and not line.endswith((":", "："))
    return _found(TAILS, line, shown=short or SHOWN.search(line) is not None)


def _found(table: tuple[tuple[str, re.Pattern[str], bool], ...], line: str, *, shown: bool) -> tuple[str, ...]:
    announced = ANNOUNCES.search(line) is not None
    found = [name for name, words, of_it in table if (shown or not of_it) and words.search(line)]
    return tuple(name for name in found if not (announced and name in {"an example", "a report of the past"}))
