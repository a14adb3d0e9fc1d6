"""Which texts name someone in both genders at once."""

from cc_hf.text.both_genders import names_both_genders
from tests.helpers.usual import cases


@cases(
    ("de", "Die Ärztin/Der Arzt beendete ihre/seine Schicht."),
    ("de", "Der/die Krankenpfleger*in sagte, dass er/sie müde sei."),
    ("de", "Der Lehrer oder die Lehrerin vergaß die Schlüssel."),
    ("de", "Der Bäcker (die Bäckerin) verkaufte den Laden."),
    ("de", "Die Ärzt:in kam."),
    ("de", "Die LehrerInnen kamen."),
    ("de", "Ein_e Ärzt_in kam."),
    ("de", "Die Beamtin bzw. der Beamte kam."),
    ("es", "El/la médico/a terminó."),
    ("es", "La médica o el médico terminó."),
    ("es", "Estoy cansad@."),
    ("fr", "L'avocat(e) a perdu."),
    ("fr", "L'étudiant·e est parti."),
    ("fr", "Le directeur ou la directrice est là."),
    ("it", "Il/La dottore/ssa è qui."),
    ("pt", "O(a) médico(a) terminou."),
    ("ru", "Врач сказал(а)."),
    ("ru", "Он/она ушёл."),
    ("pl", "Zrobił(a) to."),
    ("zh", "他/她走了。"),
    ("en", "He or she left."),
    ("en", "The doctor lost his/her keys."),
    ("en", "Either the waiter or the waitress left."),
    ("de", "Der Arzt kam. / Die Ärztin kam."),
    ("de", "Der Arzt kam.\nDie Ärztin kam."),
    ("de", "Krankenpfleger/Krankenschwester"),
    ("fr", "L'étudiant.e.s"),
    ("fr", "L'infirmier(ère) est là."),
    ("ru", "Врач закончил(-а) смену."),
)
def test_both_genders_are_seen(lang: str, text: str) -> None:
    assert names_both_genders(text, lang)


@cases(
    ("de", "Der Arzt und die Ärztin kamen."),
    ("de", "Der Arzt kam um 10:30 Uhr."),
    ("de", "Da sagte er: Sie kommt."),
    ("de", "Die Reinigungskraft verlor ihre Stelle."),
    ("de", "Sie schrieb es auf LinkedIn."),
    ("de", "Tee oder Kaffee (mit Milch)?"),
    ("de", "Er sagte:er kommt."),
    ("de", "Er ging zum DriveIn."),
    ("es", "Pan y/o agua."),
    ("es", "Este o esta noche."),
    ("fr", "Le prix (hors taxes) est élevé."),
    ("en", "She told her doctor."),
    ("en", "This and/or that."),
    ("fi", "Lääkäri/hoitaja tuli."),
    ("", "er/sie"),
)
def test_other_texts_are_not(lang: str, text: str) -> None:
    assert not names_both_genders(text, lang)


@cases("(", "a/", "a*", "oder ", "ab ", "In")
def test_long_texts_end(unit: str) -> None:
    assert not names_both_genders(unit * (100_000 // len(unit)), "de")
