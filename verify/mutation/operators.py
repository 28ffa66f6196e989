"""What a mutation may be: for a node of the syntax tree, the nodes that could stand there instead.

Texts are left alone (they are for people, and tests of wording are elsewhere), and so are annotations, defaults, decorators and
everything outside functions.
"""

import ast
from collections.abc import Iterator
from typing import Final

_COMPARISONS: Final[dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_ARITHMETIC: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.Pow: ast.Mult,
}


def replacements(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """(kind of mutation, the node that stands there instead) for each mutation of this node itself."""
    match node:
        case ast.Compare():
            yield from _compared(node)
        case ast.BinOp() if type(node.op) in _ARITHMETIC:
            yield "arithmetic", _like(node, ast.BinOp(node.left, _ARITHMETIC[type(node.op)](), node.right))
        case ast.AugAssign() if type(node.op) in _ARITHMETIC:
            yield "arithmetic", _like(node, ast.AugAssign(node.target, _ARITHMETIC[type(node.op)](), node.value))
            yield "deleted", _like(node, ast.Pass())
        case ast.BoolOp():
            other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield "boolean", _like(node, ast.BoolOp(other, node.values))
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield "boolean" if isinstance(node.op, ast.Not) else "arithmetic", node.operand
        case ast.Constant():
            yield from _constant(node)
        case ast.Return(value=ast.expr() as value) if not (isinstance(value, ast.Constant) and not value.value):
            yield "return", _like(node, ast.Return(_like(value, ast.Constant(None))))
        case _:
            yield from _statement(node)


def _compared(node: ast.Compare) -> Iterator[tuple[str, ast.AST]]:
    for index, operator in enumerate(node.ops):
        for other in _COMPARISONS.get(type(operator), ()):
            kind = "boundary" if {type(operator), other} in ({ast.Lt, ast.LtE}, {ast.Gt, ast.GtE}) else "comparison"
            operators = [*node.ops[:index], other(), *node.ops[index + 1 :]]
            yield kind, _like(node, ast.Compare(node.left, operators, node.comparators))


def _constant(node: ast.Constant) -> Iterator[tuple[str, ast.AST]]:
    value = node.value
    if isinstance(value, bool):
        yield "constant", _like(node, ast.Constant(not value))
    elif isinstance(value, int | float):
        yield "constant", _like(node, ast.Constant(value + 1))


def _statement(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case (
            ast.If(test=ast.Name() | ast.Attribute() | ast.Call() as test)
            | ast.While(test=ast.Name() | ast.Call() as test)
        ):
            negated = _like(test, ast.UnaryOp(ast.Not(), test))
            made = ast.While if isinstance(node, ast.While) else ast.If
            yield "condition", _like(node, made(negated, node.body, node.orelse))
        case ast.IfExp():
            negated = _like(node.test, ast.UnaryOp(ast.Not(), node.test))
            yield "condition", _like(node, ast.IfExp(negated, node.body, node.orelse))
        case ast.Continue():
            yield "loop", _like(node, ast.Break())
        case ast.Break():
            yield "loop", _like(node, ast.Continue())
        case ast.Expr(value=ast.Call()) | ast.Delete() | ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield "deleted", _like(node, ast.Pass())


def _like(place: ast.AST, made: ast.AST) -> ast.expr:
    """The new node at the place of the old one (typed as an expression: it stands where one did)."""
    return ast.fix_missing_locations(ast.copy_location(made, place))  # type: ignore[return-value]
