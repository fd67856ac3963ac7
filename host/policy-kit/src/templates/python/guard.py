"""Turns whatever goes wrong in a stage into a text with its message and place. Plain Python: `python3 -m unittest` tests it.

The component has no output for a traceback: without this, an uncaught exception or a result of a wrong type ends the call
without a message.
"""

import dataclasses
import functools
import os.path
import traceback
import types
import typing


def told(failure):
    """Returns a decorator for a stage. `failure` makes the contract's failure, an exception, from a text."""
    expected = type(failure(""))

    def decorate(stage):
        @functools.wraps(stage)
        def guarded(*inputs):
            try:
                result = stage(*inputs)
                wrong = misfit(result, typing.get_type_hints(stage).get("return", typing.Any), "the result")
            except expected:
                raise
            except Exception as error:
                raise failure(f"{type(error).__name__}: {error}{place(error)}") from None
            if wrong is not None:
                raise failure(f"TypeError: {stage.__qualname__} returned a wrong type: {wrong}")
            return result

        return guarded

    return decorate


def place(error):
    """Returns the lines of the policy that led to the error, innermost first."""
    # `traceback.format_exception` reads source files, and there are none.
    frames = [(frame.f_code, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    own = [(code, line) for code, line in frames[1:] if not code.co_filename.startswith("/python/")]
    return "".join(
        f"\n  at {os.path.basename(code.co_filename)}, line {line}, in {code.co_name}" for code, line in reversed(own[-10:])
    )


def misfit(value, wanted, name):
    """Returns which part of the value does not have the type that is wanted, or None."""
    origin, inner = typing.get_origin(wanted), typing.get_args(wanted)
    if origin in (typing.Union, types.UnionType):
        wrong = [misfit(value, kind, name) for kind in inner]
        # Of several types, the one of this class says most about what is wrong.
        near = [text for text, kind in zip(wrong, inner) if isinstance(kind, type) and isinstance(value, kind)]
        return None if None in wrong else (near or [_is_no(value, wanted, name)])[0]
    if origin is list and isinstance(value, list):
        parts = (misfit(item, inner[0], f"{name}[{at}]") for at, item in enumerate(value))
        return next((wrong for wrong in parts if wrong is not None), None)
    if dataclasses.is_dataclass(wanted) and isinstance(value, wanted):
        fields = typing.get_type_hints(wanted)
        parts = (misfit(getattr(value, field), kind, f"{name}.{field}") for field, kind in fields.items())
        return next((wrong for wrong in parts if wrong is not None), None)
    kind = origin or wanted
    # Whatever is no class (a type variable, for example) is left to componentize-py.
    fits = not isinstance(kind, type) or isinstance(value, (int, float) if kind is float else kind)
    return None if fits else _is_no(value, wanted, name)


def _is_no(value, wanted, name):
    return f"{name} is a {type(value).__name__}, not {getattr(wanted, '__name__', wanted)}"
