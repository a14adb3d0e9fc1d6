"""The recipe of evaluators in Romance languages: grammar, sentences, corpora and twins."""

import gettext
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch

from cc_hf.files import file_sha256
from cc_hf.text.morphology import open_reader
from tests.helpers.apertium import needs_apertium
from tests.helpers.usual import cases, fails, known, read_json
from tools.evaluator_recipe import romance, students, twins
from tools.evaluator_recipe.corpora import Corpus, corpora, read_corpus
from tools.evaluator_recipe.kept_out import KeptOut
from tools.evaluator_recipe.languages import german_of
from tools.evaluator_recipe.romance import Ending, Person, RomanceMaker, parse_noun
from tools.evaluator_recipe.romance_words import languages, read_language
from tools.evaluator_recipe.sentences import Pair, SentenceMaker, read_phrases
from tools.evaluator_recipe.train import Recipe, train


@cases(
    ("es", "médico/a", "médico médica médicos médicas"),
    ("es", "doctor/a", "doctor doctora doctores doctoras"),
    ("es", "juez=jueza", "juez jueza jueces juezas"),
    ("es", "peón=peona", "peón peona peones peonas"),
    ("es", "líder", "líder líder líderes líderes"),
    ("es", "chef", "chef chef chefs chefs"),
    ("pt", "médico/a", "médico médica médicos médicas"),
    ("pt", "cantor/a", "cantor cantora cantores cantoras"),
    ("pt", "cirurgião=cirurgiã", "cirurgião cirurgiã cirurgiões cirurgiãs"),
    ("pt", "garçom=garçonete", "garçom garçonete garçons garçonetes"),
    ("pt", "freguês=freguesa", "freguês freguesa fregueses freguesas"),
    ("pt", "policial", "policial policial policiais policiais"),
    ("pt", "juiz=juíza=juízes=juízas", "juiz juíza juízes juízas"),
    ("fr", "avocat/e", "avocat avocate avocats avocates"),
    ("fr", "acteur=actrice", "acteur actrice acteurs actrices"),
    ("fr", "commercial/e", "commercial commerciale commerciaux commerciales"),
    ("fr", "PDG=PDG=PDG=PDG", "PDG PDG PDG PDG"),
    ("it", "psicologo/a", "psicologo psicologa psicologi psicologhe"),
    ("it", "cuoco/a", "cuoco cuoca cuochi cuoche"),
    ("it", "operaio/a", "operaio operaia operai operaie"),
    ("it", "attore=attrice", "attore attrice attori attrici"),
    ("it", "artista", "artista artista artisti artiste"),
    ("it", "manager", "manager manager manager manager"),
    ("it", "sindaco=sindaca=sindaci=sindache", "sindaco sindaca sindaci sindache"),
)
def test_nouns_have_four_forms(lang: str, cell: str, forms: str) -> None:
    assert parse_noun(cell, read_language(lang)).forms == tuple(forms.split())


@cases(
    ("es", "obrero/a de la construcción", "obreras de la construcción"),
    ("pt", "operário/a da construção", "operárias da construção"),
    ("fr", "agent/e d'entretien", "agentes d'entretien"),
    ("it", "addetto/a alle pulizie", "addette alle pulizie"),
)
def test_complements_stay_in_the_singular(lang: str, cell: str, plural: str) -> None:
    assert parse_noun(cell, read_language(lang)).forms[3] == plural


