"""The words that speak against a call, in many languages: short lists, which may be wrong either way.

Knows words; nothing of calls, of markup, or of where they stand (`hints.py`).
Contract: no pattern backtracks, and none is searched in more than a few hundred characters, all in small letters
(`small`), as the patterns are written.
Source: judge-rules.md, second edition, C.
"""

from __future__ import annotations

import re

from ...late import late


class Terms:
    """Words of one kind, which begin where a word does, and what may begin `anywhere`, or is spelt `beyond` ASCII.

    Most places in a line are no word's beginning, and most lines are ASCII: there nothing else is tried.
    """

    __slots__ = ("_anywhere", "_beyond")

    def __init__(self, words: str, *, anywhere: str = "", beyond: str = "") -> None:
        begun = rf"\b(?=\w)(?:{words})"
        self._anywhere = late(f"{begun}|{anywhere}" if anywhere else begun)
        self._beyond = late(beyond) if beyond else None

    def stand_in(self, line: str) -> bool:
        """Does one of them stand in this line?"""
        if self._anywhere.search(line) is not None:
            return True
        return self._beyond is not None and not line.isascii() and self._beyond.search(line) is not None


def _any(*parts: str) -> re.Pattern[str]:
    return late("|".join(parts))


def small(text: str) -> str:
    """The text in small letters, as the patterns are: a pattern for any case is three times as long to compile."""
    return text.lower() if text.isascii() else text.replace("İ", "i").lower()


