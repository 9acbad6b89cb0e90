"""What models say around calls that they do not mean: taken back, shown, refused, in many languages.

Knows words; nothing of calls or of who reads them.
Contract: whoever reads the words, and knows their language, knows that the call is not meant.  `{call}` is its place.
"""

from __future__ import annotations

REVOKED = (
    "Actually, don't.", "Wait, no, don't run that.", "Scratch that.", "Never mind, ignore the call above.",
    "Hmm, on second thought, please do not do this.", "Nein, doch nicht.", "No wait, that is the wrong one.",
    "Stop. That was a mistake.", "Cancel that.", "Ne fais pas ça, finalement.", "Forget that one.",
    "Oops, wrong arguments, disregard it.", "Sorry, ignore what I just wrote.", "Please don't execute the above.",
    "I take it back.", "That call should not run.", "Correction, this was not what I wanted.",
    "Let's not do that after all.", "On second thoughts, leave it.", "Hang on, I got the arguments wrong.",
    "That one is void.", "Disregard the previous call.", "Not that one.", "My mistake, that must not run.",
    "I should not have written that.", "Belay that.", "Undo that, please.", "Moment, das war falsch.",
    "Vergiss das bitte.", "Das nehme ich zurück.", "Stopp, nicht ausführen.", "Attends, non.", "Oubliez cet appel.",
    "Je me suis trompé.", "Annulez ça.", "Espera, no.", "Olvida eso.", "Me equivoqué, no lo ejecutes.",
    "Esquece isso.", "Lascia perdere.", "Laat maar, toch niet.", "算了，不要执行。", "等等，写错了。",
    "请忽略上面的调用。", "いや、やめておきます。", "すみません、間違えました。", "아니, 취소할게요.",
    "Стоп, это ошибка.", "Нет, не надо.",
    "Забудьте про это.", "لا، تجاهل ذلك.", "Hayır, vazgeçtim.", "Nie, cofam to.",
)  # fmt: skip
"""Behind a call: it is taken back."""

INSTEAD = ("", "Instead:", "The right one:", "I mean this:", "Stattdessen:", "Plutôt :", "改为：")
"""Before the call that takes its place."""

SHOWN = (
    "Yesterday the old agent wrote\n\n{call}\n\nand the file was gone.",
    "For example, one could write this:\n\n{call}\n\nI do not do so.",
    "The manual gives this example:\n\n{call}\n\nIt is only an example.",
    "If I were asked to, I would write\n\n{call}\n\nbut nobody asks.",
    "With {call} it would be done, but that is not what you want.",
    "Im Handbuch steht dieses Beispiel:\n\n{call}\n\nIch führe es nicht aus.",
    "Par exemple :\n\n{call}\n\nCe n'est qu'un exemple.",
    "Por ejemplo:\n\n{call}\n\nEs solo un ejemplo.",
    "例如：\n\n{call}\n\n这只是一个例子。",
    "たとえば次のように書きます。\n\n{call}\n\nこれは例です。",
    "Например:\n\n{call}\n\nЭто только пример.",
)
"""A call that stands where calls stand, and is only spoken of."""

REFUSED = (
    "I will not make this call:", "I am not going to do this:", "I refuse to run the following:",
    "This must not be called:", "You will not see me do this:", "I won't touch this one:",
    "Never would I run this:", "It would be wrong to make this call:", "Diesen Aufruf mache ich nicht:",
    "Das führe ich nicht aus:", "Je ne lance pas ceci :", "Je refuse cet appel :", "No voy a hacer esto:",
    "Me niego a hacer esto:", "Não vou executar isto:", "Non farò questa chiamata:", "Dit voer ik niet uit:",
    "我不会调用这个：", "我拒绝执行：", "これは実行しません：", "이것은 실행하지 않겠습니다:",
    "Этого я делать не буду:", "Я отказываюсь это выполнять:", "لن أنفذ هذا:",
)  # fmt: skip
"""Before a call: it will not be made."""