@cases(
    ("es", "médico/a", "the", "", "m", "a", "al médico"),
    ("es", "médico/a", "the", "", "f", "a", "a la médica"),
    ("es", "médico/a", "the", "", "m", "de", "del médico"),
    ("es", "médico/a", "a", "new", "m", "de", "de un nuevo médico"),
    ("es", "médico/a", "our", "angry", "f", "", "nuestra médica enfadada"),
    ("fr", "directeur=directrice", "the", "", "m", "à", "au directeur"),
    ("fr", "directeur=directrice", "the", "", "f", "de", "de la directrice"),
    ("fr", "avocat/e", "the", "", "m", "de", "de l'avocat"),
    ("fr", "avocat/e", "a", "", "f", "de", "d'une avocate"),
    ("fr", "avocat/e", "my", "", "f", "", "mon avocate"),
    ("fr", "avocat/e", "this", "", "m", "à", "à cet avocat"),
    ("fr", "avocat/e", "the", "old", "m", "de", "du vieil avocat"),
    ("fr", "avocat/e", "a", "angry", "f", "", "une avocate furieuse"),
    ("pt", "médico/a", "the", "", "m", "a", "ao médico"),
    ("pt", "médico/a", "the", "", "f", "a", "à médica"),
    ("pt", "médico/a", "the", "", "f", "por", "pela médica"),
    ("pt", "médico/a", "this", "", "m", "em", "neste médico"),
    ("pt", "médico/a", "that", "", "m", "a", "àquele médico"),
    ("pt", "médico/a", "a", "new", "m", "de", "de um novo médico"),
    ("pt", "médico/a", "our", "angry", "f", "", "nossa médica zangada"),
    ("it", "medico/a", "the", "", "m", "di", "del medico"),
    ("it", "medico/a", "my", "", "f", "a", "alla mia medica"),
    ("it", "studente=studentessa", "the", "", "m", "da", "dallo studente"),
    ("it", "studente=studentessa", "a", "young", "f", "", "una giovane studentessa"),
    ("it", "studente=studentessa", "that", "", "m", "", "quello studente"),
    ("it", "psicologo/a", "a", "", "m", "", "uno psicologo"),
    ("it", "amico/a", "the", "", "f", "a", "all'amica"),
    ("it", "amico/a", "a", "", "f", "", "un'amica"),
    ("it", "amico/a", "that", "angry", "m", "", "quell'amico arrabbiato"),
    ("it", "amico/a", "the", "old", "m", "di", "del vecchio amico"),
)
def test_prepositions_and_articles_are_one_word_where_the_language_writes_one(
    lang: str,
    noun: str,
    determiner: str,
    adjective: str,
    gender: Any,
    preposition: str,
    phrase: str,
) -> None:
    parsed = parse_noun(noun, read_language(lang))
    person = Person("", "", parsed, determiner, adjective, None, gender)
    assert RomanceMaker(lang, 1).phrase(person, preposition) == phrase


@cases(
    ("I studenti", "Gli studenti"),
    ("i amici", "gli amici"),
    ("la ha vista", "l'ha vista"),
    ("lo aiutò", "l'aiutò"),
    ("dei suoi problemi", "dei suoi problemi"),
    ("e è felice", "ed è felice"),
)
def test_italian_words_fit_the_next_sound(text: str, written: str) -> None:
    assert read_language("it").write(text) == written


@cases(
    ("parce que il l'a dit", "parce qu'il l'a dit"),
    ("si elle le aide", "si elle l'aide"),
    ("si il la haïssait", "s'il la haïssait"),
    ("de le rappeler", "de le rappeler"),
    ("En tant que avocat", "En tant qu'avocat"),
)
def test_french_words_are_elided_before_vowels(text: str, written: str) -> None:
    assert read_language("fr").write("Alors " + text) == "Alors " + written


def test_words_that_agree_have_endings_of_their_own() -> None:
    french = read_language("fr")
    endings = [Ending.of("m", french), Ending.of("f", french)]
    assert [f"{e:x/se}" for e in endings] == ["x", "se"]
    assert [f"{e}" for e in endings] == ["", "e"]


def test_sentences_depend_only_on_the_seed() -> None:
    sentences, same, other = (list(islice(RomanceMaker("es", seed), 200)) for seed in (1, 1, 2))
    assert sentences == same
    assert sentences != other


@pytest.mark.parametrize("lang", languages())
def test_every_phrase_can_be_filled_and_leaves_no_field_and_no_second_space(lang: str) -> None:
    for pair in islice(RomanceMaker(lang, 5), 20_000):
        for text in (pair.english, pair.target, pair.contrast):
            assert not {"{", "}"} & {*text}, pair
            assert "  " not in text.replace(" .", "  "), pair


@pytest.mark.parametrize("lang", languages())
def test_tables_have_the_english_side_of_every_language(lang: str) -> None:
    english, spanish = ([o.english for o in romance.read_occupations(c)] for c in (lang, "es"))
    assert english == spanish
    phrases, of_spanish = (
        {
            kind: [row[0] for row in rows]
            for kind, rows in read_phrases(f"{code}/phrases.tsv", development=True).items()
        }
        for code in (lang, "es")
    )
    assert phrases == of_spanish


@pytest.mark.parametrize("lang", languages())
def test_development_sentences_show_one_cue_and_use_phrases_of_their_own(lang: str) -> None:
    for kind, rows in read_phrases(f"{lang}/phrases.tsv", development=True).items():
        assert not {*rows} & {*read_phrases(f"{lang}/phrases.tsv", development=False)[kind]}
    for pair in islice(RomanceMaker(lang, 3, development=True), 500):
        assert pair.english.count("[") == pair.contrast.count("[") == 1
        assert pair.english != pair.contrast


