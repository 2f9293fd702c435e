"""Functions that travel: their source, and what it names, becomes a program of its own; arguments and results are JSON.

    berth_call.py     imports, constants and functions that the function names, itself, and at the end RUNNER
    its argument      {"calls": [[arguments, named ones], ...], "trust": false, "result": "berth_result.json", "nodes": []}, or @berth_arguments.json where it is
                      long; nodes: [which argument, file] where that is the result of another node of a workflow
    berth_result.json {"berth": 1, "results": [{"value": ...} or {"error": {"type", "text", "traceback"}}, ...]}

Only where both sides trust each other (`trust=True`) values are pickles, in base64. Reading a pickle runs code that it brings: the machine that answers
could run what it likes here, with all rights of who reads."""
from __future__ import annotations

import ast
import base64
import builtins
import dis
import inspect
import json
import keyword
import pickle
import sys
import textwrap
import types
from collections.abc import Callable, Sequence
from typing import Any

from ._errors import BadAnswer, PoolError, RemoteError
from ._wire import shown

PROGRAM, ARGUMENTS, RESULT = "berth_call.py", "berth_arguments.json", "berth_result.json"
RESULTS = "berth_result."  # with which the name of a file of results begins
ARGUMENT_MAX = 16 * 1024  # bytes that go in the job's ad; more becomes a file
SOURCE_MAX = 1 << 20
RESULT_MAX = 64 << 20     # bytes of a result that are taken, unless the caller says otherwise

# Runs where the job runs, with whatever Python is there: nothing newer than 3.7. NAME stands for the function.
RUNNER = '''
_berth_function = NAME


def _berth_run():
    import base64, json, pickle, sys, traceback
    text = sys.argv[1]
    if text.startswith("@"):
        with open(text[1:], encoding="ascii") as file:
            text = file.read()
    order = json.loads(text)
    trust = order["trust"]
    results, bad = [], False
    for call in order["calls"]:
        try:
            arguments, named = pickle.loads(base64.b64decode(call)) if trust else call
            for which, name in order["nodes"]:
                with open(name, encoding="ascii") as file:
                    value = json.load(file)["results"][0]["value"]
                (named if isinstance(which, str) else arguments)[which] = pickle.loads(base64.b64decode(value)) if trust else value
            value = _berth_function(*arguments, **named)
            try:
                results.append({"value": base64.b64encode(pickle.dumps(value, 4)).decode() if trust else json.loads(json.dumps(value))})
            except (TypeError, ValueError, AttributeError, RecursionError, pickle.PicklingError) as error:
                how = "cannot be pickled" if trust else "is not JSON (trust=True sends it as a pickle)"
                raise TypeError("the result, a %s, %s: %s" % (type(value).__name__, how, error)) from None
        except Exception as error:
            bad = True
            results.append({"error": {"type": type(error).__name__, "text": str(error)[:20000], "traceback": traceback.format_exc()[-50000:]}})
    with open(order["result"], "w", encoding="ascii") as file:
        json.dump({"berth": 1, "results": results}, file)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    _berth_run()
'''


class CannotTravel(PoolError, TypeError):
    """A function whose source is not to be had, or that needs what does not go with it."""


def _lambda_of(function: types.FunctionType) -> ast.Lambda:
    """The lambda of a file that the function is: of several in a line the one that compiles to the same."""
    code = function.__code__
    try:
        lines, _ = inspect.findsource(function)
        tree = ast.parse("".join(lines))
    except (OSError, SyntaxError, TypeError) as error:
        raise CannotTravel(f"the source of this lambda cannot be read ({error}): a function by def in a file can travel") from error
    alike = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda) and node.lineno <= code.co_firstlineno <= (node.end_lineno or node.lineno):
            made = compile(ast.fix_missing_locations(ast.Expression(node)), "<lambda>", "eval").co_consts
            inner = next((c for c in made if isinstance(c, types.CodeType)), None)
            if inner and inner.co_code == code.co_code and inner.co_consts == code.co_consts and inner.co_names == code.co_names:
                alike.append(node)
    if not alike:
        raise CannotTravel("the source of this lambda is not found: a function by def in a file can travel")
    return alike[0]


