"""Citations: every paper once, key -> BibTeX and URL."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from cc_hf.errors import UnknownNameError

__all__ = ["CITATIONS", "Citation", "citation", "citation_markdown"]


@dataclass(frozen=True, slots=True)
class Citation:
    """A paper; `arxiv` is its number on arXiv, "" where it has none or `url` is there."""

    bibtex: str
    url: str
    arxiv: str = ""

    @property
    def short_name(self) -> str:
        """Authors and year, such as "Emelin et al. 2020".

        Examples:
            >>> citation("emelin-sennrich-2021").short_name, citation("emelin-2020").short_name
            ('Emelin & Sennrich 2021', 'Emelin et al. 2020')
        """
        fields = dict(re.findall(r'\b(\w+) = ["{](.*)["}],?$', self.bibtex, re.MULTILINE))
        first, *others = (name.partition(",")[0] for name in fields["author"].split(" and "))
        more = " et al." if len(others) > 1 else "".join(f" & {name}" for name in others)
        return f"{first}{more} {fields['year']}"


CITATIONS: dict[str, Citation] = {
    "bawden-2018": Citation(
        """@inproceedings{bawden-etal-2018-evaluating,
    title = "Evaluating Discourse Phenomena in Neural Machine Translation",
    author = "Bawden, Rachel and Sennrich, Rico and Birch, Alexandra and Haddow, Barry",
    booktitle = "Proceedings of the 2018 Conference of the North {A}merican Chapter of the Association for Computational Linguistics: Human Language Technologies, Volume 1 (Long Papers)",
    year = "2018",
    pages = "1304--1313",
    publisher = "Association for Computational Linguistics",
    url = "https://aclanthology.org/N18-1118",
}""",
        "https://aclanthology.org/N18-1118",
        "1711.00513",
    ),
    "dawkins-2024": Citation(
        """@inproceedings{dawkins-etal-2024-wmt24,
    title = "{WMT}24 Test Suite: Gender Resolution in Speaker-Listener Dialogue Roles",
    author = "Dawkins, Hillary and Nejadgholi, Isar and Lo, Chi-kiu",
    booktitle = "Proceedings of the Ninth Conference on Machine Translation",
    year = "2024",
    publisher = "Association for Computational Linguistics",
    url = "https://aclanthology.org/2024.wmt-1.25",
}""",
        "https://aclanthology.org/2024.wmt-1.25",
        "2411.06194",
    ),
    "lardelli-2024": Citation(
        """@inproceedings{lardelli-etal-2024-building,
    title = "Building Bridges: A Dataset for Evaluating Gender-Fair Machine Translation into {G}erman",
    author = "Lardelli, Manuel and Attanasio, Giuseppe and Lauscher, Anne",
    booktitle = "Findings of the Association for Computational Linguistics: ACL 2024",
    year = "2024",
    publisher = "Association for Computational Linguistics",
    url = "https://aclanthology.org/2024.findings-acl.448",
}""",
        "https://aclanthology.org/2024.findings-acl.448",
        "2406.06131",
    ),
    "wicks-post-2023": Citation(
        """@inproceedings{wicks-post-2023-identifying,
    title = "Identifying Context-Dependent Translations for Evaluation Set Production",
    author = "Wicks, Rachel and Post, Matt",
    booktitle = "Proceedings of the Eighth Conference on Machine Translation",
    year = "2023",
    publisher = "Association for Computational Linguistics",
    url = "https://aclanthology.org/2023.wmt-1.42",
}""",
        "https://aclanthology.org/2023.wmt-1.42",
        "2311.02321",
    ),
    "vamvas-sennrich-2021-limits": Citation(
        """@inproceedings{vamvas-sennrich-2021-limits,
    title = "On the Limits of Minimal Pairs in Contrastive Evaluation",
    author = "Vamvas, Jannis and Sennrich, Rico",
    booktitle = "Proceedings of the Fourth BlackboxNLP Workshop on Analyzing and Interpreting Neural Networks for NLP",
    year = "2021",
    pages = "58--68",
    publisher = "Association for Computational Linguistics",
    url = "https://aclanthology.org/2021.blackboxnlp-1.5",
}""",
        "https://aclanthology.org/2021.blackboxnlp-1.5",
        "2109.07465",
    ),
    "vamvas-sennrich-2021": Citation(
        """@inproceedings{vamvas-sennrich-2021-contrastive,
    title = "Contrastive Conditioning for Assessing Disambiguation in {MT}: {A} Case Study of Distilled Bias",
    author = "Vamvas, Jannis and Sennrich, Rico",
    booktitle = "Proceedings of the 2021 Conference on Empirical Methods in Natural Language Processing",
    year = "2021",
    pages = "10246--10265",
    publisher = "Association for Computational Linguistics",
    url = "https://aclanthology.org/2021.emnlp-main.803",
}""",
        "https://aclanthology.org/2021.emnlp-main.803",
    ),
    "vamvas-sennrich-2022": Citation(
        """@inproceedings{vamvas-sennrich-2022-little,
    title = "As Little as Possible, as Much as Necessary: Detecting Over- and Undertranslations with Contrastive Conditioning",
    author = "Vamvas, Jannis and Sennrich, Rico",
    booktitle = "Proceedings of the 60th Annual Meeting of the Association for Computational Linguistics (Volume 2: Short Papers)",
    year = "2022",
    pages = "490--500",
    publisher = "Association for Computational Linguistics",
    url = "https://aclanthology.org/2022.acl-short.53",
}""",
        "https://aclanthology.org/2022.acl-short.53",
        "2203.01927",
    ),
    "stanovsky-2019": Citation(
        """@inproceedings{stanovsky-etal-2019-evaluating,
    title = "Evaluating Gender Bias in Machine Translation",
    author = "Stanovsky, Gabriel and Smith, Noah A. and Zettlemoyer, Luke",
    booktitle = "Proceedings of the 57th Annual Meeting of the Association for Computational Linguistics",
    year = "2019",
    pages = "1679--1684",
    publisher = "Association for Computational Linguistics",
    url = "https://aclanthology.org/P19-1164",
}""",
        "https://aclanthology.org/P19-1164",
        "1906.00591",
    ),
    "dyer-2013": Citation(
        """@inproceedings{dyer-etal-2013-simple,
    title = "A Simple, Fast, and Effective Reparameterization of {IBM} Model 2",
    author = "Dyer, Chris and Chahuneau, Victor and Smith, Noah A.",
    booktitle = "Proceedings of the 2013 Conference of the North American Chapter of the Association for Computational Linguistics: Human Language Technologies",
    year = "2013",
    pages = "644--648",
    publisher = "Association for Computational Linguistics",
    url = "https://aclanthology.org/N13-1073",
}""",
        "https://aclanthology.org/N13-1073",
    ),
    "pikuliak-2024": Citation(
        """@inproceedings{pikuliak-etal-2024-women,
    title = "Women Are Beautiful, Men Are Leaders: Gender Stereotypes in Machine Translation and Language Modeling",
    author = "Pikuliak, Mat{\\'u}{\\v{s}} and Oresko, Stefan and Hrckova, Andrea and Simko, Marian",
    booktitle = "Findings of the Association for Computational Linguistics: EMNLP 2024",
    year = "2024",
    pages = "3060--3083",
    publisher = "Association for Computational Linguistics",
    url = "https://aclanthology.org/2024.findings-emnlp.173",
}""",
        "https://aclanthology.org/2024.findings-emnlp.173",
        "2311.18711",
    ),
    "raganato-2019": Citation(
        """@inproceedings{raganato-etal-2019-mucow,
    title = "The {M}u{C}o{W} Test Suite at {WMT} 2019: Automatically Harvested Multilingual Contrastive Word Sense Disambiguation Test Sets for Machine Translation",
    author = {Raganato, Alessandro and Scherrer, Yves and Tiedemann, J{\\"o}rg},
    booktitle = "Proceedings of the Fourth Conference on Machine Translation (Volume 2: Shared Task Papers, Day 1)",
    year = "2019",
    pages = "470--480",
    publisher = "Association for Computational Linguistics",
    url = "https://aclanthology.org/W19-5354",
}""",
        "https://aclanthology.org/W19-5354",
    ),
    "emelin-sennrich-2021": Citation(
        """@inproceedings{emelin-sennrich-2021-wino,
    title = "Wino-{X}: Multilingual {W}inograd Schemas for Commonsense Reasoning and Coreference Resolution",
    author = "Emelin, Denis and Sennrich, Rico",
    booktitle = "Proceedings of the 2021 Conference on Empirical Methods in Natural Language Processing",
    year = "2021",
    pages = "8517--8532",
    publisher = "Association for Computational Linguistics",
    url = "https://aclanthology.org/2021.emnlp-main.670",
}""",
        "https://aclanthology.org/2021.emnlp-main.670",
    ),
    "emelin-2020": Citation(
        """@inproceedings{emelin-etal-2020-detecting,
    title = "Detecting Word Sense Disambiguation Biases in Machine Translation for Model-Agnostic Adversarial Attacks",
    author = "Emelin, Denis and Titov, Ivan and Sennrich, Rico",
    booktitle = "Proceedings of the 2020 Conference on Empirical Methods in Natural Language Processing (EMNLP)",
    year = "2020",
    pages = "7635--7653",
    publisher = "Association for Computational Linguistics",
    url = "https://aclanthology.org/2020.emnlp-main.616",
}""",
        "https://aclanthology.org/2020.emnlp-main.616",
        "2011.01846",
    ),
    "salazar-2020": Citation(
        """@inproceedings{salazar-etal-2020-masked,
    title = "Masked Language Model Scoring",
    author = "Salazar, Julian and Liang, Davis and Nguyen, Toan Q. and Kirchhoff, Katrin",
    booktitle = "Proceedings of the 58th Annual Meeting of the Association for Computational Linguistics",
    year = "2020",
    pages = "2699--2712",
    publisher = "Association for Computational Linguistics",
    url = "https://aclanthology.org/2020.acl-main.240",
}""",
        "https://aclanthology.org/2020.acl-main.240",
    ),
    "sennrich-2017": Citation(
        """@inproceedings{sennrich-2017-grammatical,
    title = "How Grammatical is Character-level Neural Machine Translation? {A}ssessing {MT} Quality with Contrastive Translation Pairs",
    author = "Sennrich, Rico",
    booktitle = "Proceedings of the 15th Conference of the {E}uropean Chapter of the Association for Computational Linguistics: Volume 2, Short Papers",
    year = "2017",
    pages = "376--382",
    publisher = "Association for Computational Linguistics",
    url = "https://aclanthology.org/E17-2060",
}""",
        "https://aclanthology.org/E17-2060",
        "1612.04629",
    ),
    "rios-2017": Citation(
        """@inproceedings{rios-gonzales-etal-2017-improving,
    title = "Improving Word Sense Disambiguation in Neural Machine Translation with Sense Embeddings",
    author = "Rios Gonzales, Annette and Mascarell, Laura and Sennrich, Rico",
    booktitle = "Proceedings of the Second Conference on Machine Translation",
    year = "2017",
    pages = "11--19",
    publisher = "Association for Computational Linguistics",
    url = "https://aclanthology.org/W17-4702",
}""",
        "https://aclanthology.org/W17-4702",
    ),
    "rarrick-2023": Citation(
        """@misc{rarrick-etal-2023-gate,
    title = "{GATE}: A Challenge Set for Gender-Ambiguous Translation Examples",
    author = "Rarrick, Spencer and Naik, Ranjita and Mathur, Varun and Poudel, Sundar and Chowdhary, Vishal",
    year = "2023",
    eprint = "2303.03975",
    archiveprefix = "arXiv",
    url = "https://arxiv.org/abs/2303.03975",
}""",
        "https://arxiv.org/abs/2303.03975",
    ),
    "renduchintala-2021": Citation(
        """@inproceedings{renduchintala-etal-2021-gender,
    title = "Gender bias amplification during Speed-Quality optimization in Neural Machine Translation",
    author = "Renduchintala, Adithya and Diaz, Denise and Heafield, Kenneth and Li, Xian and Diab, Mona",
    booktitle = "Proceedings of the 59th Annual Meeting of the Association for Computational Linguistics (Volume 2: Short Papers)",
    year = "2021",
    pages = "99--109",
    publisher = "Association for Computational Linguistics",
    url = "https://aclanthology.org/2021.acl-short.15",
}""",
        "https://aclanthology.org/2021.acl-short.15",
        "2106.00169",
    ),
    "currey-2022": Citation(
        """@inproceedings{currey-etal-2022-mt,
    title = "{MT}-{G}en{E}val: A Counterfactual and Contextual Dataset for Evaluating Gender Accuracy in Machine Translation",
    author = {Currey, Anna and N{\\u{a}}dejde, Maria and Pappagari, Raghavendra and Mayer, Mia and Lauly, Stanislas and Niu, Xing and Hsu, Benjamin and Dinu, Georgiana},
    booktitle = "Proceedings of the 2022 Conference on Empirical Methods in Natural Language Processing",
    year = "2022",
    pages = "4287--4299",
    publisher = "Association for Computational Linguistics",
    url = "https://aclanthology.org/2022.emnlp-main.288",
}""",
        "https://aclanthology.org/2022.emnlp-main.288",
        "2211.01355",
    ),
    "sakaguchi-2020": Citation(
        """@article{sakaguchi-etal-2020-winogrande,
    title = "{W}ino{G}rande: An Adversarial {W}inograd Schema Challenge at Scale",
    author = "Sakaguchi, Keisuke and Le Bras, Ronan and Bhagavatula, Chandra and Choi, Yejin",
    journal = "Proceedings of the AAAI Conference on Artificial Intelligence",
    volume = "34",
    year = "2020",
    pages = "8732--8740",
    url = "https://doi.org/10.1609/aaai.v34i05.6399",
}""",
        "https://doi.org/10.1609/aaai.v34i05.6399",
        "1907.10641",
    ),
}


def citation(key: str | Citation) -> Citation:
    """Return the paper for a key of `CITATIONS`; a citation is returned unchanged.

    Raises:
        UnknownNameError: for a key that is not in the table.

    Examples:
        >>> citation("stanovsky-2019").url
        'https://aclanthology.org/P19-1164'
    """
    if isinstance(key, Citation):
        return key
    try:
        return CITATIONS[key]
    except KeyError:
        raise UnknownNameError("citation", key, CITATIONS) from None


def citation_markdown(papers: Sequence[Citation]) -> str:
    """Return the section "Citation" of a card: the BibTeX entries, and links to arXiv.

    Examples:
        >>> print(citation_markdown([citation("stanovsky-2019")]).splitlines()[-1])
        On arXiv: [Stanovsky et al. 2019](https://arxiv.org/abs/1906.00591).
    """
    entries = "\n\n".join(paper.bibtex for paper in papers)
    links = [
        f"[{paper.short_name}](https://arxiv.org/abs/{paper.arxiv})"
        for paper in papers
        if paper.arxiv
    ]
    on_arxiv = f"\n\nOn arXiv: {', '.join(links)}." if links else ""
    return f"```bibtex\n{entries}\n```{on_arxiv}"