NEGATION = Terms(
    r"(?:do not|don['’]?t|never|must not|mustn['’]?t|should not|shouldn['’]?t|cannot|can['’]?t|won['’]?t|will not|"
    r"would not|wouldn['’]?t|shall not|have not|haven['’]t|am not|not (?:going|to be)|unable to|"
    r"under no circumstances|dangerous|forbidden|nicht|niemals|keinesfalls|kein(?:e|en|em|er|es)?|"
    r"ne\b.{1,20}\bpas|n['’]\w+ (?:\w+ )?pas|jamais|no (?:ejecut|voy|debes|puedo|lo|hagas|env[ií])\w*|nunca|"
    r"jam[aá]s|n[aã]o|non (?:esegu|posso|devi|lo|far)\w*|mai|niet|nooit|inte|aldrig|ikke|nie|nigdy|ei saa|älä)\b|"
    r"(?:refus|declin|reject|refrain|abstain|weiger|verweiger|rehús|rechaz|recus|rifiut|odmawia|отказ)\w*|"
    r"niego a\b|(?:turn(?:ing)? (?:\w+ )?down|keeps? me from|prevents? me|against (?:my|the|our) (?:policy|rules)|"
    r"nothing (?:has been|was|is)|(?:that|this|it)(?:['’]s| is) not|out of the question|hors de question|"
    r"impossible|imposible|impossível|unmöglich|verzichte\w*|m['’]abstiens|rather not)\b|(?:undone|unsent|"
    r"unexecuted|un-?run|untouched)\b|(?:не|нельзя|никогда|jangan|nem|nespou\w+|nespust\w+|neprov\w+)\b",
    anywhere=r"may[ıi]n|meyin|yapma",
    beyond=(
        r"无法|無法|невозможно|не могу|不要|不能|不会|不會|(?<![特分区區])[别別](?![的人名处處])|請勿|请勿|禁止|"
        r"还没|尚未|没有(?:执行|调用)|しないで|ません|できない|"
        r"実行しない|하지 ?마|않|마세요|안 됩|拒[绝絕否]|断り|거[부절]|أرفض|لا |لن |لم |ممنوع|नहीं|मत |değil|"
        r"çal[ıi]şt[ıi]rma|ห้าม|อย่า|không|\bन |"
        r"đừng|μην|אל "
    ),
)
"""Prohibition and refusal."""
PARTICLES = Terms(
    r"(?:no|not|none|nothing|never|nor|neither|cannot|\w{2,7}n['’]t|nichts?|kein\w{0,2}|nie|niemals|keinesfalls|"
    r"pas|rien|jamais|aucune?|nunca|nada|ning[uú]n\w?|n[aã]o|nenhuma?|non|niente|nessun\w?|niet|nooit|geen|inte|"
    r"aldrig|ingen|ikke|nigdy|żaden|не|нет|ни|hay[ıi]r|değil|không|δεν|لا|لن|لم|ليس|नहीं|לא)\b",
    beyond=r"[不没勿]|ない|ません|않|못 ",
)
"""What says no, in a sentence that leads up to a call."""
HASTE = _any(
    r"\b(?:no (?:longer|more|problem|worries|trouble|doubt)|kein problem|pas de (?:problème|souci)|(?:sin|"
    r"nessun|sem) problema|not only|(?:not|n['’]t) (?:worry|wait|hesitate|forget)|(?:warte|zögere) nicht|"
    r"keine sorge|ne vous inquiétez pas|"
    r"(?:this |that |it )?can(?:not|['’]?t) be (?:undone|reversed|reverted|taken back)|"
    r"ne t['’]inquiète pas|no te preocupes|no se preocupe|não se preocupe|non ti preoccupare|не волнуй\w*|"
    r"не беспокой\w*)\b",
    r"[不别]用?担心|没问题|問題(?:ありません|ない)|ご?心配(?:なく|しないで)|걱정하?지? ?마\w*",
)
"""What says no to waiting and worrying, and so to nothing."""
COURTESY = _any(
    r"\b(?:let me know|tell me|feel free to (?:ask|reach out)),? (?:if|when|should) you(?:['’]d| would)? "
    r"(?:need|have|want|like|require) (?:anything|something|any|more|further|additional|other|help|assistance)\b"
    r"(?:(?!\b(?:before|first|run|call|execut|send|proceed|delet))[^.!?:\n])*(?:[.!]|\Z)",
    r"\b(?:sag(?:en sie)?(?: mir)?(?: gerne?)? bescheid|lass(?:en sie)? (?:es )?mich wissen|"
    r"meld(?:e dich|en sie sich)), (?:wenn|falls|sobald) (?:du|sie) (?:noch|weitere|mehr|fragen|hilfe)\b"
    r"[^.!?:,\n]*(?:[.!]|\Z)",
    r"\b(?:dites|faites|dis|fais)-(?:le-)?(?:moi|nous)(?: savoir)? si (?:vous avez|tu as) "
    r"(?:besoin d|d['’]autres|des questions)[^.!?:,\n]*(?:[.!]|\Z)",
)
"""How an answer is closed, whatever it holds."""
OTHERS = Terms(
    r"(?:other|others|else|ander\w*|weiter\w*|sonst|autres?|d['’]autre|otr[oa]s?|demás|outr[oa]s?|altr[oaie]|"
    r"annat|andet|inn\w{1,3}|друг\w+|больше|başka)\b",
    beyond=r"其他|其它|别的|他の|ほか|다른",
)
"""What speaks of something else than the call."""
CONDITION = Terms(
    r"(?:if|once|when|unless|until|after|before|provided|in case)\s+(?:you|the user|approved|confirmed)\b|"
    r"(?:only (?:to be |be )?(?:run|executed?|sen[dt]|called|made|done|carried out)|(?:to be|be) (?:run|executed|"
    r"sent|called|made|done|carried out) only) (?:(?:this|that|it) )?(?:if|once|after|when|until)\b|"
    r"you\s+(?:would|could|can|should|might|may|must|need to|have to|send|write)\b|should you\b|were (?:i|"
    r"we) to\b|(?:would|could|might) (?!not\b|like\b|love\b|help\b)(?:\w+ )?(?:be|look|write|send|call|run|use|"
    r"make|say|smuggle|issue|type|emit|need)\b|(?:must|has to|should) (?:emit|write|send|produce)\b|(?:wenn|falls|"
    r"sobald) (?:sie|du)\b|si (?:vous|tu|usted|quieres|confirmas)\b|se (?:você|vuoi|confermi)\b|(?:(?:wär|würd|"
    r"hätt)(?:e|en)|sähe|könnte|serait|ferait|pourrait|écrirait|ser[ií]a|ver[ií]a|har[ií]a|podr[ií]a|"
    r"escribir[ií]a|faria|poderia|sarebbe|farebbe|potrebbe|zou|skulle|бы)\b",
    anywhere=r"\A\W*(?:(?:either|or)\W*\Z|option \w{1,2}\W*\Z)",
    beyond=r"если вы|如果你|如果您|可以(?:这样|这么)写|もし|場合の|쓸 수 있|만약|다면|만일|إذا ",
)
"""What would be done, or by whom."""
CLAUSE = late(
    r"\W*(?:(?:and|or|but|only|even|und|oder|nur|et|ou|y|o|e) )?"
    r"(?:if|unless|in case|provided|wenn|falls|sofern|si|s['’]il|se|caso|если)\b[^,]*,",
)
"""A sentence that begins with its condition."""
EXAMPLE = Terms(
    r"example:|(?:e\.g\.|z\.\s?b\.|p\.\s?ej\.)|(?:for example|for instance|an? (?:only )?example|looks? (?:like|"
    r"so|as)|such as|syntax|format|template|schema|shape|illustrat\w+|sample|placeholder|hypothetical|"
    r"possible call|encoded as|documentation|(?:imagine|suppose|assume|pretend) (?:that )?(?:i|we|you)|"
    r"instead of|wrong way|beispiel|zum beispiel|"
    r"bijvoorbeeld|till? (?:exempel|eksempel)|eksempel|exempel|esimerki\w*|näide|näiteks|örneğin|contoh(?:nya)?|ví dụ|"
    r"παράδειγμα|např(?:íklad)?|muster|syntaxe?|exemple|ejemplo|exemplo|"
    r"esempio|muestra|voorbeeld|sintaxis|sintassi|formato|biçim|örnek|przykład|documentación|documentação|"
    r"documentazione)\b|(?:in|from|im|aus|dans|en|nel|nella|no|na|в|из) (?:(?:\w{1,8} ){1,2}docs?|"
    r"(?:\w{1,8} ){0,2}(?:manual|handbook|tutorial|guide|readme|logs?|history|transcript|handbuch|protokoll|"
    r"verlauf|manuel|journal|manuale|registro|руководств\w|документаци\w|журнал\w|лог\w))\b|(?:manual|tutorial|"
    r"guide|docs?|handbook|logs?) (?:say|give|show|has|have|read)s?\b|"
    r"(?:tool|function)(?:['’]s)? (?:result|response|output|answer)s?:",
    beyond=(
        r"пример|синтаксис|формат|例|たとえば|比如|譬如|示例|格式|예시|예를|\b예\s*[:：]|לדוגמ|مثال|صيغة|उदाहरण|प्रारूप|(?:文档|手册|日志|记录)[中里]|"
        r"(?:記録|ログ|マニュアル)に"
    ),
)
"""What is shown, not made."""
PAST = Terms(
    r"(?:yesterday|ago|earlier|previously|last (?:week|month|time|year|night)|gestern|vorhin|hier soir|ayer|ontem|"
    r"ieri)\b|(?:to|in) recap\b|i(?:['’]ve| have) just (?:made|run|sent|called|executed)\b|i (?:already |"
    r"just )?(?:ran|sent|called|executed|made|used|did)\b|(?:agent|assistant|colleague|predecessor|some(?:one|"
    r"body)|attacker) (?:has |had )?(?:wrote|written|sent|ran|typed|issued|made|called|executed)\b",
    beyond=r"вчера|昨天|昨日|어제|أمس|前回",
)
"""What was done before."""
QUESTION = Terms(
    r"(?:shall|should|may|can|could) i\b[^.!\n]*\?|(?:do|would) you (?:\w+ )?(?:want|like) me to\b|ok(?:ay)?\?|"
    r"is that (?:ok|right|fine)\b|is (?:it|this) (?:all ?right|alright|ok(?:ay)?|fine|acceptable) (?:if|to|"
    r"that)\b|which (?:one|of (?:them|these|those|the two)) (?:do|would|should|shall)\b|what do you think\b|"
    r"which do you prefer\b|please (?:confirm|approve|choose)\b|do you (?:agree|approve|confirm)\b|"
    r"(?:ist|wäre) (?:es|das) (?:in ordnung|ok(?:ay)?|recht)\b|est-ce que (?:je|ça|c['’]est)\b[^.!\n]*\?|"
    r"(?:te|le|les) parece (?:bien|si)\b|está bien (?:si|que)\b|tudo bem se\b|va bene se\b|(?:soll ich|darf ich|"
    r"puis-je|dois-je|quieres que|puedo|posso|devo|zal ik|ska jag|"
    r"czy (?:mam|mogę)|(?:mám|mohu) to)\b[^.!\n]*\?",
    anywhere=(
        r"\A[?？؟]|\A\W*(?:(?:so|and|but|then|now|also|und|aber|oder|et|ou)\W+)?"
        r"(?:(?:shall|should|may|can|could) i|soll ich|darf ich|puis-je|dois-je|zal ik|ska jag)\b[^.!\n]*\Z"
    ),
    beyond=r"要我|需要我|我可以.*[吗嗎]|しますか|でしょうか|할까요|هل |क्या मैं",
)
"""What is asked of the user."""
ASKED = late(r"[?？؟][\s*_)]*\Z")
"""How a question ends in any language."""
WONDERS = late(
    r"\W*(?:(?:so|and|but|then|now|hm+|ok(?:ay)?|und|aber|et|mais|y|pero|e|en|и|а|но)\W+){0,2}"
    r"(?!(?:how|what) (?:about|do you|does (?:this|that|it) (?:sound|look))\b)"
    r"(?:(?:what|why|how|where|which|who|whose|when|was|warum|wieso|wie|wo|wer|welche\w*|wann|quoi|pourquoi|comment|où|"
    r"quel\w*|qui|quand|qué|por qué|cómo|dónde|cuál\w*|quién|cuándo|o que|por que|como|onde|qual|quem|quando|cosa|che|"
    r"perché|come|dove|quale|chi|wat|waarom|hoe|waar|welke?|wanneer|что|почему|зачем|как|где|како\w+|кто|когда|co|"
    r"dlaczego|jak|gdzie|który|kto|ne|neden|nasıl|nerede|hangi|kim)\b|什么|为什么|怎么|哪|谁|何|なぜ|どう|どこ|誰|무엇|왜|어떻게|어디|누가)"
)
"""How one begins that whoever calls answers by the call; the user is asked for yes or no."""

