"""Write small workbooks of Excel without a package for it."""

import zipfile
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

_MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_RELATIONS = "http://schemas.openxmlformats.org"


def write_workbook(path: Path, *rows: Sequence[str | int], is_shared: bool = True) -> Path:
    """Write rows to the first sheet.

    Args:
        path: The file.
        *rows: Their cells; "" for an empty one.
        is_shared: Whether texts stand in a table of their own, as Excel writes them, or in the
            cells, as some libraries do.

    Returns:
        The path.
    """
    strings: list[str] = []
    written = []
    for number, row in enumerate(rows, 1):
        cells = ""
        for letter, value in zip("ABCDEFGH", row, strict=False):
            if isinstance(value, int):
                cells += f'<c r="{letter}{number}"><v>{value}</v></c>'
            elif value and is_shared:
                cells += f'<c r="{letter}{number}" t="s"><v>{len(strings)}</v></c>'
                strings.append(f'<si><r><t xml:space="preserve">{escape(value)}</t></r></si>')
            elif value:
                cells += (
                    f'<c r="{letter}{number}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
                )
        written.append(f'<row r="{number}">{cells}</row>')
    relations = f'xmlns:r="{_RELATIONS}/officeDocument/2006/relationships"'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        sheets = '<sheets><sheet name="first" sheetId="1" r:id="rId7"/></sheets>'
        archive.writestr("xl/workbook.xml", f"<workbook {_MAIN} {relations}>{sheets}</workbook>")
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            (
                f'<Relationships xmlns="{_RELATIONS}/package/2006/relationships">'
                '<Relationship Id="rId7" Type="worksheet" Target="worksheets/sheet1.xml"/>'
                f"</Relationships>"
            ),
        )
        archive.writestr(
            "xl/worksheets/sheet1.xml",
            f"<worksheet {_MAIN}><sheetData>{''.join(written)}</sheetData></worksheet>",
        )
        if strings:
            archive.writestr("xl/sharedStrings.xml", f"<sst {_MAIN}>{''.join(strings)}</sst>")
    return path
