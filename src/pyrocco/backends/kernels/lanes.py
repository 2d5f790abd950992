"""Sixteen numbers at a time, said outright, for the loops that LLVM does not vectorise itself.

A `Lanes` value is a vector register (or a few of them): `load` and `store` move it, ``+``,
``-`` and ``*`` act on every lane, a scalar on the left of ``*`` on all of them. LLVM turns it
into whatever the processor has. Arrays are row-major and two-dimensional, and nothing checks
that sixteen numbers lie to the right of where one loads.
"""

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

# One cache line of float32.
LANES = 16
# A product may be fused with the sum it goes into, as in all our kernels.
_FUSED = ("contract",)
# numba's own types for it would have callers pass the typing context, which it passes itself.
_instruction: Any = intrinsic


class Lanes(types.Type):
    """Type of a vector of numbers of one type."""

    def __init__(self, dtype):
        self.dtype = dtype
        super().__init__(name=f"Lanes({dtype})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager, lanes):
        element = manager.lookup(lanes.dtype).get_value_type()
        super().__init__(manager, lanes, ir.VectorType(element, LANES))


def _address(context, builder, kind, array, row, column):
    """Pointer to the lanes of `array` that begin at a row and a column."""
    parts = context.make_array(kind)(context, builder, array)
    width = cgutils.unpack_tuple(builder, parts.shape)[1]
    first = builder.gep(parts.data, [builder.add(builder.mul(row, width), column)])
    return builder.bitcast(first, context.get_value_type(Lanes(kind.dtype)).as_pointer())


def _check(array):
    if not (isinstance(array, types.Array) and array.ndim == 2 and array.layout == "C"):
        raise TypeError(f"lanes are parts of row-major matrices, not of {array}")


@_instruction
def load(typing_context, array, row, column):
    """Lanes of a matrix from one place on."""
    _check(array)

    def generate(context, builder, signature, arguments):
        address = _address(context, builder, signature.args[0], *arguments)
        return builder.load(address, align=array.dtype.bitwidth // 8)

    return Lanes(array.dtype)(array, types.intp, types.intp), generate


@_instruction
def store(typing_context, array, row, column, lanes):
    """Put lanes into a matrix."""
    _check(array)

    def generate(context, builder, signature, arguments):
        address = _address(context, builder, signature.args[0], *arguments[:3])
        builder.store(arguments[3], address, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, lanes), generate


def _pick(builder, a, b, places):
    """Lanes of a, then of b, in the order of `places`."""
    mask = ir.Constant(ir.VectorType(ir.IntType(32), LANES), places)
    return builder.shuffle_vector(a, b, mask)


def _spread(builder, scalar, kind):
    nothing = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(nothing, scalar, ir.Constant(ir.IntType(32), 0))
    return _pick(builder, first, nothing, [0] * LANES)


@_instruction
def spread(typing_context, scalar):
    """The same number in all lanes."""

    def generate(context, builder, signature, arguments):
        return _spread(builder, arguments[0], context.get_value_type(signature.return_type))

    return Lanes(scalar)(scalar), generate


@_instruction
def widen(typing_context, lanes):
    """The same numbers as float64."""

    def generate(context, builder, signature, arguments):
        target = context.get_value_type(signature.return_type)
        return arguments[0] if arguments[0].type == target else builder.fpext(arguments[0], target)

    return Lanes(types.float64)(lanes), generate


@_instruction
def total(typing_context, lanes):
    """Sum of the lanes, by halves."""

    def generate(context, builder, signature, arguments):
        (value,), half = arguments, LANES // 2
        while half:
            turned = _pick(builder, value, value, [(k + half) % LANES for k in range(LANES)])
            value, half = builder.fadd(value, turned), half // 2
        return builder.extract_element(value, ir.Constant(ir.IntType(32), 0))

    return lanes.dtype(lanes), generate


def _flip(builder, rows):
    """Transpose LANES vectors: exchange off-diagonal halves of blocks of 2, 4, 8, 16."""
    places, half = range(LANES), 1
    while half < LANES:
        upper = [k if not k & half else LANES + (k ^ half) for k in places]
        lower = [k | half if not k & half else LANES + k for k in places]
        pairs = [(rows[k & ~half], rows[k | half]) for k in places]
        masks = [lower if k & half else upper for k in places]
        rows = [_pick(builder, *pair, mask) for pair, mask in zip(pairs, masks, strict=True)]
        half *= 2
    return rows


@_instruction
def transpose(typing_context, source, row, column, target, target_row, target_column):
    """Write the transpose of a LANES x LANES block of `source` into `target`."""
    _check(source)
    _check(target)
    place = types.intp

    def generate(context, builder, signature, arguments):
        def addresses(kind, array, first, start):
            for k in range(LANES):
                line = builder.add(first, ir.Constant(first.type, k))
                yield _address(context, builder, kind, array, line, start)

        align = source.dtype.bitwidth // 8
        inner = addresses(signature.args[0], *arguments[:3])
        rows = [builder.load(address, align=align) for address in inner]
        outer = addresses(signature.args[3], *arguments[3:])
        for address, flipped in zip(outer, _flip(builder, rows), strict=True):
            builder.store(flipped, address, align=align)
        return context.get_dummy_value()

    return types.void(source, place, place, target, place, place), generate


def _arithmetic(symbol, instruction):
    """Teach numba an operator on lanes, and on a scalar and lanes."""

    @type_callable(symbol)
    def kinds(context):
        def result(a, b):
            return b if isinstance(b, Lanes) and a in (b, b.dtype) else None

        return result

    @lower_builtin(symbol, Lanes, Lanes)
    def of_lanes(context, builder, signature, arguments):
        return getattr(builder, instruction)(*arguments, flags=_FUSED)

    @lower_builtin(symbol, types.Float, Lanes)
    def of_scalar(context, builder, signature, arguments):
        scalar, lanes = arguments
        both = (_spread(builder, scalar, lanes.type), lanes)
        return getattr(builder, instruction)(*both, flags=_FUSED)


_arithmetic(operator.add, "fadd")
_arithmetic(operator.sub, "fsub")
_arithmetic(operator.mul, "fmul")
_arithmetic(operator.truediv, "fdiv")