@cases(
    ("es", "Tom asked Mary.", "Tom le preguntó a Mary.", None, ""),
    ("es", "I saw Tom.", "Vi a Tom.", None, "Vi a"),
    ("es", "He left.", "Él se fue.", "f", " se fue."),
    ("es", "He left.", "Se fue.", None, ""),
    ("es", "Is Tom here?", "¿Tom está aquí?", "m", "¿E"),
    ("es", "Tom likes cats.", "A Tom le gustan los gatos.", "m", "Al "),
    ("pt", "I saw Tom.", "Eu vi o Tom.", "m", "Eu vi o "),
    ("pt", "This is Tom's.", "Isto é do Tom.", "f", "Isto é d"),
    ("pt", "Mary left.", "A Mary saiu.", "m", "O "),
    # "A" may be a preposition or an article.
    ("pt", "I know Mary.", "Conheço a Mary.", None, ""),
    ("fr", "He left.", "Il est parti.", "m", " est parti."),
    ("fr", "I know Tom left.", "Je sais que Tom est parti.", "m", "Je sais que l"),
    ("fr", "Tom left.", "Elle est partie.", None, ""),
    ("it", "I ran away from Tom.", "Sono scappato da Tom.", "m", "Sono scappato da"),
    ("it", "She left.", "Lei è partita.", "f", " è partita."),
    ("it", "Tom likes cats.", "A Tom piacciono i gatti.", "m", "Al"),
    ("it", "Tom left.", "È partito.", None, ""),
)
def test_names_are_replaced_where_both_sides_have_one(
    lang: str, english: str, target: str, shown: Any, part: str
) -> None:
    maker = RomanceMaker(lang, 11)
    pair = romance.with_person(Pair(english, target), maker, lang, cued=True, shown=shown)
    if not part:
        assert pair is None
    else:
        assert part in known(pair).target or part in known(pair).target.replace("al ", "a l ")
        assert known(pair).english != known(pair).contrast


def corpus(folder: Path, kind: str, address: str) -> list[Pair]:
    row = Corpus("es", "made", kind, address, "CC0 1.0")
    return read_corpus(row, upstream=folder / "upstream", packages=folder / "packages")


def test_messages_of_translated_programs_are_read_without_their_markup(tmp_path: Path) -> None:
    folder = tmp_path / "packages/made"
    folder.mkdir(parents=True)
    messages = {
        "Hello there. How are you?": "Hola a todos. ¿Cómo estás?",
        "You see %s here.": "Ves %s aquí.",
        "the mason\x04You met a mason": "Conociste a un albañil",
        "Yes": "Sí",
        "Two short words": "una traducción que es mucho más larga que el texto del original",
    }
    (folder / "es.mo").write_bytes(_compiled(messages))
    assert corpus(tmp_path, "mo", "made:*.mo") == [
        Pair("Hello there.", "Hola a todos."),
        Pair("How are you?", "¿Cómo estás?"),
        Pair("You met a mason", "Conociste a un albañil"),
    ]


def _compiled(messages: dict[str, str]) -> bytes:
    from io import BytesIO

    from babel.messages.catalog import Catalog
    from babel.messages.mofile import write_mo

    catalog = Catalog(locale="es")
    for key, text in messages.items():
        context, _, message = key.rpartition("\x04")
        catalog.add(message, text, context=context or None)
    file = BytesIO()
    write_mo(file, catalog)
    assert gettext.GNUTranslations(BytesIO(file.getvalue()))
    return file.getvalue()


def test_sentences_that_a_student_translated_are_a_corpus(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "made.zip", "w") as archive:
        archive.writestr("__MACOSX/made/._fra.txt", "")
        archive.writestr("made/_about.txt", "")
        archive.writestr("made/fra.txt", "Go.\tVa !\nThe man sleeps.\tIl dort.\n" * 2)
    address = f"made.zip:{file_sha256(tmp_path / 'made.zip')}"
    row = Corpus("es", "made", "student", address, "CC0 1.0")
    folder = tmp_path / "packages"
    students.translate_corpus(row, upstream=tmp_path, folder=folder, system="cc-tiny-en-de")
    assert corpus(tmp_path, "student", address) == [Pair("The man sleeps.", "Der Mann schläft.")]


