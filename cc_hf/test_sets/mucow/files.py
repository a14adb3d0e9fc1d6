"""The files of MuCoW: the translation suite and the scoring suite from its own repository, and
sentences with published cues from the paper's repository.
"""

from __future__ import annotations

from cc_hf.data.declaration import SourceFile

__all__ = [
    "COUNTS",
    "CUES",
    "KEY",
    "REF",
    "SCORING",
    "SCORING_FILES",
    "SUITE",
    "SUITE_FILES",
    "TEXT",
    "WITH_CUES_FILES",
]

_WITH_CUES = ("ZurichNLP/contrastive-conditioning", "b2f1b3195cb2bb36555ab2789c58055e747240bc")
_MUCOW = ("Helsinki-NLP/MuCoW", "8e7570b2bec5b6fcc3727e44da4705672fc026f8")

#: Paths of the files with published cues, by pair: sentences, keys, references, cues, and counts of
#: the senses in the training data of WMT19.
TEXT, KEY, REF = (f"tasks/data/mucow/{{}}.{end}" for end in ("text.txt", "key.tsv", "ref.txt"))
CUES = "tasks/data/mucow/disambiguation_cues/{}.insertions.roberta-large.jsonl"
COUNTS = "data_analysis/results/senses_{}_count_results.json"

#: Paths of the translation suite, by pair and ending (text, key, ref, domain), and of the scoring
#: suite, by pair.
SUITE = "WMT2019/translation test suite/txt/{}.{}.txt"
SCORING = "WMT2019/scoring test suite/json/{}.mucow.scoring.json"


def _with_cues(name: str, sha256: str, size: int) -> SourceFile:
    return SourceFile(*_WITH_CUES, name, sha256, size)


def _mucow(name: str, sha256: str = "", size: int = 0) -> SourceFile:
    return SourceFile(*_MUCOW, name, sha256, size)


WITH_CUES_FILES: dict[str, tuple[SourceFile, ...]] = {
    "en-de": (
        _with_cues(
            TEXT.format("en-de"),
            "e45b6862d4ce67f27bf7f4bfb2f601839a9cbe7640e84caf86ba8881eae47402",
            353336,
        ),
        _with_cues(
            KEY.format("en-de"),
            "f05b6994d614a4031ddf113214c71d90a181f4f384a8517fbf8303038efb2d77",
            193675,
        ),
        _with_cues(
            REF.format("en-de"),
            "5b7d7a308fe1b7732ca7a3486163f8ebf4fa80b7e2f510df4f90c1285cb5dc6b",
            397624,
        ),
        _with_cues(
            CUES.format("en-de"),
            "26516e032fa21b4044acd3628e1a22e0155cdfe80d1211bcbcc10ac1c09d4cdf",
            498521,
        ),
        _with_cues(
            COUNTS.format("en-de"),
            "73c63840fe62e87da0733343c8e5bf1cd14abbe76d581d305bb0da4e493f0638",
            13395,
        ),
    ),
    "en-ru": (
        _with_cues(
            TEXT.format("en-ru"),
            "1d9f9c022f7f751c2895bbcc1258bf6256fc51401709ba26d04e4d2f8421f7ed",
            166906,
        ),
        _with_cues(
            KEY.format("en-ru"),
            "57ca4a15987d51b931d1dafa4844932d858f8e857a28b902c5adeb7bab0f04e9",
            120901,
        ),
        _with_cues(
            REF.format("en-ru"),
            "0343cd07f403504f1da07c3c33d4c0f17fc1eabc700794ed4a2a54beb50182f0",
            293437,
        ),
        _with_cues(
            CUES.format("en-ru"),
            "7f3e088cad766c17601d7e99ca9c403ecb75faaee951fa25c6dd6d7433c1535f",
            267628,
        ),
        _with_cues(
            COUNTS.format("en-ru"),
            "b45d40be07312c8b1dfb5c58b5f35a1421228e88120b5b2f257e9401270cc785",
            15597,
        ),
    ),
}

