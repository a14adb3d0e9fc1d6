"""Words by which `cc_hf.text.replies` knows what a language model says around a translation, in
English, German, French, Spanish, Italian, Portuguese, Russian, Ukrainian, Polish, Czech, Dutch,
Chinese and Japanese. No text is read here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from dataclasses import dataclass

from cc_hf.languages import LANGUAGES

__all__ = [
    "AGREEMENT",
    "AI",
    "APOLOGY",
    "INTRODUCTION",
    "LABEL_WORDS",
    "LANGUAGE_NAMES",
    "NOTE",
    "NO_TEXT",
    "REFUSED_TASK",
    "SOURCE_APOLOGY",
    "SPEECH",
    "TRANSLATION",
    "VERBS_OF_LABELS",
    "Phrases",
]

#: Names of the languages, and adjectives, as they stand in "the German translation" and "German:".
#: Nouns for people ("a Russian") are the same word in some languages.
_NAMES = """
deutsch deutsche deutschen allemand allemande alemán alemana tedesco tedesca alemão alemã немецкий
немецкого немецком німецька німецькою німецьку niemiecki niemieckie niemieckiego německy němčina
německý němčiny duits duitse
englisch englische englischen anglais anglaise inglés inglesa inglese inglês английский
английского англійська англійську angielski angielskie angielskiego anglicky angličtina anglický
engels engelse
französisch französische französischen français française francés francesa francese francês
французский французского французька французьку francuski francuskie francuskiego francouzsky
francouzština frans franse
spanisch spanische spanischen espagnol espagnole español española spagnolo spagnola espanhol
espanhola испанский испанского іспанська іспанську hiszpański hiszpańskie hiszpańskiego španělsky
španělština spaans spaanse castellano
italienisch italienische italienischen italien italienne italiano italiana итальянский
итальянского італійська італійську włoski włoskie włoskiego italsky italština italiaans italiaanse
portugiesisch portugiesische portugiesischen portugais portugaise portugués portuguesa portoghese
português португальский португальского португальська португальську portugalski portugalsky
portugees portugese
russisch russische russischen russe ruso rusa russo russa русский русского русском російська
російську російською rosyjski rosyjskie rosyjskiego rusky ruština
ukrainisch ukrainische ukrainien ucraniano ucraino украинский українська українську українською
ukraiński ukrajinsky oekraïens
polnisch polnische polnischen polonais polonaise polaco polacco polonês польский польська польську
polski polskie polskiego polsky polština pools poolse
tschechisch tschechische tschechischen tchèque checo ceco tcheco чешский чеська чеську czeski
česky čeština tsjechisch
niederländisch niederländische niederländischen néerlandais néerlandaise neerlandés olandese
holandês нидерландский нідерландська niderlandzki nizozemsky nederlands nederlandse
chinesisch chinesische chinesischen chinois chinoise chino cinese chinês китайский китайська
chiński čínsky chinees chinese mandarin
japanisch japanische japanischen japonais japonaise japonés giapponese japonês японский японська
japoński japonsky japans japanse
"""
_CJK_NAMES = (
    "中文 汉语 漢語 英语 英語 英文 德语 德語 德文 法语 法語 法文 西班牙语 意大利语 葡萄牙语 俄语"
    " 俄文 日语 日文 日本語 ドイツ語 フランス語 スペイン語 イタリア語 ポルトガル語 ロシア語 中国語"
)
LANGUAGE_NAMES = frozenset(
    [
        *(word for name in LANGUAGES.values() for word in name.casefold().split()),
        *_NAMES.split(),
        *_CJK_NAMES.split(),
    ]
)

#: How a model begins that does as it is told.
AGREEMENT = re.compile(
    r"(?:sure|certainly|of course|absolutely|okay|ok|alright|great|no problem|gerne?|natürlich|klar"
    r"|selbstverständlich|bien sûr|certainement|claro|por supuesto|certo|certamente|com certeza"
    r"|конечно|звичайно|oczywiście|jistě|natuurlijk)\b|当然|好的|はい",
    re.IGNORECASE,
)

#: A word for a translation or for translating.
TRANSLATION = re.compile(
    r"\b(?:re)?translat(?:ions?|e[ds]?|ing)\b|\bübersetz(?:ung(?:en)?|t)\b|\btraductions?\b"
    r"|\btraduit\w{0,2}\b|\btraducci(?:ón|ones)\b|\btraducid[oa]s?\b|\btraduzion[ei]\b"
    r"|\btradott[oaie]\b|\btraduç(?:ão|ões)\b|\btraduzid[oa]s?\b|\bперевод(?:а|ы|ов)?\b"
    r"|\bпереклад(?:и|у)?\b|\btłumaczeni[ea]\b|\bpřeklad(?:y|u)?\b|\bvertaling(?:en)?\b"
    r"|翻译|翻譯|译文|譯文|翻訳|訳文",
    re.IGNORECASE,
)

#: "Here is", which introduces something.
INTRODUCTION = re.compile(
    r"\bhere(?:['’]s| is| are| you (?:go|are))\b|\bthis is\b|\bbelow is\b|\bthe following is\b"
    r"|\bhier (?:ist|sind|kommt)\b|\bvoici\b|\bvoilà\b|\baquí (?:está|tienes?|va|hay)\b"
    r"|\besta es\b|\becco\b|\bdi seguito\b|\b(?:aqui|eis) (?:está|vai|a)\b|\bsegue a\b"
    r"|\bвот\b|\bось\b|\boto\b|\bzde je\b|\btady je\b|\bhier is\b|\bhierbij\b"
    r"|以下是|以下為|这是|這是|下面是|以下は|以下が|こちらが|こちらは|次のとおり|如下",
    re.IGNORECASE,
)

_LABEL_WORDS = """
a an and the in into to of from for final my your version text sentence output target language
formal informal literal standard brazilian european simplified traditional direct natural auf aus
ins der die das den des vom von und satz satzes ausgabe endgültige finale en du de la le les l
vers une phrase texte al del el los las una oración frase texto italiano dal dall dalla il lo
traduzione testo para o os da do em português brasileiro на с в из окончательный текст предложение
з українською остаточний na z język języka polski ostateczne věty konečný naar het van uit
definitieve
"""
_VERBS_OF_LABELS = """
is be as reads to becomes would follows lautet ist wäre est es sería è sarebbe é seria fica будет
звучит буде brzmi je zní luidt
"""
#: Words that may stand beside the name of a language or a word for a translation in a label:
#: "the translation into German", "Übersetzung ins Deutsche", "final translation".
LABEL_WORDS = frozenset(_LABEL_WORDS.split())
#: How a label with a verb ends: "the translation of the sentence is:".
VERBS_OF_LABELS = frozenset(_VERBS_OF_LABELS.split())

_NOTE_WORDS = (
    r"(?:translator['’]?s?\s|translation\s)?notes?|n\.?b\.?|explanations?|comments?|clarification"
    r"|literal(?:ly)?(?:\smeaning|\stranslation)?|reasoning|breakdown"
    r"|anmerkung(?:en)?|hinweise?|erklärung(?:en)?|erläuterung(?:en)?|kommentar"
    r"|remarques?|explications?|commentaires?|précisions?"
    r"|notas?(?:\sdel\straductor)?|explicaci(?:ón|ones)|aclaraci(?:ón|ones)|comentarios?"
    r"|observaci(?:ón|ones)|spiegazion[ei]|osservazion[ei]|commento|nota\sdel\straduttore"
    r"|observaç(?:ão|ões)|obs\.?|explicaç(?:ão|ões)|comentários?"
    r"|примечани[ея]|пояснени[ея]|объяснени[ея]|комментари[йи]|замечани[ея]"
    r"|примітк[аи]|пояснення|коментар[іи]?|зауваження"
    r"|uwag[ai]|wyjaśnieni[ea]|objaśnieni[ea]|komentarz|poznámk[ay]|vysvětlení|komentář"
    r"|opmerking(?:en)?|toelichting|uitleg|let\sop"
    r"|注意|注释|註釋|说明|說明|解释|解釋|备注|備註|译注|注釈|解説|説明|備考|補足|訳注|注"
)
#: A word that begins a note, with what follows it.
NOTE = re.compile(
    rf"(?:{_NOTE_WORDS})[*_]{{0,3}}\s{{0,3}}[:：]|note\sthat\b|please\snote\b|※", re.IGNORECASE
)

#: How a first person apologises or says what cannot be done: words -> a pattern that needs one of
#: them. Few texts have such a word, so that most patterns need not be tried.
_APOLOGIES = {
    "sorry": r"\bi['’]?m (?:so |very |truly )?sorry\b|\bi am (?:so |very )?sorry\b|\bsorry,"
    r"|\bsorry but\b",
    "apologies apologize apologise": r"\bmy apologies\b|\bi apologi[sz]e\b",
    "can cannot cant decline": r"\bi (?:can['’]?t|cannot|can not|must decline)\b",
    "translate reproduce": r"\bi (?:won['’]t|will not) (?:translate|reproduce)\b",
    "unable able afraid": r"\bi(?: am|['’]m) (?:unable|not able|afraid)\b",
    "unfortunately": r"\bunfortunately,? i\b",
    "leid": r"\btut mir (?:\w{1,9} )?leid\b",
    "kann": r"\b(?:ich kann|kann ich)\b[^.!?\n]{0,60}\b(?:nicht|kein\w{0,2})\b",
    "lage": r"\bich bin nicht in der lage\b",
    "désolé désolée": r"\bje suis (?:\w{1,12} )?désolée?\b|\bdésolée?,",
    "peux mesure": r"\bje ne (?:peux|suis pas en mesure)\b",
    "siento lamento": r"\blo (?:siento|lamento)\b|\A\W{0,3}lamento (?:no|que|pero|informar)\b",
    "puedo posible traduciré": r"\bno (?:puedo|me es posible|traduciré)\b",
    "dispiace spiace": r"\bmi (?:dispiace|spiace)\b",
    "posso grado consigo": r"\bnon (?:posso|sono in grado)\b|\bnão (?:posso|consigo)\b",
    "desculpe desculpa muito": r"\bdesculp[ea]\b|\bsinto muito\b",
    "извините простите": r"\bизвините\b|\bпростите\b",
    "могу": r"\bне могу\b",
    "вибачте пробачте": r"\bвибачте\b|\bпробачте\b",
    "можу": r"\bне можу\b",
    "przykro przepraszam mogę": r"\bprzykro mi\b|\bprzepraszam\b|\bnie mogę\b",
    "omlouvám líto": r"\bomlouvám se\b|\bje mi líto\b",
    "nemohu nemůžu": r"\bnemohu\b|\bnemůžu\b",
    "spijt": r"\bhet spijt me\b",
    "kan": r"\bik kan\b[^.!?\n]{0,60}\b(?:niet|geen)\b",
}
_CJK_APOLOGY = "抱歉|对不起|對不起|很遗憾，?我|我无法|我無法|我不能|申し訳|すみません|ごめんなさい"
#: The same in a source, more widely: its translation may be an apology, too.
SOURCE_APOLOGY = re.compile(
    "|".join([*_APOLOGIES.values(), _CJK_APOLOGY])
    + r"|\bsorry\b|\bapolog|\bunfortunate|\bregret|\bpardon|\bforgive|\bexcuse me\b|\balas\b"
    r"|\bi (?:could|can|may|might|am|do|will|shall|would)(?: not\b|n['’]t\b)|\bi(?:['’]m| am) not\b"
    r"|\bi (?:won['’]t|fail|refuse|lack)\b|\b(?:can['’]t|couldn['’]t|cannot) i\b"
    r"|(?:\A|[.!?,;:\"“„(]\s?)(?:can['’]t|cannot|unable|not able|couldn['’]t|no way|impossible)\b"
    r"|\bleider\b|\bentschuldig|\bverzeih|\bbedauer|\bich (?:konnte|könnte|vermag|werde)\b"
    r"|\bdésolée?s?\b|\bpardon|\bexcuse[zr]?\b|\bregrette|\bmalheureusement\b|\bje n['’e]"
    r"|\bperd[oó]n|\bdisculp|\bdesafortunad|\blamentabl|\bno (?:pude|podría|logro)\b"
    r"|\bscus[ai]|\bpurtroppo\b|\bperdon|\bnon (?:potevo|riesco)\b"
    r"|\binfelizmente\b|\bsinto\b|\bperdão\b|\bизвин|\bпрост|\bжаль\b|\bувы\b|\bсожале|\bне смо[гж]"
    r"|\bвибач|\bпробач|\bперепрош|\bпрепрошу|\bniestety\b|\bwybacz|\bprzepr|\bprzykro\b"
    r"|\bbohužel\b|\bpromiň|\blíto\b|\bnemoh|\bhelaas\b|\bspijt|\bexcuses\b|\bsorry"
    r"|遗憾|遺憾|无法|無法|不能|不好意思|残念|ません|ごめん|すまない"
    r"|\bledsen\b|\bförlåt|\bbeklag|\bundskyld|\bscuze\b|\bpare rău\b|\bsajnál|\bbocsán|\büzgün"
    r"|\bözür\b|\bvalitettavasti\b|\banteeksi\b|\bλυπ|\bσυγγν|آسف|عذر|متأسف|סליחה|מצטער|माफ|क्षमा"
    r"|죄송|미안|\bбоюсь\b|\bне в силах\b|\bне в состоянии\b|\bfürchte\b|\bcrain[ds]\b|\btemo\b"
    r"|\breceio\b|\bobawiam\b|\bboję\b",
    re.IGNORECASE,
)
#: A source that reports what someone says, and its translation: the first person is another one.
SPEECH = re.compile(
    r"\b(?:said|says?|told|tells?|asked|replied|answered|explained|sag(?:te|t|en)|antwortete|erklärte"
    r"|di(?:t|sait|jo|ce|cen|sse|z|cono)|disse|сказал\w?|говори\w{1,2}|відповіла?|сказала?|powiedzia\w{1,2}"
    r"|mówi|řekla?|zei|zegt)\b|说|說|言[いっう]",
    re.IGNORECASE,
)
#: What a model is asked to do: to help, to translate, a text.
REFUSED_TASK = re.compile(
    r"\bhelp\b|\bassist|\btranslat|\brequest|\bfulfil|\bcomply\b|\b(?:text|sentence|content)\b"
    r"|\bhelfen\b|\bhilfreich\b|\bbehilflich\b|\bweiterhelfen\b|\bübersetz|\bunterstütz|\banfrage"
    r"|\b(?:text|satz|inhalt)\w{0,3}\b|\baider\b|\btradui|\btraduction|\bdemande\b|\bassister\b"
    r"|\b(?:texte|phrase|contenu)\b|\bayudar|\btradu[cz]|\bsolicitud|\b(?:texto|frase|contenido)\b"
    r"|\baiutar|\bassister|\btradu[rz]|\brichiesta|\b(?:testo|frase|contenuto)\b"
    r"|\bajudar|\bpedido\b|\bsolicitação\b|\bconteúdo\b"
    r"|\bпомо[чг]|\bперев[ео]|\bзапрос|\bтекст|\bдопомог|\bперекла|\bзапит|\bречення\b"
    r"|\bpomóc\b|\bpomagać\b|tłumacz|\btekst|\bprośb|\bpomoci?\b|\bpomoct\b|\bpřelož|\bpřeklad"
    r"|\bžádost|\bhelpen\b|\bvertal|\bverzoek"
    r"|帮助|帮您|帮你|幫助|协助|協助|翻译|翻譯|请求|文本|内容|翻訳|お手伝い|応え|リクエスト|要望",
    re.IGNORECASE,
)
#: How a model speaks of itself, in the same form.
_OF_THE_MODEL = {
    "ai artificial language": r"\bas an? (?:\w{1,12} )?"
    r"(?:ai\b|artificial intelligence|(?:large )?language model)"
    r"|\ban ai (?:language )?(?:model|assistant)\b|\bals ai\b|\bjako ai\b|\bassistente ai\b",
    "ki künstliche": r"\bals (?:eine? )?ki"
    r"(?:-(?:modell|assistent|system|sprachmodell)|,| (?:habe|kann|bin|darf)\b)"
    r"|\bals künstliche intelligenz (?:habe|kann|bin|darf)\b",
    "sprachmodell taalmodel": r"\bals (?:ein )?(?:sprachmodell|taalmodel)\b",
    "tant": r"\ben tant qu['’](?:ia\b|intelligence artificielle|assistant (?:ia|virtuel))"
    r"|\ben tant qu(?:e |['’])modèle de lang",
    "ia inteligencia inteligência modelo": r"\bcomo (?:una? |um )?"
    r"(?:ia\b|inteligencia artificial|inteligência artificial|modelo de l)|\bcome ia\b",
    "asistente assistente": r"\bcomo (?:un )?as(?:is|sis)tente (?:ai|ia|de ia)\b",
    "intelligenza linguistico": r"\bcome (?:un['’]? ?intelligenza artificiale|modello linguistico)",
    "ии искусственный": r"\bкак (?:ии\b|искусственный интеллект)",
    "модель": r"\b(?:как|я) языковая модель|\b(?:як|я) мовна модель",
    "ші штучний": r"\bяк (?:ші\b|штучний інтелект)",
    "językowy jazykový": r"\bjako (?:model językowy|jazykový)",
}
_CJK_OF_THE_MODEL = "作为(?:一个)?(?:人工智能|AI|语言模型)|AI(?:として|アシスタント|言語)"
#: How a model asks for the text, in the same form.
_REQUESTS = {
    "provide share send give specify paste": r"\b(?:please|could you) "
    r"(?:provide|share|send|give|specify|paste)\b[^.!?\n]{0,80}"
    r"\b(?:text|sentence|translat\w{1,6}|context)\b",
    "provide provided": r"\b(?:haven['’]t|have not|didn['’]t|did not) provided?\b",
    "text sentence": r"\bno (?:text|sentence) (?:was|to)\b",
    "bitte": r"\bbitte (?:geben|gib|senden|stellen)\b[^.!?\n]{0,60}\b(?:text|satz)\b",
}


@dataclass(frozen=True)
class Phrases:
    """Phrases that are found by a first look at the words of a text."""

    by_word: Mapping[str, tuple[str, ...]]
    without_words: re.Pattern[str] | None

    @classmethod
    def of(cls, patterns: Mapping[str, str], cjk: str = "") -> Phrases:
        """Sort patterns by their words; those of scripts without blanks have none."""
        by_word: dict[str, tuple[str, ...]] = {}
        for words, pattern in patterns.items():
            for word in words.split():
                by_word[word] = (*by_word.get(word, ()), pattern)
        return cls(by_word, re.compile(cjk) if cjk else None)

    def are_in(self, text: str, words: Set[str]) -> bool:
        """Return whether a text has one of the phrases."""
        known = self.by_word.keys() & words
        patterns = {pattern for word in known for pattern in self.by_word[word]}
        # Compiled when first needed, which most files never do; `re` keeps them.
        if any(re.search(pattern, text, re.IGNORECASE) for pattern in patterns):
            return True
        return self.without_words is not None and self.without_words.search(text) is not None


APOLOGY = Phrases.of(_APOLOGIES, _CJK_APOLOGY)
AI = Phrases.of(_OF_THE_MODEL, _CJK_OF_THE_MODEL)
NO_TEXT = Phrases.of(_REQUESTS)