REVOKED = Terms(
    r"(?:ignore|disregard|forget|scratch|cancel|discard|drop|skip|retract|withdraw|undo|revoke|void|"
    r"leave)\b[^.\n]{0,30}\b(?:that|this|it|above|call|last|what i)\b|wait,? no\b|(?:forget|"
    r"think better) (?:about|of)\b|(?:only|just|merely) (?:an? )?(?:example|illustration|demo|draft)\b|"
    r"with your own\b|replace the\b|was (?:only|just)\b|and (?:wait|stop) ?(?:there|for)?\b|as (?:void|never)\b|"
    r"(?:rather than|instead of) (?:that|this)\b|(?:kidding|joking|not (?:executed|run|sent|called))\b|"
    r"pretend\b|let (?:it|that|this) be\b|too (?:early|soon|fast|"
    r"quick)\b|(?:ignorier\w*|vergiss|vergessen sie|zurücknehmen|(?:nehme|ziehe)\b.{0,20}\bzurück|storniere\w*|"
    r"oublie[zr]?|ignore[zr]|annul\w+|ne tenez pas|laisse[zr]? tomber|olvid\w{1,3}|ignor(?:a|o|ar|ad|en|emos)|"
    r"cancel(?:a|o|ar|ad|en|emos)|como si no|me retracto|esque[cç]\w{1,3}|desconsider\w+|retir[oae]\w{0,2}|"
    r"deixa pra lá|dimentica\w*|lascia (?:perdere|stare)|come non detto|vergeet|negeer|laat maar|toch niet|glöm|"
    r"avbryt|strunta|glem|zignoruj|cofam|zapomnij|zapomeň|boş ?ver|vazgeç\w*|iptal|unut|dikkate alma|geri al\w*)\b",
    beyond=(
        r"забудь|игнориру|отмен|не надо|обратно|отзыва|передума|忽略|作废|撤回|收回|取消|取り消|当我没|算了|"
        r"無視して|忘れて|なかったこと|なしで|やめて|やめま|"
        r"취소|무시|철회|잊어|تجاهل|ألغ|إلغاء|रद्द|bỏ qua|hủy"
    ),
)
"""What takes it back."""
ABOVE = Terms(
    r"(?:the|what(?:ever)? (?:i|is|was)) (?:\w+ )?above\b|(?:preceding|previous) (?:call|one|request|command|"
    r"message)\b|i just wrote\b|(?:das|obige\w*) (?:oben|eben)\b|obige\w*|ci-dessus\b|lo (?:anterior|de arriba)\b|"
    r"o que está acima\b|acima\b|qui sopra\b|hierboven\b|выше\b",
    anywhere=r"yukar[ıi]da",
    beyond=r"上面|上述|刚才的|上記|今の|さっきの|위의|방금|أعلاه",
)
"""What points back to what was just written: the call is spoken of, not made."""
FALTERS = Terms(
    r"anders überlegt\b|(?:(?:take|undo|revert|withdraw) (?:(?:that|this|it)\b|(?:the|my) (?:last )?call)|"
    r"changed my mind|(?:that|this|it|call)(?: one| call)?(?:['’]s| is| was) (?:\w+ ){0,2}(?:void|wrong|mistaken?|"
    r"invalid|premature|hasty|a mistake)|(?:was|is) (?:a|my) mistake|my mistake|(?:wrong|incorrect) (?:call|tool|"
    r"file|path|folder|directory|arguments?|one|command|order|recipient)|(?:arguments?|call|file|path) wrong|"
    r"should not have|shouldn['’]t have)\b|(?:falsch(?:e[nrs]?)?|vertippt|vertan|geirrt|voreilig|erreur|trompée?|"
    r"prématuré|equivocad[oa]|equivoqu[eé]|errad[oa]|enganei|sbagliat[oa]|vergis me|yanl[ıi]ş|pomyłka)\b|"
    r"(?:à la réflexion|réflexion faite|pensándolo bien|ripensandoci|pensando bem|bei näherer|bij nader inzien|"
    r"если подумать)\b",
    anywhere=(
        r"\A\W*(?:oops|whoops|ups|oups|hoppla)[\s,.!…]|\A(?:と(?=[書入打言い])|という|って|이?라고)|"
        r"\A\W*(?:please |kindly |bitte )?(?:disregard|ignore|cancel|discard|forget|scratch|undo|revoke)\b|"
        r"\A\W*(?:(?:oh|hm+|ah|ach|mh|ops|well|but|und|aber|mais|pero|mas)\b[\s,.…!-]*)?(?:(?:wait|moment|warte|"
        r"attends|attendez|espera|espere|aspetta|wacht|vent|vänta|стой|постой|подожди)\s*[,.!…—–-]+\s*(?:no|nein|non|"
        r"não|nee|nej|nei|нет|that|this|das|i)\b|hold on\b|hang on\b|wait\W*\Z|(?:better )?not (?:this|that)\b|"
        r"better not\b|never ?mind\b|nvm\b|scrap\b|strike\b|belay\b|abort\b|rather not\b|let me not\b|"
        r"let me (?:re)?think\b|let['’]s not\b|on (?:second thoughts?|reflection)\b|correction\b|"
        r"doch (?:lieber )?nicht\b|lieber nicht\b|mejor no\b|melhor não\b|meglio di no\b|plutôt pas\b)"
    ),
    beyond=r"よく考え|考えてみ|다시 생각|仔细想|ошиб|弄错|搞错|写错|間違[えい]|やめます|실수|잘못",
)
"""Second thoughts, at the beginning of what follows, and mistakes that are owned to."""
HARMLESS = late(
    r"(?:done|ok|okay|then|next|now|first|firstly|second|secondly|finally|lastly|also|additionally|moreover|"
    r"meanwhile|afterwards?|after that|"
    r"once done|thanks|thank you|many thanks|great|good|perfect|excellent|sure|certainly|yes|please|alright|"
    r"right|so|well|there|there you go|here|"
    r"here you go|note|one moment|just a moment|a moment|moment please|please wait|hold tight|in addition|"
    r"in parallel|in total|at once|as requested|"
    r"for now|all set|all done|(?:(?:one|just a|einen?|un|ein) )?(?:moment|instant|momento|momentinho|minuto|"
    r"augenblick|istante)|подождите немного|минутку|секунду|(?:to|in|for|as|with|by|after|at|of|from|once|while|"
    r"when)(?: \w+)? \w+|\w+(?:ing|"
    r"ed)(?: \w+)?|sent|made|let's go|"
    r"dann|danach|fertig|gut|ja|jetzt|zuerst|anschließend|schließlich|außerdem|danke|bitte|erledigt|gleich|los|"
    r"ensuite|puis|enfin|après cela|merci|bien|voilà|oui|"
    r"maintenant|d'accord|c'est fait|luego|después|listo|hecho|gracias|entonces|ahora|bueno|sí|vale|además|"
    r"depois|pronto|feito|sim|agora|obrigad[oa]|"
    r"ora|poi|fatto|sì|bene|grazie|infine|daarna|klaar|goed|ja|nu|sedan|klart|tack|potem|następnie|gotowe|"
    r"dobrze|tak|teraz|затем|потом|далее|готово|хорошо|"
    r"теперь|ждите|да|спасибо|sonra|ard[ıi]ndan|tamam|evet|şimdi|الآن|ثم|تم|نعم|شكرا|"
    r"然后|接着|接下来|之后|好的?|完成了?|请?稍等(?:一下|片刻)?|现在|此外|另外|谢谢|次に|その後|では|それでは|"
    r"はい|了解|完了|ありがとう|다음|다음으로|그런 다음|완료|네|이제|그리고)\Z",
)
"""What may open the words behind a call, set off by a sign, and says nothing against it."""

