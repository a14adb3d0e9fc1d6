"""What becomes of homographs, as a module of the evaluate library; the work is done by cc_hf."""

import datasets
import evaluate

import cc_hf.citations
import cc_hf.evaluation.judging as judging  # From: cc_hf
import cc_hf.test_sets.mucow.homograph_accuracy as core  # From: cc_hf

_DESCRIPTION = """\
Word sense disambiguation in machine translation (Emelin et al. 2020): a list of senses tells which
sense of a homograph the words of a translation show. A translation is correct with a word of the
right sense, flipped with a word of another sense, unknown with a word of no sense, and deleted
without a word that is aligned with the homograph. Only flips are errors, unless `wide` is set.
"""

_INPUTS = """\
Args:
    predictions (list of str): translations by the system under test;
        give all of a system at once, because alignments are learned from them.
    references (list of dict): one per translation, with `source` (str), `homograph` (str), `start`
        (int, 0-based, the homograph's first character in the source), `cluster` (str, the right
        sense), `senses` (a mapping from cluster to a list of words, or to a mapping with `senses`
        and `ambiguous`; or the JSON of one), `category` (str, optional, such as frequent and
        rare) and `reference` (str, optional, a right translation, for the ceiling).
    tgt_lang (str): ISO 639-1 code of the translations.
    src_lang (str, optional): ISO 639-1 code of the sources, for the signature.
    search (str): "anywhere" (default), which searches the whole translation, "aligned", which
        searches the words aligned with the homograph, or "sentence", which searches the whole
        translation in the way of the paper's program.
    wide (bool): whether unknown and deleted homographs are errors, too; False by default.
    aligner (str or Aligner): "fast_align" (default), "eflomal", which must be installed, or an
        object with the method `align`.
    alignments (str or list of str, optional): a Pharaoh file or its lines, which replace the
        aligner.
    lemmatizer (str or Lemmatizer): "simplemma" (default), "none", or an object with the protocol
        of `cc_hf.text.lemmatization.Lemmatizer`.
    seed (int): seed of the bootstrap, 0 by default.
    n_resamples (int): number of resamples of the bootstrap, 1000 by default.

Returns:
    accuracy, min_accuracy, accuracy_<category> (float): in [0, 1].
    flip_rate, unknown_rate, deleted_rate, wide_error_rate (float): in [0, 1], also by category
        (flip_rate_rare). The last is the sum of the others.
    n, n_correct, n_inconclusive, n_flipped, n_unknown, n_deleted, n_blank (int): numbers of
        translations; with references, n_references, and n_references_correct, whose right sense
        the search finds.
    verdicts (list of str): correct, incorrect or inconclusive, one per translation.
    predicted (list of str): the cluster that each translation shows, else unknown or deleted.
    intervals: mapping from figure to [low, high], the limits of its 95 % interval.
    interval_notes: mapping from figure to a remark on its interval, or the reason why it has none.
    signature (str): data, options and versions on which the figures depend.
    unfit (str): why the figures are not fit to be cited, if there is a reason.
    notes (list of str): the ceiling, or that it is unknown.

Example:
    >>> metric = evaluate.load("metrics/homograph_accuracy")
    >>> reference = {
    ...     "source": "A bat flies.",
    ...     "homograph": "bat",
    ...     "start": 2,
    ...     "cluster": "animal",
    ...     "senses": '{"animal": ["Fledermaus"], "stick": ["Schläger", "Keule"]}',
    ...     "category": "frequent",
    ... }
    >>> result = metric.compute(
    ...     predictions=["Eine Keule fliegt."],
    ...     references=[reference],
    ...     tgt_lang="de",
    ...     alignments=["0-0 1-1 2-2"],
    ... )
    >>> result["predicted"], result["flip_rate"]
    (['stick'], 1.0)
"""


class HomographAccuracy(judging.MetricModule, evaluate.Metric):
    """The declaration of the features; `cc_hf.test_sets.mucow.homograph_accuracy` judges."""

    metric = core.HomographAccuracy

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=cc_hf.citations.citation("emelin-2020").bibtex,
            inputs_description=_INPUTS,
            features=datasets.Features(
                {
                    "predictions": datasets.Value("string"),
                    "references": {
                        "source": datasets.Value("string"),
                        "homograph": datasets.Value("string"),
                        "start": datasets.Value("int64"),
                        "cluster": datasets.Value("string"),
                        "senses": datasets.Value("string"),
                        "category": datasets.Value("string"),
                        "reference": datasets.Value("string"),
                    },
                }
            ),
            reference_urls=[cc_hf.citations.citation("emelin-2020").url],
        )
