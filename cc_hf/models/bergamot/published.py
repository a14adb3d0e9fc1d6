"""The students that Mozilla publishes, pinned by SHA-256. No torch here.

Names, sizes and hashes are those of the registry of Firefox Translations, in the repository
mozilla/firefox-translations: version 0.3.4 at commit db4abc4; for en-pt and pt-en version 0.2.12 at
commit 03146fc, the students with which the project's own figures were measured. The files are under
the Mozilla Public License 2.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cc_hf.data.declaration import SourceFile
from cc_hf.data.download import fetch
from cc_hf.errors import UnknownNameError

__all__ = ["LICENCE", "PREFIX", "STUDENTS", "PublishedStudent", "fetched_student", "student_name"]

#: Beginning of the names of students, as in "bergamot:en-pt".
PREFIX = "bergamot:"
LICENCE = "MPL-2.0"
_REPOSITORY = "mozilla/bergamot-models"
_OLDER = "0.2.12"
_CURRENT = "0.3.4"


@dataclass(frozen=True, slots=True)
class PublishedStudent:
    """A student that is downloaded when it is first used.

    Attributes:
        src_lang, tgt_lang: languages, ISO 639-1.
        stage: "prod", or "dev" for a model that Mozilla does not call finished.
        files: the model and its vocabularies; the shortlist, which only translation uses, is not
            among them.
    """

    src_lang: str
    tgt_lang: str
    stage: str
    files: tuple[SourceFile, ...]

    @property
    def name(self) -> str:
        """The name by which it is loaded."""
        return f"{PREFIX}{self.src_lang}-{self.tgt_lang}"

    @property
    def size(self) -> int:
        """The size of its files in bytes."""
        return sum(file.size for file in self.files)


def _student(
    pair: str,
    stage: str,
    model: tuple[str, int, str],
    *vocabularies: tuple[str, int, str],
    version: str = _CURRENT,
) -> PublishedStudent:
    source, target = pair.split("-")
    return PublishedStudent(
        source,
        target,
        stage,
        tuple(
            SourceFile(_REPOSITORY, version, f"{source}{target}/{name}", sha256, size, "mozilla")
            for name, size, sha256 in (model, *vocabularies)
        ),
    )


_VOCABULARIES = {
    "csen": (
        "vocab.csen.spm",
        769763,
        "f71cc5d045e479607078e079884f44032f5a0b82547fb96eefa29cd1eb47c6f3",
    ),
    "deen": (
        "vocab.deen.spm",
        784269,
        "417668f2ed297970febafb5b079a9d5ebc4ed0b3550ac8386d67a90473a09bd7",
    ),
    "esen": (
        "vocab.esen.spm",
        825463,
        "909b1eea1face0d7f90a474fe29a8c0fef8d104b6e41e65616f864c964ba8845",
    ),
    "eten": (
        "vocab.eten.spm",
        828426,
        "e3b66bc141f6123cd40746e2fb9b8ee4f89cbf324ab27d6bbf3782e52f15fa2d",
    ),
    "fren": (
        "vocab.fren.spm",
        831382,
        "4c84b95b62c930f0791466d73eb996841eef474c96d0c2f0e6c6d80640f2005a",
    ),
}

_LISTED = (
    _student(
        "bg-en", "prod",
        ("model.bgen.intgemm.alphas.bin", 17140899, "71900847a98cf66bd1d05eaafc23a794c8c1285fb3f0e2ecd2849e6f81c79d53"),
        ("vocab.bgen.spm", 920621, "24ce87ba39216714f222ca6a105f30b1863a7ef8b58c9fafdc7a66184e9813a5"),
    ),
    _student(
        "ca-en", "dev",
        ("model.caen.intgemm.alphas.bin", 17140899, "3a315266490d87f72adf9e5387ee567b2fb76a30018e51586b882b1d87bf5aed"),
        ("vocab.caen.spm", 811443, "10a1f25e5640f596b547190082f87ba4994f8714693904c82a35d965b9cc7470"),
    ),
    _student(
        "cs-en", "prod",
        ("model.csen.intgemm.alphas.bin", 17140756, "5b16661e2864dc50b2f4091a16bdd4ec8d8283e04271e602159ba348df5d6e2d"),
        _VOCABULARIES["csen"],
    ),
    _student(
        "de-en", "prod",
        ("model.deen.intgemm.alphas.bin", 17140837, "1980225d00dc5645491777accff5b3c9d20b92eff67a25135f1cf8fe2ed8fb8f"),
        _VOCABULARIES["deen"],
    ),
    _student(
        "en-bg", "prod",
        ("model.enbg.intgemm.alphas.bin", 17140899, "02715a7a81a610a37439d4f788a6f3efcc1ecb39618bc4184442a39378907dfe"),
        ("vocab.bgen.spm", 919745, "b14e44beb653db924c826e1696bcfab23ca9fd3e479baf8bea67d0be77432192"),
    ),
    _student(
        "en-cs", "prod",
        ("model.encs.intgemm.alphas.bin", 17140756, "9a2fe0588bd972accfc801e2f31c945de0557804a91666ae5ab43b94fb74ac4b"),
        _VOCABULARIES["csen"],
    ),
    _student(
        "en-de", "prod",
        ("model.ende.intgemm.alphas.bin", 17140835, "b3e980d6602ab0bdfe8d9315cb5fc282a16bb1c8dccf38e70945c584551c4318"),
        _VOCABULARIES["deen"],
    ),
    _student(
        "en-es", "prod",
        ("model.enes.intgemm.alphas.bin", 17140755, "fa7460037a3163e03fe1d23602f964bff2331da6ee813637e092ddf37156ef53"),
        _VOCABULARIES["esen"],
    ),
    _student(
        "en-et", "prod",
        ("model.enet.intgemm.alphas.bin", 17140754, "a28874a8b702a519a14dc71bcee726a5cb4b539eeaada2d06492f751469a1fd6"),
        _VOCABULARIES["eten"],
    ),
    _student(
        "en-fa", "dev",
        ("model.enfa.intgemm.alphas.bin", 17140835, "74fa9694e56c9e0511229c6d247752132b4cf83bbf0574a601dceeac5b62f1b9"),
        ("vocab.enfa.spm", 794181, "ecf95b5cf04b86bf68113b3d6fdcf23c2728eb5929cebc0f5aa5c4d8b8330fa4"),
    ),
    _student(
        "en-fr", "prod",
        ("model.enfr.intgemm.alphas.bin", 17140961, "0678019c4d74c8c81d2de17e3e58d3aba5f5eb48f5595d9240c17f69d30461de"),
        _VOCABULARIES["fren"],
    ),
    _student(
        "en-it", "prod",
        ("model.enit.intgemm.alphas.bin", 17140899, "3d7bbc4d7977e10b35f53faa79f5d5de8211f4f04baed9e7cd9dee1dcceda917"),
        ("vocab.enit.spm", 812781, "603f3349657c3deb9736a0c567452d102a5a03c377dfdf1d32c428608f2cff1b"),
    ),
    _student(
        "en-nl", "dev",
        ("model.ennl.intgemm.alphas.bin", 17140899, "906690a58a0d72aff28bd4b941cbd0984d1e0a62958c0b21aebae378a656d822"),
        ("vocab.ennl.spm", 807541, "43ba3922c3bba2b76ca2e2124837c96518b0e31300b7d6d5ccce55ee10d86393"),
    ),
    _student(
        "en-pl", "prod",
        ("model.enpl.intgemm.alphas.bin", 17140899, "60d45f43a5ac869a80f899751d2d1f0f456da9815d26db70e4d2e0fd18ed4a8f"),
        ("vocab.enpl.spm", 822587, "a1d27e6f5c0d29f406364ebf0382949d1c0affc750cec4380f3173150552f43e"),
    ),
    _student(
        "en-pt", "prod",
        ("model.enpt.intgemm.alphas.bin", 17140836, "d968735704c75e33c2e183b9241f14c0b2a560d01d88a2728e5c0119a4d7fb22"),
        ("vocab.enpt.spm", 812781, "633a3d782c79f7d5e4b94ab96848f47c2fdf8ba82dd99efd1742b8a696bbd0cc"),
        version=_OLDER,
    ),
    _student(
        "en-ru", "dev",
        ("model.enru.intgemm.alphas.bin", 17140836, "4a45186a93b8a2dd9301c66a3b3dad580b1bcfa74aadda583ca383f9fe0dea93"),
        ("vocab.enru.spm", 937157, "feca2d44f01b946c85faba3b15b5eb53344bec84cd14a1a4d4a82ddd774c5edd"),
    ),
    _student(
        "en-uk", "dev",
        ("model.enuk.intgemm8.bin", 25315747, "326aa67032b19dfd979267ea88f066c8ca394b01bedece00e0bf6a722a42a099"),
        ("srcvocab.enuk.spm", 789110, "dd44ee771e3be2fce4986beb4f4386fa0a5b233dfb5602d3cb78461053a6a50e"),
        ("trgvocab.enuk.spm", 1003426, "04f3110c139f80a4e72aeb2b6802a0be50b94e36aa89647cab53318a0917e442"),
    ),
    _student(
        "es-en", "prod",
        ("model.esen.intgemm.alphas.bin", 17140755, "4b6b7f451094aaa447d012658af158ffc708fc8842dde2f871a58404f5457fe0"),
        _VOCABULARIES["esen"],
    ),
    _student(
        "et-en", "prod",
        ("model.eten.intgemm.alphas.bin", 17140754, "aac98a2371e216ee2d4843cbe896c617f6687501e17225ac83482eba52fd0028"),
        _VOCABULARIES["eten"],
    ),
    _student(
        "fa-en", "dev",
        ("model.faen.intgemm.alphas.bin", 17140837, "f7a76cde1d66aa7d9ed017d7dd0f7e945608412e723e0d99dee293a6adae4572"),
        ("vocab.faen.spm", 845020, "c3a675794dcba12dde8e1a343a82d973b7c9584f9dce3dad37f99dfe64fd29de"),
    ),
    _student(
        "fr-en", "prod",
        ("model.fren.intgemm.alphas.bin", 17140961, "185f76d24c2d400fe4ea0cb2487df77722641b97a3ef10633872e8a7fdf40e09"),
        _VOCABULARIES["fren"],
    ),
    _student(
        "is-en", "dev",
        ("model.isen.intgemm.alphas.bin", 17140780, "29ff1cc6072372ee41f91d38dbf1cdfa4efb1a89a0c0c4200a443ee929e091b7"),
        ("vocab.isen.spm", 820367, "67020a6ce013f06a1fca8b1f4c1a65c4fb8c679b231a236e7c6988570cbc8e06"),
    ),
    _student(
        "it-en", "prod",
        ("model.iten.intgemm.alphas.bin", 17140899, "7dfdf189146d9353fdea264b9e4c8ac36441c770dc4353a8380b64e589dc035b"),
        ("vocab.iten.spm", 812781, "603f3349657c3deb9736a0c567452d102a5a03c377dfdf1d32c428608f2cff1b"),
    ),
    _student(
        "nl-en", "dev",
        ("model.nlen.intgemm.alphas.bin", 17140899, "187f9c8f1ffbcc8ecf0724b608ffed9f15bde262b9de5c4754f8d763b585969d"),
        ("vocab.nlen.spm", 807730, "48a6331cb8a69d21dd24c6c2a15de44a07bcfd4a4470eaf4616849d77945f6b9"),
    ),
    _student(
        "pl-en", "prod",
        ("model.plen.intgemm.alphas.bin", 17140899, "172a5f1d44bf8dd6a6eec3868b13b33ce265f3530e898fe11a80b739b821726e"),
        ("vocab.plen.spm", 822587, "a1d27e6f5c0d29f406364ebf0382949d1c0affc750cec4380f3173150552f43e"),
    ),
    _student(
        "pt-en", "prod",
        ("model.pten.intgemm.alphas.bin", 17140836, "6c3b7af01772022a19712410c63342ba581468c2f1aac34d7488409c4043e697"),
        ("vocab.pten.spm", 812889, "8389979e3c965688b07aeb712a7e44406e5dcdb2b84087229d26fcc71448c4ed"),
        version=_OLDER,
    ),
    _student(
        "ru-en", "dev",
        ("model.ruen.intgemm.alphas.bin", 17140836, "3b6a0305e3d232fadd54f5a765365b7b96ad6d8f2e818cba594b02fbd8fadb3d"),
        ("vocab.ruen.spm", 936576, "aaf9a325c0a988c507d0312cb6ba1a02bac7a370bcd879aedee626a40bfbda78"),
    ),
    _student(
        "uk-en", "dev",
        ("model.uken.intgemm8.bin", 25315747, "90b6e21644af5bf5ce26442c724f55848a005d75e8bf688a51d2e64d6bc6b249"),
        ("srcvocab.uken.spm", 984214, "797de9759ff722c124c64663f3b75538516a059cfce3e6cf9446f39d1063cb6d"),
        ("trgvocab.uken.spm", 803064, "d933cbf156c925ef42c064cbd6f85f18516f3ccac49bee7025b19a4a5c0ef711"),
    ),
)  # fmt: skip

#: The published students by the names that load them.
STUDENTS: Mapping[str, PublishedStudent] = {student.name: student for student in _LISTED}


def student_name(src_lang: str, tgt_lang: str) -> str:
    """Return the name of the student of a language pair, "" if none is published.

    Args:
        src_lang: languages, ISO 639-1.
        tgt_lang: as for `src_lang`.

    Examples:
        >>> student_name("en", "pt"), student_name("en", "xx")
        ('bergamot:en-pt', '')
    """
    name = f"{PREFIX}{src_lang}-{tgt_lang}"
    return name if name in STUDENTS else ""


def fetched_student(name: str) -> Path:
    """Return the folder of a published student; its files are downloaded once and verified.

    Args:
        name: a name such as "bergamot:en-pt".

    Raises:
        UnknownNameError: for a pair that is not published.
        DataError: when the download fails, or a file is not the pinned one.
    """
    if name not in STUDENTS:
        raise UnknownNameError("student of Bergamot", name, STUDENTS)
    paths = [fetch(file) for file in STUDENTS[name].files]
    return paths[0].parent