def test_paragraphs_of_help_are_paired_by_their_ids(tmp_path: Path) -> None:
    pages = {
        "en-us/usr/help/en-US": '<p id="a">Click <b>the</b> button.</p><p id="b">Not here</p>',
        "it/usr/help/it": '<p id="a" class="y">Fate clic sul &#171;pulsante&#187;.</p>',
    }
    for name, text in pages.items():
        path = tmp_path / f"packages/libreoffice-help-{name}/text/page.html"
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
    names = "libreoffice-help-it,libreoffice-help-en-us"
    assert corpus(tmp_path, "help", f"{names}:usr/help/it/text/*.html") == [
        Pair("Click the button.", "Fate clic sul «pulsante».")
    ]


def test_a_corpus_without_files_is_refused(tmp_path: Path) -> None:
    fails(
        FileNotFoundError,
        r"made: expected files at nowhere/\*.eng",
        corpus,
        tmp_path,
        "moses",
        "nowhere/*.eng",
    )


def test_the_corpora_at_hand_have_pairs(shared: Path, tmp_path: Path) -> None:
    sizes = {
        (row.lang, row.name): len(read_corpus(row, upstream=shared / "upstream", packages=tmp_path))
        for lang in ("es", "fr", "it", "pt")
        for row in corpora(lang)
        if row.kind in {"moses", "tatoeba"}
    }
    assert sizes == {
        ("es", "Tatoeba"): 16_739,
        ("fr", "Tatoeba"): 167_124,
        ("fr", "test sets of Tatoeba"): 12_785,
        ("it", "Tatoeba"): 17_299,
        ("pt", "Tatoeba"): 13_388,
    }


#: Each noun stands in more than one pair, or nothing links it to its English word.
_LINKS = {
    "es": (("doctor", "médico"), ("friend", "amigo"), ("queen", "reina")),
    "fr": (("lawyer", "avocat"), ("boss", "patron"), ("friend", "ami"), ("actor", "acteur")),
    "it": (("student", "studente"), ("friend", "amico"), ("actor", "attore"), ("cat", "gatto")),
    "pt": (("doctor", "médico"), ("friend", "amigo"), ("queen", "rainha")),
}
_NUMBER = {"es": "número", "fr": "numéro", "it": "numero", "pt": "número"}


def copies(lang: str, *rows: tuple[str, str]) -> Iterator[tuple[str, str]]:
    reader = open_reader("apertium", lang)
    more = [
        Pair(f"{word} number {i}", f"{noun} {_NUMBER[lang]} {i}")
        for word, noun in _LINKS[lang]
        for i in range(9)
    ]
    made = twins.cued_copies([*(Pair(*row) for row in rows), *more], reader, lang)
    return ((p.english, p.target) for p in made if " number " not in p.english)