def _definition(function: types.FunctionType) -> tuple[str, ast.AST]:
    if function.__name__ == "<lambda>":
        node = _lambda_of(function)
        return ast.unparse(node), node
    try:
        source = textwrap.dedent(inspect.getsource(function))
        tree = ast.parse(source).body[0]
    except (OSError, SyntaxError, TypeError, IndexError) as error:
        raise CannotTravel(f"the source of {function.__name__}() is not to be had ({error}): what is typed at a prompt cannot travel, what stands in a file can") from error
    if not isinstance(tree, ast.FunctionDef):
        raise CannotTravel(f"{function.__name__}() is not a plain function" + (": an async one does not travel" if isinstance(tree, ast.AsyncFunctionDef) else ""))
    if tree.decorator_list:
        raise CannotTravel(f"{function.__name__}() is decorated: a plain function can travel")
    return ast.unparse(tree), tree


def _code_names(code: types.CodeType) -> tuple[set[str], set[str]]:
    """The names that a function's code looks for outside of it, those of functions inside it as well; and the names of all attributes that it reads."""
    outside = {step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")}
    words = set(code.co_names)
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            inner = _code_names(each)
            outside |= inner[0]
            words |= inner[1]
    return outside, words


def _is_plain(value: object, depth: int = 0) -> bool:
    if isinstance(value, (list, tuple)) and depth < 20:
        return all(_is_plain(each, depth + 1) for each in value)
    if isinstance(value, dict) and depth < 20:
        return all(_is_plain(k, depth + 1) and _is_plain(v, depth + 1) for k, v in value.items())
    return value is None or type(value) in (bool, int, str, bytes) or (type(value) is float and value == value and abs(value) != float("inf"))


class _Bundle:
    """Collects what a function names, and what that names in turn."""

    def __init__(self) -> None:
        self.imports: set[str] = set()
        self.constants: dict[str, str] = {}
        self.functions: dict[str, tuple[types.FunctionType, str]] = {}

    def add(self, function: types.FunctionType, name: str) -> None:
        if name in self.functions:
            if self.functions[name][0] is not function:
                raise CannotTravel(f"there are two functions called {name}()")
            return
        if function.__code__.co_freevars:
            raise CannotTravel(f"{name}() uses {', '.join(function.__code__.co_freevars)} of the function around it: give that as an argument")
        text, node = _definition(function)
        if isinstance(node, ast.Lambda):
            text = f"{name} = {text}"
        elif isinstance(node, ast.FunctionDef) and node.name != name:
            text += f"\n\n\n{name} = {node.name}"
        self.functions[name] = (function, text)
        outside, words = _code_names(function.__code__)
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):  # defaults are evaluated where the function is made
            for default in [*node.args.defaults, *node.args.kw_defaults]:
                outside |= {n.id for n in ast.walk(default) if isinstance(n, ast.Name)} if default else set()
        for each in sorted(outside & set(function.__globals__) - {name}):
            if not each.startswith("__"):
                self._global(each, function.__globals__[each], name, words)

    def _global(self, name: str, value: object, user: str, words: set[str]) -> None:
        if isinstance(value, types.ModuleType):
            home = value.__name__
            self.imports.add(f"import {home}" if home == name else f"import {home} as {name}")
            # `import a.b` gives the name a: b is loaded, and read as an attribute
            for part in sorted(sys.modules):
                if part.startswith(home + ".") and set(part[len(home) + 1:].split(".")) <= words:
                    self.imports.add(f"import {part}")
        elif _is_plain(value):
            self.constants[name] = f"{name} = {value!r}"
        elif isinstance(value, types.FunctionType) and self._is_ours(value, user):
            self.add(value, name)
        else:
            source = getattr(value, "__module__", None)
            own = getattr(value, "__qualname__", getattr(value, "__name__", ""))
            if not isinstance(source, str) or source == "__main__" or getattr(sys.modules.get(source), str(own), None) is not value:
                raise CannotTravel(f"{user}() uses {name}, a {type(value).__name__}, which does not travel: import or make it in the function, or give it as an argument")
            if source != "builtins" or own != name:
                self.imports.add(f"from {source} import {own} as {name}")

    def _is_ours(self, value: types.FunctionType, user: str) -> bool:
        """Is it a function of the caller's own, and not one of a library, which is imported where the job runs?"""
        known = self.functions.get(user)
        return value.__module__ == "__main__" or (known is not None and value.__module__ == known[0].__module__)


