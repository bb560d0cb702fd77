"""What holds for every file of the package: where imports point, how long things may be, what is cited."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "faithgauge"
MODULES = {
    path.relative_to(SOURCE).with_suffix("").as_posix(): ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted(SOURCE.rglob("*.py"))
}

EVERYWHERE = {"types", "errors", "registry", "config", "settings", "seeds", "version"}
"""May be imported from anywhere, and import nothing of ours but each other."""

MODELS = {"models", "encode", "data"}
BELOW = {
    "data": set(),
    "stats": set(),
    "encode": {"data"},
    "models": {"encode", "data"},
    "train": {"faithfulness", "models", "encode", "data"},
    "report": {"stats"},
    "explain": {"report", "models", "encode", "data"},
    "faithfulness": {"stats", "models", "encode", "data"},
    "engine": set(),
    "results": {"stats", "engine"},
    "steps": {"report", "explain", "train", *MODELS},
    "measured": {"steps", "explain", "train", "faithfulness", *MODELS},
    "comparing": {"measured", "stats", "train", "faithfulness", *MODELS},
    "jobs": {
        "comparing",
        "measured",
        "stats",
        "steps",
        "results",
        "engine",
        "faithfulness",
        "explain",
        "train",
        *MODELS,
    },
    "judging": {"jobs", "comparing", "results", "engine"},
    "attacked": {"measured", "explain", "train", "faithfulness", *MODELS},
    "attacked_heads": {"attacked", "measured", "explain", "train", "faithfulness", *MODELS},
    "attacking": {"jobs", "attacked", "attacked_heads", "explain", "results", "engine"},
    "removed": {"measured", "stats", "results", "faithfulness", *MODELS},
    "removing": {"removed", "jobs", "papers", "results", "engine"},
    "gauging": {"jobs", "measured", "train", "faithfulness", "results", "engine"},
    "auditing": {"jobs", "comparing", "measured", "steps", "results", "engine", "explain", *MODELS},
    "papers": {"stats"},
    "plans": {
        "jobs",
        "judging",
        "attacking",
        "removing",
        "gauging",
        "auditing",
        "faithfulness",
        "train",
        "results",
        "engine",
        "explain",
        "papers",
        "stats",
        *MODELS,
    },
    "audit": {
        "plans",
        "auditing",
        "attacking",
        "judging",
        "comparing",
        "measured",
        "jobs",
        "steps",
        "results",
        "engine",
        "faithfulness",
        "explain",
        "stats",
        *MODELS,
    },
    "api": {"audit", "engine", "report", "steps", "explain", "train", *MODELS},
    "cli": {
        "audit",
        "auditing",
        "report",
        "stats",
        "papers",
        "api",
        "plans",
        "jobs",
        "steps",
        "results",
        "engine",
        "explain",
        "train",
        *MODELS,
    },
    "__init__": {"api", "audit", "report", "models", "data"},
}
"""Which packages each package may import, besides itself and those above."""

HEAVY = {"torch", "pandas", "pyarrow", "datasets", "spacy", "gensim", "scipy", "sklearn", "altair", "entmax"}
LIGHT = {"data", "cli", "api", "__init__", *EVERYWHERE}
"""What is imported before it is known that anything heavy is needed."""

AXES = {
    "batch", "token", "vocab", "embed", "hidden", "class", "head", "layer", "step", "example", "seed",
}  # fmt: skip
SHAPED = {"Float", "Int", "Bool", "Num", "Integer", "Shaped", "UInt8", "Int8", "Int16", "Int32", "Int64"} | {
    "Float16", "Float32", "Float64", "BFloat16",
}  # fmt: skip
NAMES_THAT_SAY_NOTHING = {"utils", "util", "helpers", "helper", "common", "base", "manager", "misc"}


def package(module: str) -> str:
    return module.partition("/")[0]


def imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            if node.module == "faithgauge":
                yield from (f"faithgauge.{name.name}" for name in node.names)
            else:
                yield node.module or ""


def imports_at_once(tree: ast.Module) -> Iterator[str]:
    """Those that run when the module is imported: not in functions, not under TYPE_CHECKING."""
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from imports(node)


def docstrings() -> Iterator[tuple[str, str]]:
    for module, tree in MODULES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{module}:{getattr(node, 'name', '')}", ast.get_docstring(node) or ""


def cited(docstring: str) -> list[str]:
    """The keys after each ``Paper:``, one before each comma, several of them separated by semicolons."""
    lines = re.findall(
        r"\bPaper:\s*(.*?)(?=\n\s*\n|\n?\s*\b(?:Differs|Range|Cost):|\Z)", docstring, re.DOTALL
    )
    return [part.split(",")[0].strip().rstrip(".") for line in lines for part in line.split(";")]


def test_there_are_modules_to_look_at() -> None:
    assert "types" in MODULES
    assert "data/dataset" in MODULES


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_down(module: str) -> None:
    home = package(module)
    allowed = EVERYWHERE if home in EVERYWHERE else EVERYWHERE | BELOW[home] | {home}
    ours = {name.split(".")[1] for name in imports(MODULES[module]) if name.startswith("faithgauge.")}
    assert ours <= allowed


@pytest.mark.parametrize("module", [module for module in MODULES if package(module) in LIGHT])
def test_a_light_module_imports_nothing_heavy_at_once(module: str) -> None:
    assert {name.split(".")[0] for name in imports_at_once(MODULES[module])} & HEAVY == set()


@pytest.mark.parametrize(
    "command",
    [["-c", "import faithgauge"], ["-c", "from faithgauge.cli.main import run; run(['--help'])"]],
    ids=["import", "help"],
)
def test_import_and_help_load_neither_torch_nor_pandas_nor_charts(command: list[str]) -> None:
    code = (
        command[1] + "; import sys; print('loaded:', *sorted({name.split('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.rpartition("loaded:")[2].split())
    assert "faithgauge" in loaded
    assert loaded & HEAVY == set()


@pytest.mark.parametrize("module", MODULES)
def test_no_module_is_over_400_lines_and_no_function_over_60(module: str) -> None:
    assert len((SOURCE / f"{module}.py").read_text(encoding="utf-8").splitlines()) <= 400
    functions = (
        n for n in ast.walk(MODULES[module]) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    assert [f.name for f in functions if (f.end_lineno or 0) - f.lineno + 1 > 60] == []


@pytest.mark.parametrize("module", [module for module in MODULES if package(module) != "cli"])
def test_a_function_takes_at_most_six_arguments_and_names_those_after_the_third(module: str) -> None:
    """Left out: commands, whose arguments are the options of the command line, explainers, whose named ones
    are the options of the explainer, and the methods of private classes, whose form torch prescribes."""
    private = [n for n in ast.walk(MODULES[module]) if isinstance(n, ast.ClassDef) and n.name.startswith("_")]
    prescribed = {method for owner in private for method in owner.body}
    for node in ast.walk(MODULES[module]):
        if isinstance(node, ast.FunctionDef) and node not in prescribed:
            placed = [
                a.arg for a in (*node.args.posonlyargs, *node.args.args) if a.arg not in ("self", "cls")
            ]
            explainer = module.startswith("explain/") and placed == ["model", "batch", "question"]
            assert explainer or len(placed) + len(node.args.kwonlyargs) <= 6, node.name
            assert len(placed) <= 3 or node.name.startswith("_"), node.name


@pytest.mark.parametrize("module", MODULES)
def test_every_module_says_what_it_is_for(module: str) -> None:
    assert ast.get_docstring(MODULES[module])


def test_no_module_is_named_after_nothing() -> None:
    assert {part for module in MODULES for part in module.split("/")} & NAMES_THAT_SAY_NOTHING == set()


@pytest.mark.parametrize("module", MODULES)
def test_nothing_is_unpickled_that_could_run_code(module: str) -> None:
    """An unpickler of our own must say itself which classes it finds (that is, none)."""
    assert {"dill", "cloudpickle", "joblib", "shelve"} & set(imports(MODULES[module])) == set()
    for node in ast.walk(MODULES[module]):
        if isinstance(node, ast.Attribute):
            assert ast.unparse(node) not in ("torch.load", "pickle.load", "pickle.loads")
        if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
            assert ast.unparse(node.value) == "False"
        if isinstance(node, ast.Call):
            assert ast.unparse(node.func) != "pickle.Unpickler"
        if isinstance(node, ast.ClassDef) and "Unpickler" in "".join(map(ast.unparse, node.bases)):
            assert "find_class" in {
                method.name for method in node.body if isinstance(method, ast.FunctionDef)
            }


@pytest.mark.parametrize("module", MODULES)
def test_axes_in_shapes_come_from_the_closed_list(module: str) -> None:
    for node in ast.walk(MODULES[module]):
        if not (
            isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in SHAPED
        ):
            continue
        assert isinstance(node.slice, ast.Tuple)
        shape = node.slice.elts[1]
        assert isinstance(shape, ast.Constant)
        axes = set(re.findall(r"[A-Za-z_]+", str(shape.value)))
        assert axes <= AXES | {"_"}, f"line {node.lineno}"


def test_every_work_a_docstring_cites_is_in_the_references() -> None:
    keys = set(
        re.findall(r"^@\w+\{([^,]+),$", (ROOT / "references.bib").read_text(encoding="utf-8"), re.MULTILINE)
    )
    unknown = [(where, key) for where, text in docstrings() for key in cited(text) if key not in keys]
    assert unknown == []


def test_citations_are_read_as_they_are_written() -> None:
    text = "Idea.\n\nPaper: attefa, eq. 7; jain-wallace-2019,\n    section 2.\nDiffers: nothing; at all.\n"
    assert cited(text) == ["attefa", "jain-wallace-2019"]
    assert cited("A sentence. Paper: attefa.\n\nAnother; one.") == ["attefa"]