SUITE_FILES: dict[str, tuple[SourceFile, ...]] = {
    "de-en": (
        _mucow(
            SUITE.format("de-en", "text"),
            "0abd212179243f07e7cc844a09a83a9773f81866f6ca1ca4cfb62f215545d92b",
            522584,
        ),
        _mucow(
            SUITE.format("de-en", "key"),
            "3e38685af3ab02b09300e4d8bbc97b6fa225e41ff29885c80afb3570a75758e8",
            249110,
        ),
        _mucow(
            SUITE.format("de-en", "ref"),
            "5d23307e7aac3790f78153f1c310c93c44aeeac7b0ca9e5c63dd2c8f68dbbaf2",
            465978,
        ),
        _mucow(
            SUITE.format("de-en", "domain"),
            "69b3a6c1762bfc377a0e1f40aed490744221c179f00569755c11a17b0a1b0786",
            14218,
        ),
    ),
    "en-cs": (
        _mucow(
            SUITE.format("en-cs", "text"),
            "31b4eb8fd4d8f642decab1500440447d3c228b35c02d037a49936eb6a4fc389c",
            171214,
        ),
        _mucow(
            SUITE.format("en-cs", "key"),
            "c6c4304cd3f124464c32dd85ca6dd5fdfa05f35095a2e339cfb65f1653745362",
            90147,
        ),
        _mucow(
            SUITE.format("en-cs", "ref"),
            "be056b51c4720ea38211f263c9598995cd87bfc1d1bf2a3f089e81e9d240f2f0",
            174764,
        ),
        _mucow(
            SUITE.format("en-cs", "domain"),
            "9d7c85ddfb13505d2034637054a8fb7a144fff0d6ec3d5e7c3b761147e2f693b",
            5350,
        ),
    ),
    "en-de": (
        _mucow(
            SUITE.format("en-de", "text"),
            "e45b6862d4ce67f27bf7f4bfb2f601839a9cbe7640e84caf86ba8881eae47402",
            353336,
        ),
        _mucow(
            SUITE.format("en-de", "key"),
            "f05b6994d614a4031ddf113214c71d90a181f4f384a8517fbf8303038efb2d77",
            193675,
        ),
        _mucow(
            SUITE.format("en-de", "ref"),
            "5b7d7a308fe1b7732ca7a3486163f8ebf4fa80b7e2f510df4f90c1285cb5dc6b",
            397624,
        ),
        _mucow(
            SUITE.format("en-de", "domain"),
            "9b53c2d320baffc0b8bb71a231349966168a2271b07a145568481328a6d0e086",
            11284,
        ),
    ),
    "en-fi": (
        _mucow(
            SUITE.format("en-fi", "text"),
            "31cbb3e681e180b04e99da2dba6eb5edade8c16d7a72d6f817d0f46ba6904894",
            87659,
        ),
        _mucow(
            SUITE.format("en-fi", "key"),
            "2fa91a942ca56e809a24ef4f5a32737613ea705d8e6bd165f0b290ec30233f33",
            43833,
        ),
        _mucow(
            SUITE.format("en-fi", "ref"),
            "9cd68969e1a20ae18091c74117819df06bb599ced8fcdf18c2f4cb18c9487eb4",
            84206,
        ),
        _mucow(
            SUITE.format("en-fi", "domain"),
            "2b3e33057bca52d4284ec1c41afab6b6b27c37046d36ae24adfda388ebe7adc0",
            2773,
        ),
    ),
    "en-lt": (
        _mucow(
            SUITE.format("en-lt", "text"),
            "d7d18771b1b64e90d42badf82195df3bd46e82b629c4afddd7922ac5310970fe",
            8108,
        ),
        _mucow(
            SUITE.format("en-lt", "key"),
            "dd764f60f418265f41c7ffbb463b55dc8cf143c40dbd6c61e726d872b1601ac9",
            3304,
        ),
        _mucow(
            SUITE.format("en-lt", "ref"),
            "911ccab348cecbd3af2cd1a7713cefed217d749ffcf09568a08d1f8a3e123f16",
            8012,
        ),
        _mucow(
            SUITE.format("en-lt", "domain"),
            "d1bcec0ceb9eb97b1fa902b0f7c72851e8b78d4efb60c51597c9c2ad297f2169",
            215,
        ),
    ),
    "en-ru": (
        _mucow(
            SUITE.format("en-ru", "text"),
            "1d9f9c022f7f751c2895bbcc1258bf6256fc51401709ba26d04e4d2f8421f7ed",
            166906,
        ),
        _mucow(
            SUITE.format("en-ru", "key"),
            "57ca4a15987d51b931d1dafa4844932d858f8e857a28b902c5adeb7bab0f04e9",
            120901,
        ),
        _mucow(
            SUITE.format("en-ru", "ref"),
            "6b8e96af972aedcc6e321e898ad636df22c6dfe783de9bb5f0774be759935525",
            293438,
        ),
        _mucow(
            SUITE.format("en-ru", "domain"),
            "7a816d54cf411587e967d2fbb7c99a458485d67be89643b52b9cd3b33ac6e453",
            7103,
        ),
    ),
    "fi-en": (
        _mucow(
            SUITE.format("fi-en", "text"),
            "0141af94d815c06ee3ae338010648b6753a87de800c7efe619c7f670f109ddb2",
            234707,
        ),
        _mucow(
            SUITE.format("fi-en", "key"),
            "7f9cdd939db8475e7a58465568a2fa1443bccc080eae375e5aea8d573604a714",
            115390,
        ),
        _mucow(
            SUITE.format("fi-en", "ref"),
            "e47f54e4f4d4bc5f7659603fd31a65b26b914bfc91bd4e32150ad7dcab0c61a1",
            237552,
        ),
        _mucow(
            SUITE.format("fi-en", "domain"),
            "0e98a18920bb99eaf52ba5b3340d3316c6576afd065606d8b632ed7dfaf7c6cd",
            6781,
        ),
    ),
    "lt-en": (
        _mucow(
            SUITE.format("lt-en", "text"),
            "a0042c632a426e6db0f810aba84c65e58bb27d057822c2aba49a5c8ad537b7f0",
            9739,
        ),
        _mucow(
            SUITE.format("lt-en", "key"),
            "ee88b2d53f3eb3c7ace13452214e66f19314b0b403dfc4f6302d9f66633ecffa",
            4254,
        ),
        _mucow(
            SUITE.format("lt-en", "ref"),
            "8fee94ed4728f18502cc7aec2b4bfd335dcfdf7a03ceb2e9cf1de8388e891ad3",
            9773,
        ),
        _mucow(
            SUITE.format("lt-en", "domain"),
            "64263cd7c9409036bf5915028bb69f5b0f50635c96107e322aff949f1f7c7e4c",
            294,
        ),
    ),
    "ru-en": (
        _mucow(
            SUITE.format("ru-en", "text"),
            "5ba30b277e2b5f6fc04a63e400c85fe557363f4a57f582df7711604c472878c0",
            206836,
        ),
        _mucow(
            SUITE.format("ru-en", "key"),
            "76c6c21ec29a76bb273b196e8bb879baaca5edda1bf4c9080a19bdac35b986cd",
            70569,
        ),
        _mucow(
            SUITE.format("ru-en", "ref"),
            "30359d29250cad3520b99a2b0d411e13f309ab71d8be24c70eec4417b30ceaa8",
            118236,
        ),
        _mucow(
            SUITE.format("ru-en", "domain"),
            "69a1e2170fd6a5a4b63b3e44ebc2001d82eeb38e673041fee75b8778e6945afb",
            4441,
        ),
    ),
}

#: Size and hash of eight of the eleven are not known: these are pinned by the commit only.
SCORING_FILES: dict[str, SourceFile] = {
    "cs-en": _mucow(SCORING.format("cs-en")),
    "de-en": _mucow(SCORING.format("de-en")),
    "es-en": _mucow(SCORING.format("es-en")),
    "et-en": _mucow(
        SCORING.format("et-en"),
        "8e314c40dc65f358a019a606dbb49d8632a9367aa60819e25d0b8bd523fbafce",
        747437,
    ),
    "fi-en": _mucow(SCORING.format("fi-en")),
    "fr-en": _mucow(SCORING.format("fr-en")),
    "lt-en": _mucow(
        SCORING.format("lt-en"),
        "792e189773738079fc79682bc1cd86cee0c8b4b2c11ba8397def9ae2318c36bc",
        279538,
    ),
    "lv-en": _mucow(
        SCORING.format("lv-en"),
        "2cf9255edf57465d0a7bf1510c0c48e823beb87210bee0670a80b7d1bf1da98a",
        98526,
    ),
    "ro-en": _mucow(SCORING.format("ro-en")),
    "ru-en": _mucow(SCORING.format("ru-en")),
    "tr-en": _mucow(SCORING.format("tr-en")),
}