@needs_apertium
@cases(
    (
        "es",
        ("The doctor is here.", "El médico está aquí."),
        [
            ("The [male] doctor is here.", "El médico está aquí."),
            ("The [female] doctor is here.", "La médica está aquí."),
        ],
    ),
    (
        "es",
        ("I saw the old doctor.", "Vi al viejo médico."),
        [
            ("I saw the old [male] doctor.", "Vi al viejo médico."),
            ("I saw the old [female] doctor.", "Vi a la vieja médica."),
        ],
    ),
    (
        "es",
        ("My friends are here.", "Mis amigas están aquí."),
        [
            ("My [female] friends are here.", "Mis amigas están aquí."),
            ("My [male] friends are here.", "Mis amigos están aquí."),
        ],
    ),
    (
        "es",
        ("I spoke of the doctor.", "Hablé de la médica."),
        [
            ("I spoke of the [female] doctor.", "Hablé de la médica."),
            ("I spoke of the [male] doctor.", "Hablé del médico."),
        ],
    ),
    (
        "es",
        ("The doctor likes tea.", "A la médica le gusta el té."),
        [
            ("The [female] doctor likes tea.", "A la médica le gusta el té."),
            ("The [male] doctor likes tea.", "Al médico le gusta el té."),
        ],
    ),
    (
        "fr",
        ("I spoke to the new lawyer.", "J'ai parlé à la nouvelle avocate."),
        [
            ("I spoke to the new [female] lawyer.", "J'ai parlé à la nouvelle avocate."),
            ("I spoke to the new [male] lawyer.", "J'ai parlé au nouvel avocat."),
        ],
    ),
    (
        "fr",
        ("This lawyer has eaten.", "Cet avocat a mangé."),
        [
            ("This [male] lawyer has eaten.", "Cet avocat a mangé."),
            ("This [female] lawyer has eaten.", "Cette avocate a mangé."),
        ],
    ),
    (
        "fr",
        ("My friend is here.", "Mon ami est ici."),
        [
            ("My [male] friend is here.", "Mon ami est ici."),
            ("My [female] friend is here.", "Mon amie est ici."),
        ],
    ),
    (
        "it",
        ("I saw the student.", "Ho visto lo studente."),
        [
            ("I saw the [male] student.", "Ho visto lo studente."),
            ("I saw the [female] student.", "Ho visto la studentessa."),
        ],
    ),
    (
        "it",
        ("She is a friend of the actor's.", "È un'amica dell’attore."),
        [
            ("She is a [female] friend of the actor's.", "È un'amica dell’attore."),
            ("She is a [male] friend of the actor's.", "È un amico dell’attore."),
            ("She is a friend of the [male] actor's.", "È un'amica dell’attore."),
            ("She is a friend of the [female] actor's.", "È un'amica dell’attrice."),
        ],
    ),
    (
        "it",
        ("All my other friends left.", "Tutti gli altri amici miei partirono."),
        [
            ("All my other [male] friends left.", "Tutti gli altri amici miei partirono."),
            ("All my other [female] friends left.", "Tutte le altre amiche mie partirono."),
        ],
    ),
    # "Cansado" is the doctor's; where the doctor might not be the subject there is no twin.
    (
        "es",
        ("The doctor is tired.", "El médico está cansado."),
        [
            ("The [male] doctor is tired.", "El médico está cansado."),
            ("The [female] doctor is tired.", "La médica está cansada."),
        ],
    ),
    (
        "es",
        ("The doctor's arm is tired.", "El brazo del médico está cansado."),
        [("The [male] doctor's arm is tired.", "El brazo del médico está cansado.")],
    ),
    (
        "es",
        ("All friends are here.", "Todos los amigos están aquí."),
        [
            ("All [male] friends are here.", "Todos los amigos están aquí."),
            ("All [female] friends are here.", "Todas las amigas están aquí."),
        ],
    ),
    (
        "pt",
        ("All my friends are here.", "Todos os meus amigos estão aqui."),
        [
            ("All my [male] friends are here.", "Todos os meus amigos estão aqui."),
            ("All my [female] friends are here.", "Todas as minhas amigas estão aqui."),
        ],
    ),
    (
        "pt",
        ("He is a very good doctor.", "Ele é um médico muito bom."),
        [
            ("He is a very good [male] doctor.", "Ele é um médico muito bom."),
            ("He is a very good [female] doctor.", "Ele é uma médica muito boa."),
        ],
    ),
    # The article after a noun is that of another one, or a pronoun.
    (
        "pt",
        ("The doctor saw her.", "O médico a viu."),
        [
            ("The [male] doctor saw her.", "O médico a viu."),
            ("The [female] doctor saw her.", "A médica a viu."),
        ],
    ),
    (
        "pt",
        ("The doctor of the village left.", "O médico do povo saiu."),
        [
            ("The [male] doctor of the village left.", "O médico do povo saiu."),
            ("The [female] doctor of the village left.", "A médica do povo saiu."),
        ],
    ),
    # The dictionary lacks "entediado", which is an adjective by its ending.
    (
        "pt",
        ("I know a bored doctor.", "Conheço um médico entediado."),
        [("I know a bored [male] doctor.", "Conheço um médico entediado.")],
    ),
    (
        "pt",
        ("The doctor is bored.", "O médico está entediado."),
        [("The [male] doctor is bored.", "O médico está entediado.")],
    ),
    (
        "fr",
        ("The boss has not come.", "Le patron n'est pas venu."),
        [("The [male] boss has not come.", "Le patron n'est pas venu.")],
    ),
    (
        "it",
        ("The students have never come back.", "Gli studenti non sono mai tornati."),
        [
            (
                "The [male] students have never come back.",
                "Gli studenti non sono mai tornati.",
            ),
            (
                "The [female] students have never come back.",
                "Le studentesse non sono mai tornate.",
            ),
        ],
    ),
    # Nor where a pronoun or another noun stands for the same person.
    (
        "it",
        ("This is the cat.", "Questo è il gatto."),
        [("This is the [male] cat.", "Questo è il gatto.")],
    ),
    (
        "fr",
        ("Is the boss here?", "Le patron est-il ici ?"),
        [("Is the [male] boss here?", "Le patron est-il ici ?")],
    ),
    (
        "fr",
        ("One of my friends came.", "Un de mes amis arriva."),
        [("One of my [male] friends came.", "Un de mes amis arriva.")],
    ),
    # Whom the word means is not certain, or shown by the English word.
    ("es", ("A doctor met a doctor.", "Un médico conoció a otro médico."), []),
    ("es", ("The queen is here.", "La reina está aquí."), []),
)
def test_copies_have_the_cue_that_the_noun_shows_and_twins_where_all_agrees(
    lang: str, row: tuple[str, str], made: list[tuple[str, str]]
) -> None:
    assert [*copies(lang, row)] == made


