"""Values: columns, constants, arithmetic, cases and casts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlglot import exp

from groundplan.asking.tables.sql import (
    cleaning,
    correlated,
    dates,
    functions,
    integers,
    measures,
    time_spans,
    windows,
)
from groundplan.asking.tables.sql.best import is_special
from groundplan.asking.tables.sql.cleaning import MOST_TEXTS, by_text, uncleaned
from groundplan.asking.tables.sql.conditions import all_of, known
from groundplan.asking.tables.sql.derived import under, value_of
from groundplan.asking.tables.sql.scope import Output, Scope, peeled
from groundplan.asking.tables.sql.single_values import as_aggregate
from groundplan.asking.tables.sql.statement import named, shown
from groundplan.asking.tables.sql.things import over_groups
from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.contracts.expression import (
    Absolute,
    Aggregate,
    Arithmetic,
    ArithmeticOperator,
    Bins,
    Cases,
    Column,
    Compare,
    Condition,
    Constant,
    Elapsed,
    Expression,
    Filled,
    Holds,
    Not,
    OneOf,
    Overall,
    Rounded,
)
from groundplan.contracts.normal_form import normal_expression
from groundplan.contracts.ranges import bin_labels

OPERATORS: Mapping[type[Any], ArithmeticOperator] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/"}
DOUBLES = frozenset({"DOUBLE", "FLOAT"})
CAST_TO_WHOLE = frozenset({"INT", "BIGINT", "SMALLINT", "TINYINT", "HUGEINT", "INT128", "UBIGINT", "UINT"})
TEXTS = frozenset({"VARCHAR", "TEXT", "CHAR"})
MOMENTS = frozenset({"TIMESTAMP", "TIMESTAMPNTZ", "DATETIME"})


def read_value(node: Any, scope: Scope) -> Expression:
    """The expression that SQL writes so; raises Untranslatable."""
    if node is None:
        raise Untranslatable("a function without its argument")
    reader = READERS.get(type(node))
    if reader is not None:
        return reader(node, scope)
    if isinstance(node, exp.Condition) and type(node) in CONDITIONS:
        return as_flag(scope.condition(node), scope)
    raise Untranslatable(named(node), shown(node))


def _inside(node: Any, scope: Scope) -> Expression:
    return scope.value(node.this)


def _column(node: Any, scope: Scope) -> Expression:
    found = scope.resolve(node)
    if not isinstance(found, Output):
        return found
    if found.scope is None:
        if found.expression is None:
            raise Untranslatable(f"the column {node.name}", "it has no value here")
        return found.expression
    return found.scope.value(found.node)


def number(text: str) -> int | float:
    return int(text) if text.isdigit() else float(text)


def _literal(node: Any, scope: Scope) -> Expression:
    return Constant(value=node.name if node.is_string else number(node.name))


def _boolean(node: Any, scope: Scope) -> Expression:
    return Constant(value=bool(node.this))


def _negative(node: Any, scope: Scope) -> Expression:
    value = scope.value(node.this)
    if isinstance(value, Constant) and isinstance(value.value, int | float):
        return Constant(value=-value.value)
    return arithmetic("-", Constant(value=0), value, scope)


def _arithmetic(node: Any, scope: Scope) -> Expression:
    operator = OPERATORS[type(node)]
    made = (
        windows.compared(node, scope)
        or time_spans.arithmetic(node, scope)
        or (_bins(node, scope) if operator == "*" else None)
    )
    if made is not None:
        return made
    right = divisor(node.expression, scope) if operator == "/" else node.expression
    return arithmetic(
        operator, scope.value(node.this), right if not isinstance(right, exp.Expr) else scope.value(right), scope
    )


def divisor(node: Any, scope: Scope) -> Any:
    """Without `NULLIF(…, 0)`: a division by zero has no value anyway."""
    inner, within = peeled(node, scope)
    if isinstance(inner, exp.Nullif) and _is_zero(inner.expression):
        return within.value(inner.this)
    return node


def _is_zero(node: Any) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string and float(node.name) == 0


def arithmetic(operator: ArithmeticOperator, left: Expression, right: Expression, scope: Scope) -> Expression:
    """Constants are computed; only numbers are combined. A time in seconds by 3600 is one in hours."""
    if isinstance(left, Constant) and isinstance(right, Constant):
        return _computed(operator, left.value, right.value)
    if operator == "/" and isinstance(left, Elapsed) and isinstance(right, Constant):
        unit = time_spans.longer_unit(left.unit, right.value)
        if unit is not None:
            return left.model_copy(update={"unit": unit})
    for side in (left, right):
        if scope.kind(side) not in ("number", "other"):
            raise Untranslatable(f"{operator} with {scope.kind(side)} values", "use numbers")
    return Arithmetic(operator=operator, left=left, right=right)


def _computed(operator: ArithmeticOperator, left: Any, right: Any) -> Expression:
    if isinstance(left, str | bool) or isinstance(right, str | bool):
        raise Untranslatable(f"{operator} with texts", f"{left!r} and {right!r}")
    match operator:
        case "+":
            return Constant(value=left + right)
        case "-":
            return Constant(value=left - right)
        case "*":
            return Constant(value=left * right)
    if right == 0:
        raise Untranslatable("a division by 0")
    return Constant(value=left / right)


def _bins(node: Any, scope: Scope) -> Expression | None:
    """`FLOOR(x / 10) * 10` is the lower edge of a range of width 10."""
    for side, width in ((node.this, node.expression), (node.expression, node.this)):
        cut, within = peeled(side, scope)
        while isinstance(cut, exp.Cast):
            cut, within = peeled(cut.this, within)
        wide, _ = peeled(width, scope)
        if not isinstance(cut, exp.Floor) or not isinstance(wide, exp.Literal) or cut.args.get("decimals"):
            continue
        ratio, inner = peeled(cut.this, within)
        if (
            isinstance(ratio, exp.Div)
            and isinstance(ratio.expression, exp.Literal)
            and float(ratio.expression.name) == float(wide.name) > 0
        ):
            return Bins(of=inner.value(ratio.this), width=float(wide.name))
    return None


def _coalesce(node: Any, scope: Scope) -> Expression:
    """Each value where those before it are missing; whatever follows one that never is, is left out."""
    inner, within = peeled(node.this, scope)
    if type(inner) in CONDITIONS and [*node.expressions] == [exp.false()]:
        return Holds(condition=within.condition(inner))
    found: list[Expression] = []
    for part in (node.this, *node.expressions):
        if isinstance(part, exp.Null):
            continue
        value = scope.value(part)
        found.append(value)
        computed = isinstance(value, Aggregate) and not isinstance(value.of, Column)
        if not computed and not scope.nullable(value):
            break
    kinds = {scope.kind(value) for value in found}
    if len(kinds) > 1 or (kinds == {"time"} and any(isinstance(value, Constant) for value in found)):
        raise Untranslatable("COALESCE of several kinds", shown(node))
    made = found.pop()
    while found:
        made = Filled(of=found.pop(), otherwise=made)
    return made


def _case(node: Any, scope: Scope) -> Expression:
    """Named groups: constants by conditions."""
    conditions, results = branches(node, scope)
    otherwise = node.args.get("default")
    other = None if otherwise is None or isinstance(otherwise, exp.Null) else scope.value(otherwise)
    values = [scope.value(result) for result in results]
    renamed = isinstance(other, Column) and _renamed_texts(conditions, values, other, scope)
    if renamed:
        return renamed
    if all(isinstance(value, Constant) for value in values) and (other is None or isinstance(other, Constant)):
        constants = tuple(value.value for value in values if isinstance(value, Constant))
        kinds = {
            type(value) if not isinstance(value, int | float) or isinstance(value, bool) else float
            for value in constants
        }
        if isinstance(other, Constant):
            kinds.add(type(other.value) if isinstance(other.value, bool | str) else float)
        if len(kinds) > 1:
            raise Untranslatable("CASE with results of several kinds", shown(node))
        return _ranges(conditions, constants, other, scope) or Cases(
            conditions=tuple(conditions),
            values=constants,
            otherwise=other.value if isinstance(other, Constant) else None,
        )
    if len(values) == 1 and _guards_division(conditions[0], values[0], other):
        return values[0]
    truncated = functions.toward_zero(conditions[0], values[0], other) if len(values) == 1 else None
    if truncated is not None:
        return truncated
    raise Untranslatable(
        "CASE with results that are no constants", f"{shown(node)}; inside an aggregate one is possible"
    )


def _renamed_texts(
    conditions: Sequence[Condition], values: Sequence[Expression], column: Column, scope: Scope
) -> Expression | None:
    """`CASE WHEN state IN ('paid', 'settled') THEN 'paid' ELSE state END`: each text of the column by its new name."""
    domain = scope.domain(column)
    names: dict[object, str] = {}
    for condition, value in zip(conditions, values, strict=True):
        texts = _texts_of(condition, column)
        if not texts or not isinstance(value, Constant) or not isinstance(value.value, str):
            return None
        names = {**dict.fromkeys(texts, value.value), **names}  # the first condition that holds
    if domain is None or len(domain) > MOST_TEXTS:
        return None
    return by_text(column, lambda text: names.get(text, text), domain)


def _texts_of(condition: Condition, column: Column) -> tuple[object, ...]:
    """`column = 'a'` and `column IN ('a', 'b')`: the texts."""
    match condition:
        case OneOf(of=of, values=texts) if of == column:
            return texts
        case Compare(left=left, operator="=", right=Constant(value=text)) if left == column:
            return (text,)
    return ()


def _ranges(
    conditions: Sequence[Condition], labels: tuple[object, ...], other: Expression | None, scope: Scope
) -> Expression | None:
    """`CASE WHEN x < 5 THEN 'under 5' … WHEN x >= 10 THEN '10 and over' END`: ranges under their usual names."""
    edges: list[float] = []
    of: Expression | None = None
    for place, one in enumerate(conditions):
        last = place == len(conditions) - 1
        match one:
            case Compare(left=left, operator="<" | ">=" as sign, right=Constant(value=int() | float() as edge)) if (
                sign == (">=" if last else "<") and (of is None or left == of)
            ):
                of = left
                edges.append(float(edge))
            case _:
                return None
    *below, top = edges
    if of is None or other is not None or not below or below[-1] != top or below != sorted({*below}):
        return None
    return Bins(of=of, edges=tuple(below)) if [*labels] == bin_labels(below, whole=is_whole(of, scope)) else None


def _guards_division(condition: Condition, value: Expression, other: Expression | None) -> bool:
    """`CASE WHEN b <> 0 THEN a / b END`: without a value where the divisor is 0, as any division."""
    if other is not None or not isinstance(value, Arithmetic) or value.operator != "/":
        return False
    divisor_ = normal_expression(value.right)
    match condition:
        case Compare(left=left, operator="!=" | ">", right=Constant(value=0 | 0.0)):
            return normal_expression(left) == divisor_ and condition.operator == "!="
    return False


def branches(node: Any, scope: Scope) -> tuple[list[Condition], list[Any]]:
    """The conditions of a CASE, and what each leads to, as written."""
    if isinstance(node, exp.If):
        return [scope.condition(node.this)], [node.args["true"]]
    conditions = []
    for branch in node.args["ifs"]:
        test = branch.this if node.this is None else exp.EQ(this=node.this, expression=branch.this)
        conditions.append(scope.condition(test))
    return conditions, [branch.args["true"] for branch in node.args["ifs"]]


def _if(node: Any, scope: Scope) -> Expression:
    whole = exp.Case(ifs=[exp.If(this=node.this, true=node.args["true"])], default=node.args.get("false"))
    return _case(whole, scope)


def as_flag(condition: Condition, scope: Scope) -> Expression:
    """Yes and no; missing where the condition is unknown."""
    if known(condition, scope):
        return Holds(condition=condition)
    return Cases(conditions=(condition, Not(part=condition)), values=(True, False))


def _cast(node: Any, scope: Scope) -> Expression:
    to = str(node.to.this.value if hasattr(node.to.this, "value") else node.to.this).upper()
    inner, within = peeled(uncleaned(node.this, scope), scope)
    value = within.value(inner)
    kind = within.kind(value)
    if to == "DATE":
        return dates.as_day(value, within)
    if to in MOMENTS:
        return dates.as_moment(value, within)
    if to in DOUBLES or to in CAST_TO_WHOLE or to == "DECIMAL":
        return _as_number(value, kind, to, within, node)
    if to in TEXTS and kind == "text":
        return value
    if to == "BOOLEAN" and kind == "boolean":
        return value
    raise Untranslatable(f"CAST of {kind} values to {to}", shown(node))


def _as_number(value: Expression, kind: str, to: str, scope: Scope, node: Any) -> Expression:
    if isinstance(value, Constant) and isinstance(value.value, str):
        try:
            return Constant(value=number(value.value) if value.value.isdigit() else float(value.value))
        except ValueError:
            raise Untranslatable(f"CAST of a text to {to}", shown(node)) from None
    if isinstance(value, Holds):
        return Cases(conditions=(value.condition,), values=(1,), otherwise=0)
    if isinstance(value, Cases) and isinstance(value.values[0], bool):
        return value.model_copy(
            update={
                "values": tuple(map(int, value.values)),
                "otherwise": None if value.otherwise is None else int(value.otherwise),
            }
        )
    if kind == "boolean":
        yes = Compare(left=value, operator="=", right=Constant(value=True))
        return Cases(conditions=(yes, Not(part=yes)), values=(1, 0))
    if kind == "number" and (to in DOUBLES or is_whole(value, scope)):
        return value
    if kind == "number" and to == "DECIMAL":
        return functions.rounded(value, "nearest", int(node.to.expressions[-1].name))  # (digits, those after the point)
    raise Untranslatable(f"CAST of {kind} values to {to}", shown(node))


def is_whole(node: Expression, scope: Scope) -> bool:
    """Whether its values are whole numbers for certain."""
    if isinstance(node, Column):
        return "INT" in scope.fact(node).type
    if isinstance(node, Constant):
        return isinstance(node.value, int)
    if isinstance(node, Arithmetic):
        return node.operator != "/" and is_whole(node.left, scope) and is_whole(node.right, scope)
    if isinstance(node, Bins):
        return node.width is not None and node.width.is_integer()
    if isinstance(node, Cases):
        return all(isinstance(one, int) for one in (*node.values, node.otherwise) if one is not None)
    if isinstance(node, Filled):
        return is_whole(node.of, scope) and is_whole(node.otherwise, scope)
    if isinstance(node, Rounded):
        return node.digits <= 0 or is_whole(node.of, scope)
    if isinstance(node, Absolute):
        return is_whole(node.of, scope)
    function = getattr(node, "function", None)
    if function in ("sum", "min", "max"):
        return is_whole(node.of, scope)  # type: ignore[union-attr]
    return node.kind in ("rows", "date_part", "length") or function in ("count", "count_distinct")


def _scalar(node: Any, scope: Scope) -> Expression:
    """`(SELECT AVG(x) FROM t)`: one number over all rows of a table, or over those that belong to each row."""
    tied = correlated.around(node, scope)
    if tied is not None:
        return tied
    query = as_aggregate(scope.session.query(node, scope.session, scope.ctes))
    if query.groups != () or query.having or query.series or len(query.outputs) != 1:
        raise Untranslatable("a subquery as a value", f"{shown(node)}; it has to be one aggregate of a table's rows")
    value, root, main = value_of(query.outputs[0]), query.scope.root, scope.alone
    about = main is not None and root == main.scope.root
    special = main is not None and is_special(main)
    if about and special and (query.things, query.where) == (main.things, main.where):
        return value
    if is_special(query):
        value = over_groups(value, query)
    if about and not special:
        return under(value, query)
    where = all_of(query.where)
    return Overall(table=root.name, of=value, where=where)


READERS: Mapping[type[Any], Callable[[Any, Scope], Expression]] = {
    exp.Paren: _inside,
    exp.Alias: _inside,
    exp.IgnoreNulls: _inside,
    exp.Column: _column,
    exp.Literal: _literal,
    exp.Boolean: _boolean,
    exp.Neg: _negative,
    exp.Add: _arithmetic,
    exp.Sub: _arithmetic,
    exp.Mul: _arithmetic,
    exp.Div: _arithmetic,
    exp.Coalesce: _coalesce,
    exp.Case: _case,
    exp.If: _if,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Subquery: _scalar,
    **cleaning.READERS,
    **dates.READERS,
    **time_spans.READERS,
    **functions.READERS,
    **integers.READERS,
    **measures.READERS,
    **windows.READERS,
}
CONDITIONS = frozenset(
    {
        exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Is, exp.In, exp.Between,
        exp.Like, exp.ILike, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Contains, exp.StartsWith, exp.EndsWith, exp.Exists,
        exp.LogicalOr, exp.LogicalAnd,
    }
)  # fmt: skip
