"""Which whole-number tables agree: the Smith normal form, and short moves from one such table to another.

U C V = D with U, V of determinant 1 or -1 and D diagonal. The tables v with C v = 0 are the whole combinations of the
last columns of V; C v = t has a whole solution exactly if U t is divisible by D. The columns are then made short by the
algorithm of Lenstra, Lenstra and Lovász (1982): moves that people can read, such as "one from here to there".
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Matrix = list[list[int]]


def smith(matrix: Sequence[Sequence[int]]) -> tuple[Matrix, Matrix, Matrix]:
    """(U, D, V), by whole-number steps on rows and columns; D need not be sorted by divisibility.

    >>> smith([[2, 4, 4]])
    ([[1]], [[2, 0, 0]], [[1, -2, -2], [0, 1, 0], [0, 0, 1]])
    """
    diagonal = [list(map(int, row)) for row in matrix]
    rows, columns = len(diagonal), len(diagonal[0])
    left, right = _identity(rows), _identity(columns)
    for step in range(min(rows, columns)):
        while (place := _smallest(diagonal, step)) is not None:
            row, column = place
            _swap_rows(diagonal, left, step, row)
            _swap_columns(diagonal, right, step, column)
            _clear_rows(diagonal, left, step)
            _clear_columns(diagonal, right, step)
            if not any(diagonal[row][step] for row in range(step + 1, rows)) and not any(diagonal[step][step + 1 :]):
                break
    return left, diagonal, right


def moves(matrix: Sequence[Sequence[int]]) -> Matrix:
    """A short basis of all whole-number changes v with C v = 0.

    >>> moves([[1, 1, 1]])
    [[-1, 1, 0], [-1, 0, 1]]
    """
    _, diagonal, right = smith(matrix)
    rank = sum(1 for step in range(min(len(diagonal), len(diagonal[0]))) if diagonal[step][step])
    return reduced([[row[column] for row in right] for column in range(rank, len(right))])


def has_whole_solution(matrix: Sequence[Sequence[int]], totals: Sequence[int]) -> bool:
    """Whether any whole-number table has these totals.

    >>> has_whole_solution([[2, 4]], [6]), has_whole_solution([[2, 4]], [7])
    (True, False)
    """
    left, diagonal, _ = smith(matrix)
    for step, row in enumerate(left):
        wanted = sum(factor * total for factor, total in zip(row, totals, strict=True))
        divisor = diagonal[step][step] if step < len(diagonal[0]) else 0
        if wanted % divisor if divisor else wanted:
            return False
    return True


def reduced(basis: Matrix) -> Matrix:
    """The same lattice by short vectors (LLL with factor 3/4, in fractions)."""
    vectors = [list(vector) for vector in basis]
    orthogonal, factors = _orthogonal(vectors)
    at = 1
    while at < len(vectors):
        for other in range(at - 1, -1, -1):
            times = round(factors[at][other])
            if times:
                vectors[at] = [a - times * b for a, b in zip(vectors[at], vectors[other], strict=True)]
                for place in range(other):
                    factors[at][place] -= times * factors[other][place]
                factors[at][other] -= times
        here, before = _square(orthogonal[at]), _square(orthogonal[at - 1])
        if here >= (Fraction(3, 4) - factors[at][at - 1] ** 2) * before:
            at += 1
        else:
            vectors[at], vectors[at - 1] = vectors[at - 1], vectors[at]
            orthogonal, factors = _orthogonal(vectors)
            at = max(at - 1, 1)
    return vectors


def _orthogonal(vectors: Matrix) -> tuple[list[list[Fraction]], list[list[Fraction]]]:
    """Gram and Schmidt's vectors, and how much of each earlier one every vector holds."""
    orthogonal: list[list[Fraction]] = []
    factors: list[list[Fraction]] = []
    for vector in vectors:
        rest = [Fraction(entry) for entry in vector]
        held = []
        for earlier in orthogonal:
            held.append(sum((a * b for a, b in zip(vector, earlier, strict=True)), Fraction(0)) / _square(earlier))
            rest = [a - held[-1] * b for a, b in zip(rest, earlier, strict=True)]
        orthogonal.append(rest)
        factors.append(held)
    return orthogonal, factors


def _square(vector: list[Fraction]) -> Fraction:
    return sum((entry * entry for entry in vector), Fraction(0))


def _identity(size: int) -> Matrix:
    return [[int(row == column) for column in range(size)] for row in range(size)]


def _smallest(matrix: Matrix, step: int) -> tuple[int, int] | None:
    """Where the smallest entry other than 0 stands, from this row and column on."""
    places = [
        (abs(entry), row, column)
        for row in range(step, len(matrix))
        for column, entry in enumerate(matrix[row])
        if column >= step and entry
    ]
    return min(places)[1:] if places else None


def _swap_rows(matrix: Matrix, left: Matrix, first: int, second: int) -> None:
    for each in (matrix, left):
        each[first], each[second] = each[second], each[first]


def _swap_columns(matrix: Matrix, right: Matrix, first: int, second: int) -> None:
    for each in (matrix, right):
        for row in each:
            row[first], row[second] = row[second], row[first]


def _clear_rows(matrix: Matrix, left: Matrix, step: int) -> None:
    for row in range(step + 1, len(matrix)):
        times = matrix[row][step] // matrix[step][step]
        if times:
            for each in (matrix, left):
                each[row] = [a - times * b for a, b in zip(each[row], each[step], strict=True)]


def _clear_columns(matrix: Matrix, right: Matrix, step: int) -> None:
    for column in range(step + 1, len(matrix[0])):
        times = matrix[step][column] // matrix[step][step]
        if times:
            for each in (matrix, right):
                for row in each:
                    row[column] -= times * row[step]
