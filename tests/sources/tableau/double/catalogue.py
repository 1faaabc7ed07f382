"""The fields that the data source publishes, and how each is computed from the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from tests.sources.tableau.double.errors import refused

DataType = Literal["INTEGER", "REAL", "STRING", "DATE", "BOOLEAN"]
LOGICAL_TABLE = "Orders_ECFCA1FB690A41FE803BC071773BA862"
BIN_SIZE = "Profit Bin Size"


@dataclass(frozen=True)
class Field:
    caption: str
    type: DataType
    role: Literal["DIMENSION", "MEASURE"]
    sql: str  # over the columns of the table
    aggregation: str = "COUNT"
    name: str = ""  # of the underlying column; the caption where empty
    kind: Literal["COLUMN", "CALCULATION", "BIN"] = "COLUMN"
    formula: str | None = None
    aggregates: bool = False  # the formula itself sums up rows
    description: str | None = None
    hidden: bool = False

    @property
    def key(self) -> str:
        return self.name or self.caption

    def metadata(self) -> dict[str, Any]:
        known = {
            "fieldName": self.key,
            "fieldCaption": self.caption,
            "dataType": self.type,
            "fieldRole": self.role,
            "fieldType": "CONTINUOUS" if self.role == "MEASURE" or self.type == "DATE" else "NOMINAL",
            "defaultAggregation": self.aggregation,
            "columnClass": self.kind,
            "formula": self.formula,
            "logicalTableId": LOGICAL_TABLE if self.kind == "COLUMN" else None,
            "description": self.description,
            "hidden": self.hidden,
        }
        return {name: value for name, value in known.items() if value is not None}


def _column(caption: str, type: DataType, description: str | None = None, hidden: bool = False) -> Field:
    aggregation = "YEAR" if type == "DATE" else "COUNT"
    return Field(caption, type, "DIMENSION", f'"{caption}"', aggregation, description=description, hidden=hidden)


def _measure(caption: str, type: DataType, aggregation: str, description: str | None = None) -> Field:
    return Field(caption, type, "MEASURE", f'"{caption}"', aggregation, description=description)


FIELDS = (
    _column("Row ID", "INTEGER", hidden=True),
    _column("Order ID", "STRING"),
    _column("Order Date", "DATE", "The day on which the order came in"),
    _column("Ship Date", "DATE"),
    _column("Region", "STRING"),
    _column("State", "STRING"),
    _column("City", "STRING"),
    _column("Category", "STRING"),
    _column("Sub-Category", "STRING"),
    _column("Segment", "STRING"),
    _column("Customer Name", "STRING"),
    _column("Product Name", "STRING"),
    _column("Returned", "BOOLEAN"),
    _measure("Sales", "REAL", "SUM", "Revenue of the line after discount"),
    _measure("Profit", "REAL", "SUM"),
    _measure("Quantity", "INTEGER", "SUM"),
    _measure("Discount", "REAL", "AVG"),
    Field(
        "Profit Ratio",
        "REAL",
        "MEASURE",
        'sum("Profit") / sum("Sales")',
        "AGG",
        name="Calculation_1368249927221915648",
        kind="CALCULATION",
        formula="SUM([Profit])/SUM([Sales])",
        aggregates=True,
    ),
    Field(
        "Days to Ship",
        "INTEGER",
        "MEASURE",
        '("Ship Date" - "Order Date")',
        "AVG",
        name="Calculation_5571209093911105536",
        kind="CALCULATION",
        formula="DATEDIFF('day',[Order Date],[Ship Date])",
    ),
    Field(
        "Profit (bin)",
        "INTEGER",
        "DIMENSION",
        'CAST(floor("Profit" / {bin_size}) AS BIGINT)',
        kind="BIN",
        formula=f"[Profit] by [{BIN_SIZE}]",
    ),
)
PARAMETER = {
    "parameterType": "QUANTITATIVE_RANGE",
    "parameterName": "Parameter 2",
    "parameterCaption": BIN_SIZE,
    "dataType": "INTEGER",
    "value": 200,
    "min": 50,
    "max": 200,
    "step": 50,
}


@dataclass(frozen=True)
class Catalogue:
    """`by_name`: the request calls fields by the names of their columns. `duplicated`: two fields bear this caption."""

    by_name: bool = False
    duplicated: str | None = None
    bin_size: float = 200

    def get(self, caption: str) -> Field:
        if caption == self.duplicated:
            raise refused("404935", f"There are two or more fields with the caption {caption}.")
        for field in FIELDS:
            if caption == (field.key if self.by_name else field.caption):
                return field
        raise refused("404934", f"Unknown Field: {caption}.")

    def sql(self, field: Field) -> str:
        return field.sql.replace("{bin_size}", str(self.bin_size))


def metadata(hidden: bool, duplicated: str | None) -> dict[str, Any]:
    shown = [field for field in FIELDS if hidden or not field.hidden]
    twice = [field for field in shown if field.caption == duplicated]
    return {"data": [field.metadata() for field in (*shown, *twice)], "extraData": {"parameters": [PARAMETER]}}
