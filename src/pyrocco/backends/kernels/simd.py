"""SIMD vectors of sixteen numbers, for loops that LLVM does not vectorise by itself.

`load` and `store` move a vector from and to a row-major matrix. ``+``, ``-``, ``*`` and ``/`` act
on every lane; a scalar on the left acts on all lanes. LLVM maps a vector to the registers of the
processor. The caller must make sure that sixteen numbers follow the place that is loaded.

The operations are numba intrinsics in LLVM IR. If just-in-time compilation is disabled, NumPy
functions of the same names take their place.
"""

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

from pyrocco.backends.kernels.compile import JIT_IS_DISABLED

# One cache line of float32.
LANES = 16
# A product may be fused with a following sum, as in all kernels.
_FUSED = ("contract",)
# By its types in numba, callers would have to pass the typing context, which numba passes.
_instruction: Any = intrinsic


class Vector(types.Type):
    """Numba type of a vector of numbers of one dtype."""

    def __init__(self, dtype):
        self.dtype = dtype
        super().__init__(name=f"Vector({dtype})")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, vector):
        element = manager.lookup(vector.dtype).get_value_type()
        super().__init__(manager, vector, ir.VectorType(element, LANES))


def _address(context, builder, kind, array, row, column):
    """Return a pointer to the vector that begins at a row and a column of `array`."""
    parts = context.make_array(kind)(context, builder, array)
    width = cgutils.unpack_tuple(builder, parts.shape)[1]
    first = builder.gep(parts.data, [builder.add(builder.mul(row, width), column)])
    return builder.bitcast(first, context.get_value_type(Vector(kind.dtype)).as_pointer())


def _check(array):
    if not (isinstance(array, types.Array) and array.ndim == 2 and array.layout == "C"):
        raise TypeError(f"SIMD vectors are parts of row-major matrices, not of {array}")


@_instruction
def load(typing_context, array, row, column):
    """Load a vector from a matrix."""
    _check(array)

    def generate(context, builder, signature, arguments):
        address = _address(context, builder, signature.args[0], *arguments)
        return builder.load(address, align=array.dtype.bitwidth // 8)

    return Vector(array.dtype)(array, types.intp, types.intp), generate


@_instruction
def store(typing_context, array, row, column, vector):
    """Store a vector in a matrix."""
    _check(array)

    def generate(context, builder, signature, arguments):
        address = _address(context, builder, signature.args[0], *arguments[:3])
        builder.store(arguments[3], address, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, vector), generate


def _pick(builder, a, b, places):
    """Select lanes of a, numbered first, and of b."""
    mask = ir.Constant(ir.VectorType(ir.IntType(32), LANES), places)
    return builder.shuffle_vector(a, b, mask)


def _spread(builder, scalar, kind):
    nothing = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(nothing, scalar, ir.Constant(ir.IntType(32), 0))
    return _pick(builder, first, nothing, [0] * LANES)


@_instruction
def spread(typing_context, scalar):
    """Return a vector with the same number in all lanes."""

    def generate(context, builder, signature, arguments):
        return _spread(builder, arguments[0], context.get_value_type(signature.return_type))

    return Vector(scalar)(scalar), generate


@_instruction
def widen(typing_context, vector):
    """Convert a vector to float64."""

    def generate(context, builder, signature, arguments):
        target = context.get_value_type(signature.return_type)
        return arguments[0] if arguments[0].type == target else builder.fpext(arguments[0], target)

    return Vector(types.float64)(vector), generate


@_instruction
def total(typing_context, vector):
    """Sum the lanes, by halves."""

    def generate(context, builder, signature, arguments):
        (value,), half = arguments, LANES // 2
        while half:
            shifted = _pick(builder, value, value, [(k + half) % LANES for k in range(LANES)])
            value, half = builder.fadd(value, shifted), half // 2
        return builder.extract_element(value, ir.Constant(ir.IntType(32), 0))

    return vector.dtype(vector), generate


def _transposed(builder, rows):
    """Transpose LANES vectors: exchange off-diagonal halves of squares of size 2, 4, 8, 16."""
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
    """Write the transpose of a LANES x LANES part of `source` into `target`."""
    _check(source)
    _check(target)
    place = types.intp

    def generate(context, builder, signature, arguments):
        def addresses(kind, array, first, start):
            for k in range(LANES):
                row = builder.add(first, ir.Constant(first.type, k))
                yield _address(context, builder, kind, array, row, start)

        align = source.dtype.bitwidth // 8
        inner = addresses(signature.args[0], *arguments[:3])
        rows = [builder.load(address, align=align) for address in inner]
        outer = addresses(signature.args[3], *arguments[3:])
        for address, vector in zip(outer, _transposed(builder, rows), strict=True):
            builder.store(vector, address, align=align)
        return context.get_dummy_value()

    return types.void(source, place, place, target, place, place), generate


def _arithmetic(symbol, instruction):
    """Define an operator for two vectors, and for a scalar and a vector."""

    @type_callable(symbol)
    def kinds(context):
        def result(a, b):
            return b if isinstance(b, Vector) and a in (b, b.dtype) else None

        return result

    @lower_builtin(symbol, Vector, Vector)
    def of_vectors(context, builder, signature, arguments):
        return getattr(builder, instruction)(*arguments, flags=_FUSED)

    @lower_builtin(symbol, types.Float, Vector)
    def of_scalar(context, builder, signature, arguments):
        scalar, vector = arguments
        both = (_spread(builder, scalar, vector.type), vector)
        return getattr(builder, instruction)(*both, flags=_FUSED)


_arithmetic(operator.add, "fadd")
_arithmetic(operator.sub, "fsub")
_arithmetic(operator.mul, "fmul")
_arithmetic(operator.truediv, "fdiv")


def _plain_load(array, row, column):
    return array[row, column : column + LANES].copy()


def _plain_store(array, row, column, vector):
    array[row, column : column + LANES] = vector


def _plain_spread(scalar):
    return np.full(LANES, scalar)


def _plain_widen(vector):
    return vector.astype(np.float64)


def _plain_transpose(source, row, column, target, target_row, target_column):
    part = source[row : row + LANES, column : column + LANES]
    target[target_row : target_row + LANES, target_column : target_column + LANES] = part.T


if JIT_IS_DISABLED:
    load, store, transpose = _plain_load, _plain_store, _plain_transpose
    spread, widen, total = _plain_spread, _plain_widen, np.sum
