"""The commands of cc-hf, in the order of work, and the names that they had before."""

from __future__ import annotations

from collections.abc import Sequence

from cc_hf.cli.lazy import Verb

__all__ = ["OLD_NAMES", "VERBS", "new_name"]

#: Verb -> what it does; the help of the program shows them in this order.
VERBS: dict[str, Verb] = {
    "list": Verb(
        "cc_hf.cli.list_names:list_names",
        "List datasets and their configurations, metrics and evaluators.",
        "cc-hf list datasets winomt",
    ),
    "sources": Verb(
        "cc_hf.cli.sources:sources",
        "Print the sources of a dataset, one per line, to be translated.",
        "cc-hf sources simplegen en-de -o sources.txt",
    ),
    "translate": Verb(
        "cc_hf.cli.translate:translate",
        "Translate the sources of a dataset, or a text file, with a system.",
        "cc-hf translate simplegen en-de --system cc-tiny-en-de -o tiny.txt",
    ),
    "rerank": Verb(
        "cc_hf.cli.rerank:rerank",
        "Choose from n-best lists the translations with the right reading.",
        "cc-hf rerank simplegen en-de --nbest lists.txt --best best.txt",
    ),
    "alternatives": Verb(
        "cc_hf.cli.alternatives:alternatives",
        "Translate for a man and for a woman where the source says neither.",
        "cc-hf alternatives open.txt -l en-de --system cc-tiny-en-de",
    ),
    "evaluate": Verb(
        "cc_hf.cli.evaluate:evaluate",
        "Judge a system by its translations, or an evaluator itself.",
        "cc-hf evaluate simplegen --translations tiny.txt -o tiny.json",
    ),
    "explain": Verb(
        "cc_hf.cli.explain:explain",
        "Explain a judgement by what each word of a translation adds to it.",
        "cc-hf explain tiny.json --id 0",
    ),
    "compare": Verb(
        "cc_hf.cli.compare:compare",
        "Compare systems, or metrics that judged the same translations.",
        "cc-hf compare tiny.json other.json",
        {
            "--by seed": Verb(
                "cc_hf.cli.compare_seeds:seeds",
                "Make a table of systems and seeds: figures, BLEU, decoding time.",
            ),
            "--by sample": Verb(
                "cc_hf.cli.compare_samples:samples",
                "List samples on which the evaluator is not sure.",
            ),
            "--by evaluator": Verb(
                "cc_hf.cli.compare_evaluators:evaluators", "Correlate how evaluators rank systems."
            ),
            "--by rater": Verb(
                "cc_hf.cli.compare_raters:raters", "Compare results with human labels."
            ),
            "--by time": Verb(
                "cc_hf.cli.compare_time:time", "Time how long systems take to translate a file."
            ),
        },
    ),
    "report": Verb(
        "cc_hf.cli.report:report",
        "Show systems side by side, by category and sample by sample.",
        "cc-hf report tiny.json other.json --html report.html",
    ),
    "ask": Verb(
        "cc_hf.cli.ask:ask",
        "Ask a language model to choose between options, or to translate.",
        "cc-hf ask simplegen en-de --shots 0 --show first",
    ),
    "score": Verb(
        "cc_hf.cli.score:score",
        "Score translations against references, by BLEU and chrF.",
        "cc-hf score tiny.txt --references references.txt",
    ),
    "cues": Verb("cc_hf.cli.cues:app", "Build disambiguation cues, and compare their wordings."),
    "build": Verb(
        "cc_hf.cli.build:build",
        "Write a dataset as Parquet with its card, or sheets for raters.",
        "cc-hf build simplegen --output simplegen",
        others={
            "sheets": Verb(
                "cc_hf.cli.build_sheets:sheets",
                "Draw translations, and write sheets on which people label them.",
            ),
        },
    ),
    "convert": Verb(
        "cc_hf.cli.convert:convert",
        "Convert a model to a folder of transformers.",
        "cc-hf convert bergamot:en-pt --output en-pt",
    ),
    "publish": Verb(
        "cc_hf.cli.publish:app",
        "Publish on the Hub; without --yes, a dry run.",
        "cc-hf publish dataset simplegen --repo my-org/simplegen",
    ),
    "leaderboard": Verb(
        "cc_hf.cli.leaderboard:leaderboard",
        "Serve results as a web page.",
        "cc-hf leaderboard .",
    ),
    "cache": Verb(
        "cc_hf.cli.cache:cache",
        "Show, take in or remove the scores that are stored on disk.",
        "cc-hf cache",
    ),
    "register": Verb(
        "cc_hf.cli.register:register",
        "Let `evaluate.load` find the metrics by name.",
        "cc-hf register",
    ),
    "study": Verb(
        "cc_hf.cli.study:app", "List the studies, or run a command of one.", "cc-hf study"
    ),
}

#: Words of a command that existed, or a command with an option that another one has -> what it is
#: called now.
OLD_NAMES: dict[str, str] = {
    "analyze compare-models": "study disambiguation_bias compare-models",
    "analyze evaluator-agreement": "compare --by evaluator",
    "analyze human-agreement": "compare --by rater",
    "analyze rater-sheets": "build sheets",
    "analyze seeds": "compare --by seed",
    "analyze uncertain": "compare --by sample",
    "analyze gender-ratings": "study mt_geneval gender-ratings",
    "analyze gendered-words": "study mt_geneval gendered-words",
    "analyze lexical-probe": "study lexical_shortcuts probe",
    "analyze referent-bias": "study wino_x referent-bias",
    "analyze regression": "study distillation regression",
    "analyze sentence-gaps": "study mt_geneval sentence-gaps",
    "analyze speed": "study speed drops",
    "analyze trigger-importance": "study wino_x trigger-importance",
    "attack": "study disambiguation_bias attack",
    "bias": "study disambiguation_bias",
    "cache clear": "cache --clear",
    "cache info": "cache",
    "cache merge": "cache",
    "compare --html": "report --html",
    "compare --latex": "report --latex",
    "compare --markdown": "report --markdown",
    "compare --plots": "report --plots",
    "convert-bergamot": "convert",
    "convert-fairseq": "convert",
    "count": "study distillation",
    "list studies": "study",
    "prompt choose": "ask",
    "prompt reparse": "ask",
    "prompt show": "ask --show",
    "prompt translate": "ask --task translate",
    "report --references": "score --references",
    "report systems": "compare --by seed",
    "score bleu": "score",
    "sheets": "build sheets",
    "time": "compare --by time",
    "train average": "study lexical_shortcuts average",
    "train wino-x": "study wino_x train",
    "wino-x": "study wino_x",
}


def new_name(arguments: Sequence[str]) -> str | None:
    """Return the message for a command line that begins with a name of before, or has an option of
    another command; else None.

    Examples:
        >>> new_name(["compare", "a.json", "--latex", "table.tex"])
        '`cc-hf compare --latex` is `cc-hf report --latex`'
        >>> new_name(["analyze", "seeds", "a.json"])
        '`cc-hf analyze seeds` is `cc-hf compare --by seed`'
    """
    verb, *rest = arguments or [""]
    flags = [argument.partition("=")[0] for argument in rest if argument.startswith("--")]
    for old in (*(f"{verb} {word}" for word in (*rest[:1], *flags)), verb):
        if old in OLD_NAMES:
            return f"`cc-hf {old}` is `cc-hf {OLD_NAMES[old]}`"
    return None