def program_of(function: Callable[..., Any]) -> str:
    """The program that runs a function with what it names; CannotTravel where that cannot be."""
    bundle = _Bundle()
    name = getattr(function, "__name__", "")
    if isinstance(function, types.FunctionType):
        name = "function" if name == "<lambda>" else name
        bundle.add(function, name)
    elif isinstance(function, types.BuiltinFunctionType) and (function.__self__ is None or isinstance(function.__self__, types.ModuleType)) and name.isidentifier():
        if function.__module__ != "builtins":
            bundle.imports.add(f"from {function.__module__} import {name}")
    elif isinstance(function, type) and getattr(builtins, name, None) is function:
        pass
    else:
        raise CannotTravel(f"a {type(function).__name__} does not travel: it takes a plain function")
    if keyword.iskeyword(name):
        raise CannotTravel(f"{name} is not the name of a function")
    # What was annotated need not be there where it runs, where nothing reads it.
    parts = ["from __future__ import annotations\n"]
    parts += sorted(bundle.imports) + list(bundle.constants.values())
    parts += ["\n\n" + text for _, text in reversed(bundle.functions.values())]
    text = "\n".join(parts) + "\n\n" + RUNNER.replace("NAME", name)
    if len(text) > SOURCE_MAX:
        raise CannotTravel("the function and what it names are too large")
    return text


def arguments_of(calls: Sequence[tuple[Sequence[Any], dict[str, Any]]], trust: bool, result: str = RESULT, nodes: Sequence[tuple[Any, str]] = ()) -> str:
    """What the program is given for some calls."""
    if trust:
        packed: list[Any] = [base64.b64encode(pickle.dumps((list(a), k), 4)).decode() for a, k in calls]
    else:
        packed = [[list(a), k] for a, k in calls]
    try:
        text = json.dumps({"calls": packed, "trust": trust, "result": result, "nodes": nodes}, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(f"arguments travel as JSON, and these cannot ({error}): trust=True sends them as a pickle") from None
    return text


def results_of(raw: bytes, count: int, trust: bool, job: Any) -> list[Any]:
    """What a job has answered: for each call its value, or a RemoteError. BadAnswer for anything else."""

    def bad(why: object) -> BadAnswer:
        return BadAnswer(f"job {job.id}: its result is not one: {shown(why, 300)}", "bad answer")

    try:
        told = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise bad(error) from error
    rows = told.get("results") if isinstance(told, dict) else None
    if not isinstance(rows, list) or len(rows) != count:
        raise bad(f"{count} results are expected")
    found: list[Any] = []
    for row in rows:
        raised = row.get("error") if isinstance(row, dict) else None
        if isinstance(raised, dict) and all(isinstance(raised.get(word), str) for word in ("type", "text", "traceback")):
            found.append(RemoteError(job, shown(raised["type"], 100), shown(raised["text"], 20_000), shown(raised["traceback"], 50_000)))
        elif not isinstance(row, dict) or "value" not in row:
            raise bad("there is neither a value nor an error")
        elif not trust:
            found.append(row["value"])
        else:
            try:
                found.append(pickle.loads(base64.b64decode(row["value"], validate=True)))
            except Exception as wrong:  # whatever a pickle does
                raise bad(wrong) from wrong
    return found
