"""What gpt-3.5-turbo chose and translated when it was asked over its API from June to August 2023,
as printed in Emelin (2023), sections 3.5 and 4.6. Rates are in [0, 1].

The model no longer exists, so that no figure can be reproduced. Some rows of Tables 4.19 and 4.25
do not add up to the number of samples.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "MODEL",
    "PUBLISHED_CHOICES",
    "PUBLISHED_TRANSLATIONS",
    "SOURCE",
    "PublishedChoice",
    "PublishedTranslation",
    "published_choices",
]

MODEL = "gpt-3.5-turbo (2023)"
SOURCE = "Emelin (2023)"


@dataclass(frozen=True, slots=True)
class PublishedChoice:
    """The printed figures of one configuration of Wino-X and one strategy.

    Attributes:
        strategy: "basic", "cot" or "cota".
        accuracy: accuracy of valid answers.
        n_valid: number of valid answers.
        tables: the tables of both.
    """

    config: str
    strategy: str
    accuracy: float
    n_valid: int
    tables: str


@dataclass(frozen=True, slots=True)
class PublishedTranslation:
    """The printed figures of one challenge set of word senses.

    Attributes:
        n_failed, n_invalid, n_valid: outcomes of the requests (Table 3.20); valid are those that
            were valid with both prompts.
        basic, cot: failure rates of both prompts (Tables 3.21 and 3.23): translations with another
            sense of the homograph, or for adversarial sets with the sense of the attractor.
        transformer: failure rate of a translation model beside it.
    """

    name: str
    n_failed: int
    n_invalid: int
    n_valid: int
    basic: float
    cot: float
    transformer: float


PUBLISHED_CHOICES: tuple[PublishedChoice, ...] = (
    PublishedChoice("mt_en_de.translations", "basic", 0.5563, 3750, "4.19, 4.20"),
    PublishedChoice("mt_en_fr.translations", "basic", 0.5693, 2944, "4.19, 4.20"),
    PublishedChoice("mt_en_ru.translations", "basic", 0.5271, 2228, "4.19, 4.20"),
    PublishedChoice("mt_en_de.translations", "cot", 0.5224, 3658, "4.22, 4.23"),
    PublishedChoice("mt_en_fr.translations", "cot", 0.5730, 2909, "4.22, 4.23"),
    PublishedChoice("mt_en_ru.translations", "cot", 0.5288, 2169, "4.22, 4.23"),
    PublishedChoice("mt_en_de.translations", "cota", 0.6072, 3740, "4.25, 4.26"),
    PublishedChoice("mt_en_fr.translations", "cota", 0.6505, 2961, "4.25, 4.26"),
    PublishedChoice("mt_en_ru.translations", "cota", 0.5792, 2217, "4.25, 4.26"),
    PublishedChoice("lm_en_de.english", "basic", 0.7955, 5747, "4.19, 4.20"),
    PublishedChoice("lm_en_de", "basic", 0.7593, 5734, "4.19, 4.20"),
    PublishedChoice("lm_en_fr.english", "basic", 0.8003, 2774, "4.19, 4.20"),
    PublishedChoice("lm_en_fr", "basic", 0.7690, 2749, "4.19, 4.20"),
    PublishedChoice("lm_en_ru.english", "basic", 0.8122, 1448, "4.19, 4.20"),
    PublishedChoice("lm_en_ru", "basic", 0.6456, 1470, "4.19, 4.20"),
)

PUBLISHED_TRANSLATIONS: tuple[PublishedTranslation, ...] = (
    PublishedTranslation("OS18 natural", 83, 181, 2736, 0.1014, 0.1069, 0.2340),
    PublishedTranslation("OS18 adversarial", 683, 776, 8541, 0.1540, 0.1388, 0.2439),
    PublishedTranslation("WMT19 natural", 66, 78, 2856, 0.1068, 0.1194, 0.1793),
    PublishedTranslation("WMT19 adversarial", 539, 577, 8884, 0.0321, 0.0340, 0.0462),
)


def published_choices(config: str) -> tuple[PublishedChoice, ...]:
    """Return the printed figures of a configuration.

    Examples:
        >>> [row.strategy for row in published_choices("mt_en_de.translations")]
        ['basic', 'cot', 'cota']
    """
    return tuple(row for row in PUBLISHED_CHOICES if row.config == config)
