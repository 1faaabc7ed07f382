"""The smallest workbook around the XML of one sheet."""

from __future__ import annotations

from io import BytesIO
from zipfile import ZipFile

TYPES = """<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Override PartName="/xl/workbook.xml"
 ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>"""
RELATIONS = """<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
<Relationship Id="r1" Target="{target}"
 Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}"/></Relationships>"""
BOOK = """<?xml version="1.0"?><workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"
 xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">
<sheets><sheet name="One" sheetId="1" r:id="r1"/></sheets></workbook>"""


def workbook(sheet: bytes) -> bytes:
    made = BytesIO()
    with ZipFile(made, "w") as archive:
        archive.writestr("[Content_Types].xml", TYPES)
        archive.writestr("_rels/.rels", RELATIONS.format(target="xl/workbook.xml", kind="officeDocument"))
        archive.writestr("xl/workbook.xml", BOOK)
        archive.writestr("xl/_rels/workbook.xml.rels", RELATIONS.format(target="worksheets/one.xml", kind="worksheet"))
        archive.writestr("xl/worksheets/one.xml", sheet)
    return made.getvalue()