@needs_apertium
@cases(
    (
        "fr",
        ("I was tired.", "J'étais fatiguée."),
        [
            ("I, a woman, was tired.", "J'étais fatiguée."),
            ("I, a man, was tired.", "J'étais fatigué."),
        ],
    ),
    (
        "fr",
        ("They are alone now.", "Ils sont seuls maintenant."),
        [
            ("They, men, are alone now.", "Ils sont seuls maintenant."),
            ("They, women, are alone now.", "Elles sont seules maintenant."),
        ],
    ),
    (
        "es",
        ("We are not tired.", "No estamos cansadas."),
        [
            ("We, women, are not tired.", "No estamos cansadas."),
            ("We, men, are not tired.", "No estamos cansados."),
        ],
    ),
    (
        "it",
        ("Are you tired?", "Sei stanca?"),
        [("Are you, a woman, tired?", "Sei stanca?"), ("Are you, a man, tired?", "Sei stanco?")],
    ),
    (
        "pt",
        ("I was invited, too.", "Eu também fui convidado."),
        [
            ("I, a man, was invited, too.", "Eu também fui convidado."),
            ("I, a woman, was invited, too.", "Eu também fui convidada."),
        ],
    ),
    # Another word shows the gender, too: no twin.
    (
        "fr",
        ("I am happy to have come.", "Je suis contente d'être venue."),
        [("I, a woman, am happy to have come.", "Je suis contente d'être venue.")],
    ),
    # It is said of something else, or English shows the gender.
    ("fr", ("You are right.", "C'est exact."), []),
    ("fr", ("I think that the house is old.", "Je pense que la maison est vieille."), []),
    ("fr", ("I was a sad girl.", "J'étais triste et fatiguée."), []),
    ("fr", ("You are tired.", "Vous êtes fatigués."), []),
)
def test_a_pronoun_has_the_cue_that_the_word_said_of_it_shows(
    lang: str, row: tuple[str, str], made: list[tuple[str, str]]
) -> None:
    assert [*copies(lang, row)] == made


def test_training_that_was_stopped_goes_on_and_ends_with_the_same_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tools.evaluator_recipe import train as module

    sizes: dict[str, Any] = {"n_pieces": 300, "d_model": 16, "ffn_dim": 16, "heads": 2}
    recipe = Recipe(
        **sizes,
        encoder_layers=1,
        decoder_layers=1,
        passes=2,
        sentences_per_pass=200,
        batch_tokens=2_000,
        warmup_steps=5,
        average_every=1,
        dropout=0.0,
    )
    pairs = [*dict.fromkeys(islice(SentenceMaker(9), 400))]
    language = replace(german_of([]), code="es", pairs=pairs)
    options: Any = {"kept_out": KeptOut(), "n_development": 50, "threads": 1}
    options["checkpoint_every"] = 4
    whole = train(language, tmp_path / "whole", recipe, **options)

    def killed(state: Any, *rest: Any, **options: Any) -> float:
        if state.step == 6:
            raise KeyboardInterrupt
        return float(step(state, *rest, **options))

    step = module._one_step
    with monkeypatch.context() as patch:
        patch.setattr(module, "_one_step", killed)
        with pytest.raises(KeyboardInterrupt):
            train(language, tmp_path / "parts", recipe, **options)
    assert train(language, tmp_path / "parts", recipe, **options) == whole
    states = [
        torch.load(tmp_path / name / "checkpoint.pt", weights_only=True)["step"]
        for name in ("whole", "parts")
    ]
    assert states[0] == states[1] > 6
    assert read_json(tmp_path / "parts/tokenizer_config.json")["target_lang"] == "es"
    weights = [(tmp_path / n / "model.safetensors").read_bytes() for n in ("whole", "parts")]
    assert weights[0] == weights[1]