SHOWN = Terms(
    r"(?:this|that|these|those|the following|following|below|above|it|call|command|dies(?:e[ns]?)?|das|"
    r"folgende\w*|cela|ceci|ça|suivant\w*|esto|eso|siguiente\w*|isto|isso|seguinte\w*|questo|questa|seguente|dit|"
    r"dat|detta|denna|dette|denne|tämä\w*|ini|này|toto)\b",
    anywhere=r"[:：,，、\w]\s*\Z|bunu",
    beyond=r"นี้|это|этот|следующ|这|這|以下|下面|これ|この|次|이것|이 |다음|هذا|यह|इसे|şunu",
)
"""What speaks of the call, not of something else."""
AHEAD = Terms(
    r"(?:following|below|next|folgende\w*|suivant\w*|siguiente\w*|seguinte\w*|seguente|volgende)\b",
    anywhere=r"[:：]\s*\Z",
    beyond=r"следующ|以下|下面|接下来|次|다음",
)
"""What speaks of what is still to come."""
ANNOUNCES = Terms(
    r"(?:let me|let['’]s|i['’]ll|i will|i['’]m going to|i am going to|now i|i need to|so i|then i|i (?:try|look|"
    r"check|read|search|begin|start|fetch|get)|lass mich|ich \w+e|je (?!n['’e])\w+|voy a|vou|vado a|sto per|"
    r"ik ga|as[ií] que|por eso|quindi|perciò|daher|deshalb|darum|donc|então|por isso|поэтому|так что|dus|därför|"
    r"więc)\b",
    beyond=(
        r"所以|因此|(?<![首优預预事])先|让我|我来|我將|我将|我(?:重新|再|先|只)|(?<!書き)(?<!なり)(?<!でき)(?<!あり)ます|"
        r"하겠|할게|сейчас я|я сейчас|سأ|मैं"
    ),
)
"""A sentence that announces an act is no example and no report."""
