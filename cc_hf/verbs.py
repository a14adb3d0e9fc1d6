"""The commands of cc-hf; each is imported when it is run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

__all__ = ["VERBS", "Verb"]


class Verb(NamedTuple):
    """What can be said of a command without importing it.

    Attributes:
        target: "module:object": a function, or a `typer.Typer` with several.
        summary: the first sentence of its help.
        others: words of commands that are run in its place -> their verbs. "--by seed" is chosen by
            the option, "sheets" by the first argument.
    """

    target: str
    summary: str
    example: str = ""
    others: Mapping[str, Verb] = {}


#: Command of cc-hf -> what can be said of it; its help shows them in this order, that of work.
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
        "cc_hf.plugins.reranking.rerank_command:rerank",
        "Choose from n-best lists the translations with the right reading.",
        "cc-hf rerank simplegen en-de --nbest lists.txt --best best.txt",
    ),
    "alternatives": Verb(
        "cc_hf.plugins.reranking.alternatives_command:alternatives",
        "Translate for a man and for a woman where the source says neither.",
        "cc-hf alternatives open.txt -l en-de --system cc-tiny-en-de",
    ),
    "evaluate": Verb(
        "cc_hf.cli.evaluate:evaluate",
        "Judge a system by its translations, or an evaluator itself.",
        "cc-hf evaluate simplegen --translations tiny.txt -o tiny.json",
        others={
            "students": Verb(
                "cc_hf.plugins.harness.students_command:students",
                "Judge students of Firefox Translations in all their pairs.",
            ),
        },
    ),
    "campaign": Verb(
        "cc_hf.plugins.campaign.campaign_command:campaign",
        "Judge a folder of submissions in all language pairs.",
        "cc-hf campaign simplegen --submissions submitted -o campaign",
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
                "cc_hf.plugins.seeds.seeds_command:seeds",
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
                "cc_hf.plugins.raters.raters_command:raters", "Compare results with human labels."
            ),
            "--by time": Verb(
                "cc_hf.plugins.timing.time_command:time",
                "Time how long systems take to translate a file.",
            ),
        },
    ),
    "report": Verb(
        "cc_hf.cli.report:report",
        "Show systems side by side, by category and sample by sample.",
        "cc-hf report tiny.json other.json --html report.html",
    ),
    "judge": Verb(
        "cc_hf.plugins.judges.judge_command:app",
        "Check how far an evaluator can be trusted.",
        "cc-hf judge check cc-tiny-en-de winomt -l en-de",
    ),
    "ask": Verb(
        "cc_hf.plugins.asking.command:ask",
        "Ask a language model to choose between options, or to translate.",
        "cc-hf ask simplegen en-de --shots 0 --show first",
    ),
    "score": Verb(
        "cc_hf.plugins.scores.score_command:score",
        "Score translations against references, by BLEU and chrF.",
        "cc-hf score tiny.txt --references references.txt",
    ),
    "cues": Verb(
        "cc_hf.plugins.calibration.cues_command:app",
        "Build disambiguation cues, and compare their wordings.",
    ),
    "build": Verb(
        "cc_hf.plugins.dataset_folders.build_command:build",
        "Write a dataset as Parquet with its card, or sheets for raters.",
        "cc-hf build simplegen --output simplegen",
        others={
            "sheets": Verb(
                "cc_hf.plugins.raters.sheets_command:sheets",
                "Draw translations, and write sheets on which people label them.",
            ),
        },
    ),
    "convert": Verb(
        "cc_hf.plugins.conversion.convert_command:convert",
        "Convert a model to a folder of transformers.",
        "cc-hf convert bergamot:en-pt --output en-pt",
    ),
    "publish": Verb(
        "cc_hf.cli.publish:app",
        "Publish on the Hub; without --yes, a dry run.",
        "cc-hf publish dataset simplegen --repo my-org/simplegen",
    ),
    "leaderboard": Verb(
        "cc_hf.plugins.leaderboard.command:leaderboard",
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
