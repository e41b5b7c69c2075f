"""Questions read from SQL: a SELECT with GROUP BY and HAVING, or several joined by INTERSECT and UNION.

What is not known here is refused with its place marked, never left out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, cast

from sqlglot import exp

from louver.question.checks import check, check_text
from louver.question.nodes import Aggregate, All, Any, Classes, Comparison, Flag, Question, Threshold, Values
from louver.question.normal import normal, shared_parts
from louver.question.refusal import SHAPE, QuestionError
from louver.question.sql_aggregates import Grouped
from louver.question.sql_conditions import comparison, condition
from louver.question.sql_filters import SIGNS, row_filter
from louver.question.sql_names import Names, names_of
from louver.question.sql_text import Text, parsed
from louver.question.sql_tree import only, outside_aggregates, unwrapped
from louver.source.filters import EVERY_ROW, Missing, Not, columns, conjuncts


def from_sql(sql: str, *, dialect: str = "duckdb") -> Question:
    """The question behind SQL, in its normal form; `dialect` is duckdb, postgres or spark."""
    text, tree = parsed(sql, dialect)
    try:
        with text.at(tree):
            return normal(_asked(text, tree).question)
    except RecursionError:
        raise QuestionError("The SQL is nested too deeply to be read; write it flatter.") from None


class _Asked(NamedTuple):
    """A question, and what its SELECT lists in which order: INTERSECT and UNION compare columns by their place."""

    question: Question
    listed: tuple[object, ...] = ()


def _asked(text: Text, given: exp.Expr) -> _Asked:
    node = given
    while isinstance(node, exp.Subquery):
        only(text, node, "this")
        node = node.this
    if isinstance(node, exp.Select):
        return _selected(text, node)
    if isinstance(node, exp.Union | exp.Intersect):
        return _combined(text, node)
    if isinstance(node, exp.Except):
        raise text.refusal(
            "EXCEPT is not supported; join questions with INTERSECT or UNION, and negate with NOT in HAVING.", "EXCEPT"
        )
    raise text.refusal(f"This is no question; {SHAPE}.", node)


def _combined(text: Text, node: exp.SetOperation) -> _Asked:
    """INTERSECT is AND, and UNION is OR, of questions about the same keys of the same table."""
    only(text, node, "this", "expression", "distinct")
    word = "UNION" if isinstance(node, exp.Union) else "INTERSECT"
    if not node.args.get("distinct"):
        raise text.refusal(f"Each key comes once; write {word} without ALL.", "ALL")
    (first, listed), (second, listed_there) = _asked(text, node.this), _asked(text, node.args["expression"])
    if not isinstance(first, Flag) or not isinstance(second, Flag):
        raise text.refusal(f"{word} joins questions with HAVING; values and classes are asked for by themselves.", word)
    if set(first.keys) != set(second.keys):
        raise text.refusal(f"{word} joins questions about the same keys.", word)
    if (first.table, first.domain) != (second.table, second.domain):
        raise text.refusal(f"{word} joins questions about the same table and the same domain.", word)
    if listed != listed_there:
        raise text.refusal(
            f"{word} compares columns by their place; select the same columns in the same order on both sides.", word
        )
    kind = Any if isinstance(node, exp.Union) else All
    return _Asked(replace(first, condition=kind((first.condition, second.condition))), listed)


def _selected(text: Text, select: exp.Select) -> _Asked:
    only(text, select, "expressions", "from_", "joins", "where", "group", "having")
    names = names_of(text, select)
    for name in (names.table, names.domain):
        if name is not None:
            with text.at(select.args["from_"]):
                check_text("The name of a table", name)
    where = select.args.get("where")
    grouped = Grouped(names, EVERY_ROW if where is None else row_filter(names, where.this), _keys(names, select))
    having = select.args.get("having")
    if having is not None:
        listed = _listed(grouped, select)
        asked = _Asked(Flag(condition(grouped, having.this), grouped.keys, names.table, names.domain), listed)
    else:
        asked = _Asked(_released(grouped, select))
    _check_filters(grouped, asked.question, select)
    return asked


def _check_filters(grouped: Grouped, asked: Question, select: exp.Select) -> None:
    """Refuses FILTER on keys where it would be taken for WHERE: that leaves keys out, and FILTER only empties them."""
    for part in shared_parts(asked):
        if part in conjuncts(grouped.where) or part == Not(Missing(next(columns(part)))):
            continue
        key = next((column for column in columns(part) if column in asked.keys), None)
        if key is not None:
            raise grouped.names.text.refusal(
                f"A condition on the key {key!r} goes to WHERE, which leaves the other keys out of the answer.",
                select.find(exp.Filter),
                select.find(exp.CountIf, exp.Case),
                select.args.get("having"),
            )


def _keys(names: Names, select: exp.Select) -> tuple[str, ...]:
    """The columns of GROUP BY, without those of the domain, which plain SQL wants there as well."""
    group = select.args.get("group")
    if group is not None:
        only(names.text, group, "expressions")
    public = _thresholds(names, select)
    keys: dict[str, exp.Expr] = {}
    of_domain: dict[str, exp.Expr] = {}
    for given in group.expressions if group is not None else ():
        node = names.unaliased(_by_position(names.text, select, given))
        if isinstance(node, exp.Column) and names.domain is not None and node.name not in names.joined_by:
            qualified = bool(node.args.get("table"))
            if names.of_domain(node) or (not qualified and node.name in public):
                of_domain.setdefault(node.name, given)
                continue
        if isinstance(node, exp.Rollup | exp.Cube | exp.GroupingSets | exp.Tuple):
            raise names.text.refusal(
                "Name the keys in GROUP BY; an aggregate over fewer keys is per(count(*), building).", node, given
            )
        keys.setdefault(names.row_column(node), given)
    if names.domain is not None:
        _check_joined(names, keys, of_domain)
    return tuple(keys)


def _check_joined(names: Names, keys: dict[str, exp.Expr], of_domain: dict[str, exp.Expr]) -> None:
    """Refuses a domain that is joined on other columns than the keys: SQL would count other rows."""
    missing = next((column for column in names.joined_by if column not in keys), None)
    if missing is not None and of_domain:
        column, place = next(iter(of_domain.items()))
        raise names.text.refusal(
            f"Group by {missing!r} as well, on which the domain is joined; a roll-up needs {column!r} in the rows "
            "themselves: group by it there, with a domain whose key it is.",
            place,
        )
    if missing is not None:
        raise names.text.refusal(
            f"The domain is joined on {missing!r}, which is no key in GROUP BY; join it on exactly the keys.",
            names.joined_by[missing],
        )
    beside = next((key for key in keys if key not in names.joined_by), None)
    if beside is not None:
        raise names.text.refusal(
            f"The domain is not joined on {beside!r}, which is a key in GROUP BY; join it on exactly the keys, and "
            "write a column of the domain with its table, like rooms.capacity.",
            keys[beside],
        )


def _thresholds(names: Names, select: exp.Select) -> set[str]:
    """Bare columns that are compared with aggregates, so that with a domain joined they must be its own."""
    having = select.args.get("having")
    places = [having] if having is not None else [each for each in select.expressions if each.find(exp.Case)]
    found = (column for place in places for column in outside_aggregates(place))
    return {column.name for column in found if column.name.lower() not in names.aliases}


def _by_position(text: Text, select: exp.Select, node: exp.Expr) -> exp.Expr:
    """GROUP BY 1 is the first column of the SELECT."""
    if not isinstance(node, exp.Literal):
        return node
    number = int(node.name) if not node.is_string and node.name.isdecimal() and len(node.name) < 5 else 0
    if not 1 <= number <= len(select.expressions):
        raise text.refusal("GROUP BY names columns, or the columns of the SELECT by their number.", node)
    return cast(exp.Expr, select.expressions[number - 1].unalias())


def _listed(grouped: Grouped, select: exp.Select) -> tuple[object, ...]:
    """What is selected. With HAVING, that is all keys, columns of the domain, and aggregates only to be named."""
    text = grouped.names.text
    having = {column.name.lower() for column in outside_aggregates(select.args["having"])}
    listed: list[object] = []
    for item in select.expressions:
        node = unwrapped(item.unalias())
        public = grouped.public_column(node)
        if isinstance(node, exp.Literal) and not grouped.keys:
            listed.append(("literal", node.is_string, node.name))
        elif public is not None or _is_public(grouped, node):
            listed.append(("domain", public or node.name))
        elif (aggregate := grouped.aggregate(node)) is None:
            listed.append(_key(grouped, node))
        elif item.alias.lower() in having:
            listed.append(aggregate)
        else:
            raise text.refusal(
                "With HAVING the answer is the keys alone; select no aggregate, or leave HAVING out to get values.",
                node,
            )
    missing = next((key for key in grouped.keys if key not in listed), None)
    if missing is not None:
        raise text.refusal(f"The answer is about all keys of GROUP BY; select {missing!r} as well.", "SELECT")
    return tuple(listed)


def _is_public(grouped: Grouped, node: exp.Expr) -> bool:
    """Whether this is a column of the domain, which may be selected and changes nothing."""
    names = grouped.names
    return isinstance(node, exp.Column) and names.of_domain(node) and node.name not in grouped.keys


def _key(grouped: Grouped, node: exp.Expr) -> str:
    names = grouped.names
    if isinstance(node, exp.Star):
        raise names.text.refusal("Name the keys in SELECT instead of *.", node)
    column = names.row_column(node)
    if column not in grouped.keys:
        raise names.text.refusal(f"{column!r} is selected, so it must be a key in GROUP BY.", node)
    return column


def _released(grouped: Grouped, select: exp.Select) -> Values | Classes:
    """Without HAVING, the aggregates are asked for, or the classes they are in."""
    names, text = grouped.names, grouped.names.text
    aggregates: list[Aggregate] = []
    called: list[str | None] = []
    cases: list[tuple[exp.Case, str | None]] = []
    for item in select.expressions:
        node = unwrapped(item.unalias())
        if grouped.public_column(node) is not None or _is_public(grouped, node):
            continue
        if isinstance(node, exp.Case) and node.find(exp.AggFunc) is not None:
            cases.append((node, item.alias or None))
        elif (aggregate := grouped.aggregate(node)) is not None:
            aggregates.append(aggregate)
            called.append(item.alias or None)
        else:
            _key(grouped, node)
    if cases and (aggregates or len(cases) > 1):
        raise text.refusal("Classes are asked for by themselves: the keys and one CASE.", cases[-1][0])
    if cases:
        return _classes(grouped, *cases[0])
    if not aggregates:
        raise text.refusal("HAVING is missing: say which keys to flag, as in HAVING count(*) > 100.", "SELECT")
    return Values(tuple(aggregates), grouped.keys, names.table, names.domain, tuple(called) if any(called) else ())


def _classes(grouped: Grouped, case: exp.Case, name: str | None) -> Classes:
    """CASE WHEN count(*) > high THEN ... WHEN count(*) > low THEN ... ELSE ... END, or from below with <=."""
    names, text = grouped.names, grouped.names.text
    only(text, case, "ifs", "default")
    steps = [(_step(grouped, branch.this), _name(text, branch.args["true"], case)) for branch in case.args["ifs"]]
    cuts = [cast(Threshold, step.right) for step, _ in steps]
    named = [*(name for _, name in steps), _name(text, case.args.get("default"), case)]
    signs = {step.sign for step, _ in steps}
    if len({step.left for step, _ in steps}) > 1 or signs not in ({">"}, {"<="}):
        raise text.refusal(
            "Classes compare one aggregate, each time with > from the highest cut down, or with <= from the lowest up.",
            case,
        )
    if signs == {">"}:
        cuts.reverse()
        named.reverse()
    made = Classes(steps[0][0].left, tuple(cuts), tuple(named), grouped.keys, names.table, names.domain, name)
    with text.at(case):
        check(made)
    return made


def _step(grouped: Grouped, given: exp.Expr) -> Comparison:
    node = unwrapped(given)
    if type(node) in SIGNS:
        made = comparison(grouped, node, node.this, SIGNS[type(node)], node.args["expression"])
        if isinstance(made.right, Threshold):
            return made
    raise grouped.names.text.refusal(
        "A class begins where one aggregate passes a threshold, as in WHEN count(*) > 100.", node
    )


def _name(text: Text, node: exp.Expr | None, case: exp.Expr) -> str:
    if not isinstance(node, exp.Literal) or not node.is_string:
        raise text.refusal("Each class has a name in quotes, and ELSE names the last one.", node, case)
    return node.name
