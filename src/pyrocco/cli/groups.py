"""Options in groups: a command takes one object for the options that belong together."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints

__all__ = ["grouped"]


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Let a parameter that is a dataclass stand for one option per field.

    Parameters
    ----------
    command : callable
        Some of its parameters are annotated with dataclasses, whose fields are annotated as
        options are.

    Returns
    -------
    callable
        The same command as typer wants it, with the fields as parameters.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Size:
    ...     width: int = 3
    ...     height: int = 4
    >>> def area(size: Size, unit: str = "m") -> None:
    ...     print(size.width * size.height, unit)
    >>> list(inspect.signature(grouped(area)).parameters)
    ['width', 'height', 'unit']
    >>> grouped(area)(width=5, unit="cm")
    20 cm
    """
    hints = get_type_hints(command, include_extras=True)
    wanted = inspect.signature(command).parameters
    groups = {name: hints[name] for name in wanted if is_dataclass(hints[name])}
    parameters: list[inspect.Parameter] = []
    for name, parameter in wanted.items():
        flat = parameter.replace(kind=parameter.KEYWORD_ONLY, annotation=hints[name])
        parameters += _fields(groups[name]) if name in groups else [flat]

    def run(**values: Any) -> None:
        for name, group in groups.items():
            names = [field.name for field in fields(group) if field.name in values]
            values[name] = group(**{each: values.pop(each) for each in names})
        command(**values)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run


def _fields(group: type) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]
