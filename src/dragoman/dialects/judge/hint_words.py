"""The words that speak against a call, in many languages: short lists, which may be wrong either way.

Knows words; nothing of calls, of markup, or of where they stand (`hints.py`).
Contract: no pattern backtracks, and none is searched in more than a few hundred characters, all in small letters
(`small`), as the patterns are written.
Source: judge-rules.md, second edition, C.
"""

from __future__ import annotations

import re

from ...late import late


def _any(*parts: str) -> re.Pattern[str]:
    return late("|".join(parts))


def small(text: str) -> str:
    """The text in small letters, as the patterns are: a pattern for any case is three times as long to compile."""
    return text.lower() if text.isascii() else text.replace("İ", "i").lower()


NEGATION = _any(
    r"\b(?:do not|don['’]?t|never|must not|mustn['’]?t|should not|shouldn['’]?t|cannot|can['’]?t|won['’]?t|will not|"
    r"would not|wouldn['’]?t|shall not|have not|haven['’]t|am not|not (?:going|to be)|unable to|"
    r"under no circumstances|"
    r"dangerous|forbidden|nicht|niemals|keinesfalls|kein(?:e|en|em|er|es)?|ne\b.{1,20}\bpas|"
    r"n['’]\w+ (?:\w+ )?pas|jamais|"
    r"no (?:ejecut|voy|debes|puedo|lo|hagas|env[ií])\w*|nunca|jam[aá]s|n[aã]o|non (?:esegu|posso|devi|lo|far)\w*|mai|"
    r"niet|nooit|inte|aldrig|ikke|nie|nigdy|ei saa|älä)\b",
    r"\b(?:refus|declin|reject|refrain|abstain|weiger|verweiger|rehús|rechaz|recus|rifiut|odmawia|отказ)\w*|"
    r"\bniego a\b|"
    r"\b(?:turn(?:ing)? (?:\w+ )?down|keeps? me from|prevents? me|against (?:my|the|our) (?:policy|rules)|"
    r"nothing (?:has been|was|is)|(?:that|this|it)(?:['’]s| is) not|out of the question|hors de question|"
    r"impossible|imposible|impossível|unmöglich|verzichte\w*|m['’]abstiens|rather not)\b|无法|無法|невозможно|"
    r"не могу|"
    r"\b(?:undone|unsent|unexecuted|un-?run|untouched)\b",
    r"\b(?:не|нельзя|никогда)\b",
    r"不要|不能|不会|不會|(?<![特分区區])[别別](?![的人名处處])|請勿|请勿|禁止|还没|尚未|没有(?:执行|调用)|"
    r"しないで|ません|できない|実行しない|하지 ?마|않|마세요|안 됩",
    r"拒[绝絕否]|断り|거[부절]|أرفض|لا |لن |لم |ممنوع|नहीं|मत |değil|may[ıi]n|meyin|yapma|çal[ıi]şt[ıi]rma|ห้าม|không|"
    r"đừng|μην|אל ",
)
"""Prohibition and refusal."""
PARTICLES = _any(
    r"\b(?:no|not|none|nothing|never|nor|neither|cannot|\w{2,7}n['’]t|nichts?|kein\w{0,2}|nie|niemals|"
    r"keinesfalls|pas|rien|"
    r"jamais|aucune?|nunca|nada|ning[uú]n\w?|n[aã]o|nenhuma?|non|niente|nessun\w?|niet|nooit|geen|inte|aldrig|"
    r"ingen|ikke|"
    r"nigdy|żaden|не|нет|ни|hay[ıi]r|değil|không|δεν|لا|لن|لم|ليس|नहीं|לא)\b",
    r"[不没勿]|ない|ません|않|못 ",
)
"""What says no, in a sentence that leads up to a call."""
HASTE = _any(
    r"\b(?:no (?:longer|more|problem|worries|trouble|doubt)|kein problem|pas de (?:problème|souci)|(?:sin|"
    r"nessun|sem) problema|not only|(?:not|n['’]t) (?:worry|wait|hesitate|forget)|(?:warte|zögere) nicht|"
    r"keine sorge|ne vous inquiétez pas|"
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
OTHERS = _any(
    r"\b(?:other|others|else|ander\w*|weiter\w*|sonst|autres?|d['’]autre|otr[oa]s?|demás|outr[oa]s?|altr[oaie]|"
    r"annat|andet|inn\w{1,3}|"
    r"друг\w+|больше|başka)\b|其他|其它|别的|他の|ほか|다른",
)
"""What speaks of something else than the call."""
CONDITION = _any(
    r"\b(?:if|once|when|unless|until|after|before|provided|in case)\s+(?:you|the user|approved|confirmed)\b",
    r"\b(?:only (?:to be |be )?(?:run|executed?|sen[dt]|called|made|done|carried out)|"
    r"(?:to be|be) (?:run|executed|sent|called|made|done|carried out) only) (?:(?:this|that|it) )?"
    r"(?:if|once|after|when|until)\b",
    r"\byou\s+(?:would|could|can|should|might|may|must|need to|have to|send|write)\b|\bshould you\b|\bwere (?:i|"
    r"we) to\b|"
    r"\b(?:would|could|might) (?!not\b|like\b|love\b|help\b)(?:\w+ )?(?:be|look|write|send|call|run|use|make|say|"
    r"smuggle|issue|type|emit|need)\b|\b(?:must|has to|should) (?:emit|write|send|produce)\b",
    r"\b(?:wenn|falls|sobald) (?:sie|du)\b|\bsi (?:vous|tu|usted|quieres|confirmas)\b|\bse (?:você|vuoi|confermi)\b",
    r"\b(?:(?:wär|würd|hätt)(?:e|en)|sähe|könnte|serait|ferait|pourrait|écrirait|ser[ií]a|ver[ií]a|har[ií]a|"
    r"podr[ií]a|"
    r"escribir[ií]a|"
    r"faria|poderia|sarebbe|"
    r"farebbe|potrebbe|zou|skulle|бы)\b",
    r"если вы|如果你|如果您|可以(?:这样|这么)写|もし|場合の|쓸 수 있|만약|다면|만일|إذا ",
)
"""What would be done, or by whom."""
CLAUSE = late(
    r"\W*(?:(?:and|or|but|only|even|und|oder|nur|et|ou|y|o|e) )?"
    r"(?:if|unless|in case|provided|wenn|falls|sofern|si|s['’]il|se|caso|если)\b[^,]*,",
)
"""A sentence that begins with its condition."""
EXAMPLE = _any(
    r"\bexample:|\b(?:e\.g\.|z\.\s?b\.|p\.\s?ej\.)",
    r"\b(?:for example|for instance|an? (?:only )?example|looks? (?:like|so|as)|such as|syntax|"
    r"format|template|schema|shape|"
    r"illustrat\w+|sample|placeholder|hypothetical|possible call|encoded as|documentation|beispiel|zum beispiel|"
    r"bijvoorbeeld|til(?:l)? (?:exempel|eksempel)|eksempel|exempel|esimerki\w*|näide|näiteks|örneğin|contoh(?:nya)?|"
    r"ví dụ|παράδειγμα|např(?:íklad|\.)?|"
    r"muster|syntaxe?|exemple|ejemplo|"
    r"exemplo|esempio|muestra|voorbeeld|sintaxis|sintassi|formato|biçim|örnek|przykład|documentación|"
    r"documentação|documentazione)\b",
    r"\b(?:in|from|im|aus|dans|en|nel|nella|no|na|в|из) (?:(?:\w{1,8} ){1,2}docs?|"
    r"(?:\w{1,8} ){0,2}(?:manual|handbook|tutorial|guide|readme|logs?|history|"
    r"transcript|handbuch|protokoll|verlauf|manuel|journal|manuale|registro|руководств\w|документаци\w|журнал\w|"
    r"лог\w))\b",
    r"\b(?:tool|function)(?:['’]s)? (?:result|response|output|answer)s?:",
    r"\b(?:manual|tutorial|guide|docs?|handbook|logs?) (?:say|give|show|has|have|read)s?\b",
    r"пример|синтаксис|формат|например|例|たとえば|比如|譬如|示例|格式|예시|예를|\b예\s*[:：]|לדוגמ|مثال|صيغة|उदाहरण|प्रारूप|(?:文档|手册|日志|记录)[中里]|"
    r"(?:記録|ログ|マニュアル)に",
)
"""What is shown, not made."""
PAST = _any(
    r"\b(?:yesterday|ago|earlier|previously|last (?:week|month|time|year|night)|gestern|vorhin|hier soir|ayer|"
    r"ontem|ieri)\b",
    r"\b(?:to|in) recap\b|\bi(?:['’]ve| have) just (?:made|run|sent|called|executed)\b",
    r"\bi (?:already |just )?(?:ran|sent|called|executed|made|used|did)\b",
    r"\b(?:agent|assistant|colleague|predecessor|some(?:one|body)|attacker) (?:has |had )?(?:wrote|written|sent|"
    r"ran|typed|issued|"
    r"made|called|executed)\b",
    r"вчера|昨天|昨日|어제|أمس|前回",
)
"""What was done before."""
QUESTION = _any(
    r"\A[?？؟]|\A\W*(?:(?:so|and|but|then|now|also|und|aber|oder|et|ou)\W+)?"
    r"(?:(?:shall|should|may|can|could) i|soll ich|darf ich|puis-je|dois-je|zal ik|ska jag)\b[^.!\n]*\Z",
    r"\b(?:shall|should|may|can|could) i\b[^.!\n]*\?|\b(?:do|would) you (?:\w+ )?(?:want|like) me to\b|"
    r"\bok(?:ay)?\?|\bis that (?:ok|right|fine)\b|"
    r"\bis (?:it|this) (?:all ?right|alright|ok(?:ay)?|fine|acceptable) (?:if|to|that)\b|"
    r"\b(?:ist|wäre) (?:es|das) (?:in ordnung|ok(?:ay)?|recht)\b|\best-ce que (?:je|ça|c['’]est)\b[^.!\n]*\?|"
    r"\b(?:te|le|les) parece (?:bien|si)\b|\bestá bien (?:si|que)\b|\btudo bem se\b|\bva bene se\b",
    r"\b(?:soll ich|darf ich|puis-je|dois-je|quieres que|puedo|posso|devo|zal ik|ska jag)\b[^.!\n]*\?",
    r"\bczy (?:mam|mogę)\b[^.!\n]*\?|\b(?:mám|mohu) to\b[^.!\n]*\?|"
    r"要我|需要我|我可以.*[吗嗎]|しますか|でしょうか|할까요|هل |क्या मैं",
)
"""What is asked of the user."""
ASKED = late(r"[?？؟][\s*_)]*\Z")
"""How a question ends in any language."""

REVOKED = _any(
    r"\b(?:ignore|disregard|forget|scratch|cancel|discard|drop|skip|retract|withdraw|undo|revoke|void|"
    r"leave)\b[^.\n]{0,30}\b(?:that|this|it|above|call|"
    r"last|what i)\b|\bwait,? no\b|\b(?:forget|think better) (?:about|of)\b",
    r"\b(?:only|just|merely) (?:an? )?(?:example|illustration|demo|draft)\b|\bwith your own\b|\breplace the\b|"
    r"\bwas (?:only|just)\b|\band (?:wait|stop) ?(?:there|for)?\b|\bas (?:void|never)\b|\b(?:rather than|"
    r"instead of) (?:that|this)\b|\bpretend\b|\blet (?:it|that|this) be\b|\btoo (?:early|soon|fast|quick)\b",
    r"\b(?:ignorier\w*|vergiss|vergessen sie|zurücknehmen|(?:nehme|ziehe)\b.{0,20}\bzurück|storniere\w*|"
    r"oublie[zr]?|ignore[zr]|annul\w+|"
    r"ne tenez pas|laisse[zr]? tomber|olvid\w{1,3}|ignor(?:a|o|ar|ad|en|emos)|cancel(?:a|o|ar|ad|en|emos)|"
    r"como si no|me retracto|esque[cç]\w{1,3}|desconsider\w+|"
    r"retir[oae]\w{0,2}|deixa pra lá|dimentica\w*|lascia (?:perdere|stare)|come non detto|vergeet|negeer|"
    r"laat maar|toch niet|glöm|"
    r"avbryt|strunta|"
    r"glem|zignoruj|cofam|zapomnij|zapomeň|boş ?ver|vazgeç\w*|iptal|unut|dikkate alma|geri al\w*)\b",
    r"забудь|игнориру|отмен|не надо|обратно|отзыва|передума|忽略|作废|撤回|收回|取消|取り消|当我没|算了|"
    r"無視して|忘れて|なかったこと|なしで|やめて|やめま|"
    r"취소|무시|철회|잊어|تجاهل|ألغ|إلغاء|रद्द|bỏ qua|hủy",
)
"""What takes it back."""
ABOVE = _any(
    r"\b(?:the|what(?:ever)? (?:i|is|was)) (?:\w+ )?above\b|\b(?:preceding|previous) (?:call|one|request|"
    r"command|message)\b|\bi just wrote\b|"
    r"\b(?:das|obige\w*) (?:oben|eben)\b|\bobige\w*|\bci-dessus\b|\blo (?:anterior|de arriba)\b|"
    r"\bo que está acima\b|\bacima\b|"
    r"\bqui sopra\b|\bhierboven\b|\bвыше\b|yukar[ıi]da|上面|上述|刚才的|上記|今の|さっきの|위의|방금|أعلاه",
)
"""What points back to what was just written: the call is spoken of, not made."""
FALTERS = _any(
    r"\A\W*(?:please |kindly |bitte )?(?:disregard|ignore|cancel|discard|forget|scratch|undo|revoke)\b|"
    r"\banders überlegt\b",
    r"\A\W*(?:(?:oh|hm+|ah|ach|mh|ops|well|but|und|aber|mais|pero|mas)\b[\s,.…!-]*)?(?:"
    r"(?:wait|moment|warte|attends|attendez|espera|espere|aspetta|wacht|vent|vänta|стой|постой|"
    r"подожди)\s*[,.!…—–-]+\s*(?:no|nein|non|não|nee|nej|nei|нет|that|this|das|i)\b|"
    r"hold on\b|hang on\b|wait\W*\Z|(?:better )?not (?:this|that)\b|better not\b|never ?mind\b|nvm\b|scrap\b|"
    r"strike\b|belay\b|abort\b|rather not\b|let me not\b|let me (?:re)?think\b|let['’]s not\b|"
    r"on (?:second thoughts?|reflection)\b|correction\b|doch (?:lieber )?nicht\b|lieber nicht\b|mejor no\b|"
    r"melhor não\b|meglio di no\b|plutôt pas\b)",
    r"\b(?:(?:take|undo|revert|withdraw) (?:(?:that|this|it)\b|(?:the|my) (?:last )?call)|changed my mind|"
    r"(?:that|this|it|call)(?: one| call)?(?:['’]s| is| was) (?:\w+ ){0,2}(?:void|wrong|mistaken?|invalid|"
    r"premature|hasty|a mistake)|"
    r"(?:was|is) (?:a|my) mistake|my mistake|(?:wrong|incorrect) (?:call|tool|file|path|folder|directory|"
    r"arguments?|one|command|order|recipient)|(?:arguments?|call|file|path) wrong|should not have|"
    r"shouldn['’]t have)\b",
    r"\b(?:falsch(?:e[nrs]?)?|vertippt|vertan|geirrt|voreilig|erreur|trompée?|prématuré|equivocad[oa]|"
    r"equivoqu[eé]|errad[oa]|enganei|sbagliat[oa]|vergis me|yanl[ıi]ş|pomyłka)\b",
    r"\b(?:à la réflexion|réflexion faite|pensándolo bien|ripensandoci|pensando bem|bei näherer|"
    r"bij nader inzien|если подумать)\b|"
    r"よく考え|考えてみ|다시 생각|仔细想",
    r"ошиб|弄错|搞错|写错|間違[えい]|やめます|실수|잘못",
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

SHOWN = _any(
    r"[:：,，、\w]\s*\Z",
    r"\b(?:this|that|these|those|the following|following|below|above|it|call|command|dies(?:e[ns]?)?|das|folgende\w*|"
    r"cela|ceci|ça|suivant\w*|esto|eso|siguiente\w*|isto|isso|seguinte\w*|questo|questa|seguente|dit|dat|"
    r"detta|denna|dette|denne|tämä\w*|ini|này|toto)\b",
    r"นี้|это|этот|следующ|这|這|以下|下面|これ|この|次|이것|이 |다음|هذا|यह|इसे|bunu|şunu",
)
"""What speaks of the call, not of something else."""
AHEAD = _any(
    r"[:：]\s*\Z",
    r"\b(?:following|below|next|folgende\w*|suivant\w*|siguiente\w*|seguinte\w*|seguente|volgende)\b|следующ|"
    r"以下|下面|接下来|次|다음",
)
"""What speaks of what is still to come."""
ANNOUNCES = _any(
    r"\b(?:let me|let['’]s|i['’]ll|i will|i['’]m going to|i am going to|now i|i need to|so i|then i|i (?:try|"
    r"look|check|read|search|begin|start|fetch|"
    r"get)|lass mich|ich \w+e|je (?!n['’e])\w+|voy a|vou|vado a|sto per|ik ga)\b",
    r"让我|我来|我將|我将|我(?:重新|再|先|只)|(?<!書き)(?<!なり)(?<!でき)(?<!あり)ます|"
    r"하겠|할게|сейчас я|я сейчас|سأ|मैं",
)
"""A sentence that announces an act is no example and no report."""
