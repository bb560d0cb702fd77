from __future__ import annotations

import json
import math
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
from fakes import batch_of, classifier, some_texts
from torch import Tensor

from faithgauge.encode.tokenizer import WordTokenizer
from faithgauge.errors import ConfigError, DataError, FaithgaugeError, JobError
from faithgauge.models import store
from faithgauge.models.classifier import Shape
from faithgauge.models.encoders import ENCODERS
from faithgauge.models.store import Trained, is_model, load, make, open_model, open_or_make, save
from faithgauge.types import Task

WORDS = WordTokenizer.of("plain", [f"w{i:02}" for i in range(19)])  # 24 ids with the special ones
FILES = ["model.json", "model.safetensors", "tokenizer.json"]


def trained(encoder: str = "mlp", task: Task = "single", classes: int = 2, **config: Any) -> Trained:
    model = classifier(encoder, task=task, classes=classes, **config)
    return Trained(model, WORDS, tuple(f"class {i}" for i in range(classes)), task, {"seed": 3})


def failure(kind: type[FaithgaugeError], folder: Path) -> str:
    with pytest.raises(kind) as raised:
        load(folder)
    message = str(raised.value)
    assert "\n" not in message
    return message


def rewritten(folder: Path, **changes: Any) -> None:
    """Change what model.json says; None takes a key away."""
    path = folder / "model.json"
    facts = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({key: value for key, value in facts.items() if value is not None}))


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    save(trained(), tmp_path / "model")
    return tmp_path / "model"


# ---- there and back


@pytest.mark.parametrize("task", ["single", "pair", "cloze"])
@pytest.mark.parametrize("encoder", ENCODERS)
def test_a_model_comes_back_bit_for_bit(tmp_path: Path, encoder: str, task: Task) -> None:
    before = trained(encoder, task, 3, distribution="entmax15", temperature=0.5)
    save(before, tmp_path)
    after = load(tmp_path)
    assert after.classifier.config == before.classifier.config
    ours, theirs = before.classifier.state_dict(), after.classifier.state_dict()
    assert list(ours) == list(theirs)
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    assert after.tokenizer == before.tokenizer
    assert (after.classes, after.task, after.record) == (before.classes, before.task, {"seed": 3})
    assert after.folder == tmp_path


def test_a_model_that_comes_back_predicts_the_same_and_is_ready_for_it(tmp_path: Path) -> None:
    before = trained("bilstm")
    save(before, tmp_path)
    batch = batch_of(some_texts(5))
    after = load(tmp_path).classifier
    assert not after.training
    assert torch.equal(after(batch).logits, before.classifier(batch).logits)
    assert torch.equal(after(batch).attention, before.classifier(batch).attention)


def test_a_folder_holds_three_files_and_two_savings_are_equal(tmp_path: Path) -> None:
    for name in ("one", "two"):
        save(trained(), tmp_path / name)
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == FILES
    for file in FILES:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_saving_over_a_model_replaces_it(saved: Path) -> None:
    save(replace(trained(seed=9), record={"seed": 9}), saved)
    assert load(saved).record == {"seed": 9}
    assert sorted(path.name for path in saved.iterdir()) == FILES


def test_saving_leaves_the_model_as_it_was(tmp_path: Path) -> None:
    model = trained()
    weight = model.classifier.get_parameter("decoder.weight")
    save(model, tmp_path)
    assert model.classifier.get_parameter("decoder.weight") is weight
    assert weight.requires_grad


def test_classes_and_records_may_hold_any_letters(tmp_path: Path) -> None:
    before = replace(trained(), classes=("schön", "好"), record={"notes": ["naïve"], "value": 0.1 + 0.2})
    save(before, tmp_path)
    assert load(tmp_path).classes == ("schön", "好")
    assert load(tmp_path).record == before.record


def test_a_number_that_is_not_finite_is_null_in_the_file_and_comes_back_as_none(tmp_path: Path) -> None:
    numbers = {"test": {"f1": math.nan, "loss": math.inf, "other": -math.inf, "accuracy": 0.5, "n": 3}}
    save(
        replace(trained(), record={"metrics": numbers, "history": [{"f1": math.nan}, (math.nan, 1.0)]}),
        tmp_path,
    )

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    json.loads((tmp_path / "model.json").read_text(), parse_constant=refuse)
    assert load(tmp_path).record == {
        "metrics": {"test": {"f1": None, "loss": None, "other": None, "accuracy": 0.5, "n": 3}},
        "history": [{"f1": None}, [None, 1.0]],
    }


def test_all_files_may_be_read_by_those_whom_the_umask_lets(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        save(trained(), tmp_path)
    finally:
        os.umask(before)
    assert {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == dict.fromkeys(
        FILES, 0o640
    )


# ---- a model of the user's own

MODULE = '''
from torch import nn
import torch
from faithgauge.types import Output


class Tied(nn.Module):
    """Two layers of one weight, and a buffer that is not contiguous."""

    capabilities = frozenset()

    def __init__(self, shape):
        super().__init__()
        self.n_classes = len(shape.classes)
        self.embedding = nn.Embedding(shape.vocabulary, 4)
        self.out = nn.Linear(4, shape.vocabulary, bias=False)
        self.out.weight = self.embedding.weight
        self.register_buffer("crooked", torch.arange(6.0).view(2, 3).t())

    def forward(self, batch, attention=None):
        return Output(self.out(self.embedding(batch.ids)).sum(1)[:, : self.n_classes])


def untied(shape):
    model = Tied(shape)
    model.out.weight = nn.Parameter(torch.zeros(shape.vocabulary, 4))
    return model


def number(shape):
    return 3


def ready():
    from faithgauge.models import store
    return store.load(PLACE)


def nothing():
    return None


def rest(*arguments, **options):
    return ready()
'''


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = "module_of_a_user_of_store"
    (tmp_path / f"{name}.py").write_text(
        f"PLACE = __import__('pathlib').Path({str(tmp_path / 'model')!r})\n" + MODULE
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, name, raising=False)
    return name


def of_own(place: str) -> Trained:
    model = make(place, Shape(24, ("no", "yes"), "single"))
    return Trained(model, WORDS, ("no", "yes"), factory=place)


def test_a_model_of_the_users_own_comes_back_from_its_place(own: str, tmp_path: Path) -> None:
    before = of_own(f"{own}:Tied")
    save(before, tmp_path / "model")
    after = load(tmp_path / "model")
    assert after.factory == f"{own}:Tied"
    assert type(after.classifier).__name__ == "Tied"
    batch = batch_of(some_texts(4))
    assert torch.equal(after.classifier(batch).logits, before.classifier(batch).logits)
    assert torch.equal(after.classifier.get_buffer("crooked"), before.classifier.get_buffer("crooked"))


def test_weights_that_two_layers_share_are_shared_again(own: str, tmp_path: Path) -> None:
    save(of_own(f"{own}:Tied"), tmp_path / "model")
    after: Any = load(tmp_path / "model").classifier
    assert after.out.weight is after.embedding.weight


def test_a_place_that_is_gone_is_named(own: str, tmp_path: Path) -> None:
    save(of_own(f"{own}:Tied"), tmp_path / "model")
    rewritten(tmp_path / "model", factory="module_that_is_gone:Tied")
    assert failure(DataError, tmp_path / "model").startswith(
        f"{tmp_path / 'model' / 'model.json'}: its factory 'module_that_is_gone:Tied' makes no model (cannot "
        "import 'module_that_is_gone'"
    )


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("nonsense", "expected 'package.module:attribute', found 'nonsense'"),
        (":f", "expected 'package.module:attribute', found ':f'"),
        ("json:none", "module 'json' has no 'none'"),
        ("json:__name__", "json:__name__: expected a function of a Shape, found str"),
        ("json:loads", "TypeError: the JSON object must be str, bytes or bytearray, not Shape"),
        ("sys:exit", "SystemExit: Shape(vocabulary=24, classes=('no', 'yes'), task='single')"),
        ("__main__.gone:f", ""),
        ("json.gone:f", "cannot import 'json.gone'"),
        ("{own}:number", "{own}:number: expected it to return a torch module, found int"),
    ],
)
def test_a_place_of_something_else_is_one_line(own: str, tmp_path: Path, place: str, reason: str) -> None:
    save(of_own(f"{own}:Tied"), tmp_path / "model")
    place, reason = place.format(own=own), reason.format(own=own) if "{own}" in reason else reason
    rewritten(tmp_path / "model", factory=place)
    assert failure(DataError, tmp_path / "model").startswith(
        f"{tmp_path / 'model' / 'model.json'}: its factory {place!r} makes no model ({reason}"
    )


@pytest.mark.parametrize("start", ["in it", "above it"])
@pytest.mark.parametrize("form", ["module", "package"])
def test_code_that_lies_in_the_folder_is_not_run(
    own: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: str, form: str
) -> None:
    folder = tmp_path / "passed_on"
    save(of_own(f"{own}:Tied"), folder)
    code = folder / ("trap.py" if form == "module" else "trap/__init__.py")
    code.parent.mkdir(exist_ok=True)
    code.write_text(f"open({str(tmp_path / 'sprung')!r}, 'w')\nfrom {own} import Tied\n")
    monkeypatch.syspath_prepend(folder if start == "in it" else tmp_path)
    rewritten(folder, factory="trap:Tied" if start == "in it" else "passed_on.trap:Tied")
    assert "expected code outside the model's folder, found " in failure(DataError, folder)
    assert not (tmp_path / "sprung").exists()
    monkeypatch.chdir(folder)
    assert "expected code outside the model's folder" in failure(DataError, Path())


def test_a_function_that_makes_no_model_is_refused(own: str) -> None:
    with pytest.raises(ConfigError) as raised:
        make(f"{own}:number", Shape(24, ("no", "yes"), "single"))
    assert str(raised.value) == f"{own}:number: expected it to return a torch module, found int"


def test_what_is_no_function_makes_no_model(own: str) -> None:
    with pytest.raises(ConfigError) as raised:
        make(f"{own}:__name__", Shape(24, ("no", "yes"), "single"))
    assert str(raised.value) == f"{own}:__name__: expected a function of a Shape, found str"


def test_a_model_is_opened_by_its_folder_or_by_a_function(own: str, saved: Path) -> None:
    for place in (str(saved), f"{own}:ready", f"{own}:rest"):
        assert open_model(place).record == {"seed": 3}


def test_a_folder_with_a_colon_in_its_name_is_a_folder(saved: Path) -> None:
    saved.rename(saved.parent / "a:b")
    assert open_model(str(saved.parent / "a:b")).record == {"seed": 3}


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("nothing", "expected it to return a faithgauge.Trained, found NoneType"),
        ("__name__", "expected it to return a faithgauge.Trained, found str"),
        (
            "Tied",
            "expected a function without arguments that returns a faithgauge.Trained, found one that makes "
            "new models; train one with it: faithgauge train --model",
        ),
    ],
)
def test_what_gives_no_trained_model_cannot_be_opened(own: str, name: str, error: str) -> None:
    with pytest.raises(ConfigError) as raised:
        open_model(f"{own}:{name}")
    assert str(raised.value) == f"{own}:{name}: {error}"


def test_a_new_model_is_made_where_a_function_takes_a_shape(own: str, saved: Path) -> None:
    shape = Shape(30, ("a", "b", "c"), "single")
    model, its = open_or_make(f"{own}:Tied", shape)
    assert (model.n_classes, its) == (3, shape)
    for place in (str(saved), f"{own}:ready"):
        model, its = open_or_make(place, shape)
        assert its == Shape(24, ("class 0", "class 1"), "single")


# ---- what is damaged


def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    expected = "expected a folder that `faithgauge train` wrote, found no model.json in it"
    assert failure(DataError, tmp_path) == f"{tmp_path}: {expected}"
    assert failure(DataError, tmp_path / "none") == f"{tmp_path / 'none'}: {expected}"


@pytest.mark.parametrize("text", ["", "{", '{"format": 1', "\x00", "ÿ"])
def test_a_damaged_json_is_named(saved: Path, text: str) -> None:
    (saved / "model.json").write_bytes(text.encode("latin-1"))
    message = failure(DataError, saved)
    assert message.startswith(f"{saved / 'model.json'}: expected JSON, found a damaged file (")
    assert message.endswith("; train it again")


@pytest.mark.parametrize("text", ["[]", "3", "null", "{}"])
def test_a_json_of_something_else_is_named(saved: Path, text: str) -> None:
    (saved / "model.json").write_text(text)
    assert failure(DataError, saved).startswith(
        f"{saved / 'model.json'}: expected a model of format 2 or older, found None"
    )


@pytest.mark.parametrize("found", [True, 0, -1, 1.0, "1", [1]])
def test_a_format_that_is_none_is_refused(saved: Path, found: object) -> None:
    rewritten(saved, format=found)
    assert failure(DataError, saved).startswith(
        f"{saved / 'model.json'}: expected a model of format 2 or older, found {found};"
    )


@pytest.mark.parametrize("key", ["classes", "record", "task", "model", "factory"])
def test_null_is_refused(saved: Path, key: str) -> None:
    facts = json.loads((saved / "model.json").read_text())
    (saved / "model.json").write_text(json.dumps({**facts, key: None}))
    assert failure(DataError, saved) == (
        f"{saved / 'model.json'}: expected the facts of a model, found other kinds; train it again"
    )


def test_brackets_without_end_are_a_damaged_file(saved: Path) -> None:
    (saved / "model.json").write_text("[" * 100_000)
    assert "expected JSON, found a damaged file" in failure(DataError, saved)


@pytest.mark.parametrize("found", [3, 17])
def test_a_model_of_a_newer_version_is_refused_with_the_way_out(saved: Path, found: int) -> None:
    rewritten(saved, format=found, of_tomorrow=True)
    assert failure(DataError, saved) == (
        f"{saved / 'model.json'}: expected a model of format 2 or older, found {found}; "
        "update faithgauge: pip install --upgrade faithgauge"
    )


@pytest.mark.parametrize("key", ["factory", "model", "classes", "task", "record"])
def test_a_key_that_lacks_is_named(saved: Path, key: str) -> None:
    rewritten(saved, **{key: None})
    assert failure(DataError, saved) == (
        f"{saved / 'model.json'}: expected classes, factory, model, record, task, found no {key}"
    )


@pytest.mark.parametrize(
    "change",
    [
        {"task": "tripel"},
        {"task": 3},
        {"classes": 3},
        {"classes": "ab"},
        {"model": ["mlp"]},
        {"record": "x"},
        {"factory": 1},
        {"factory": ["os:getcwd"]},
        {"task": ["single"]},
        {"classes": []},
        {"classes": [0, 1]},
        {"classes": ["no", None]},
    ],
)
def test_facts_of_another_kind_are_refused(saved: Path, change: dict[str, Any]) -> None:
    rewritten(saved, **change)
    assert failure(DataError, saved) == (
        f"{saved / 'model.json'}: expected the facts of a model, found other kinds; train it again"
    )


@pytest.mark.parametrize(
    "model",
    [
        {"encoder": "mlp", "depth": 3},
        {"encoder": 3},
        {"hidden_size": "big"},
        {"hidden_size": "6"},
        {"hidden_size": -3},
        {"hidden_size": 0},
        {"hidden_size": 1.5},
        {"hidden_size": True},
        {"temperature": -1},
        {"temperature": 0},
        {"temperature": math.nan},
        {"temperature": "1.0"},
        {"pair": "both"},
    ],
)
def test_settings_of_another_kind_are_refused(saved: Path, model: object) -> None:
    rewritten(saved, model=model)
    message = failure(DataError, saved)
    assert message.startswith(f"{saved / 'model.json'}: expected the settings of a model, found others (")


@pytest.mark.parametrize("encoder", ["mlp", "bilstm", "cnn"])
@pytest.mark.parametrize("name", ["hidden_size", "embed_size", "attention_size"])
@pytest.mark.parametrize("size", [7, 10**9, 10**30])
def test_a_size_that_the_weights_do_not_have_takes_no_memory(
    tmp_path: Path, encoder: str, name: str, size: int
) -> None:
    save(trained(encoder), tmp_path)
    facts = json.loads((tmp_path / "model.json").read_text())
    rewritten(tmp_path, model={**facts["model"], name: size})
    assert failure(DataError, tmp_path).startswith(
        f"{tmp_path / 'model.safetensors'}: its weights do not fit {tmp_path / 'model.json'} ("
    )


def test_an_encoder_that_is_not_known_is_answered_with_the_nearest(saved: Path) -> None:
    rewritten(saved, model={"encoder": "mlq"})
    assert failure(ConfigError, saved) == "unknown encoder 'mlq': did you mean 'mlp'?"


@pytest.mark.parametrize("size", [0, 4, 100, -1])
def test_weights_that_are_cut_short_are_named(saved: Path, size: int) -> None:
    path = saved / "model.safetensors"
    path.write_bytes(path.read_bytes()[:size])
    message = failure(DataError, saved)
    assert message.startswith(f"{path}: expected the weights of a model, found ")
    assert message.endswith("; train it again")


def test_weights_whose_header_is_damaged_are_named(saved: Path) -> None:
    path = saved / "model.safetensors"
    data = bytearray(path.read_bytes())
    data[8:12] = b"\xff\x00\xff\x00"
    path.write_bytes(data)
    assert failure(DataError, saved).startswith(f"{path}: expected the weights of a model, found ")


def test_weights_that_are_gone_are_named(saved: Path) -> None:
    (saved / "model.safetensors").unlink()
    assert failure(DataError, saved).startswith(
        f"{saved / 'model.safetensors'}: expected the weights of a model, found "
    )


def test_a_tokenizer_that_is_gone_is_named(saved: Path) -> None:
    (saved / "tokenizer.json").unlink()
    assert failure(DataError, saved) == (
        f"{saved / 'tokenizer.json'}: not found; expected the tokenizer.json of a saved model"
    )


def test_weights_of_another_model_do_not_fit(saved: Path, tmp_path: Path) -> None:
    save(trained("bilstm"), tmp_path / "other")
    (tmp_path / "other" / "model.safetensors").rename(saved / "model.safetensors")
    message = failure(DataError, saved)
    assert message.startswith(
        f"{saved / 'model.safetensors'}: its weights do not fit {saved / 'model.json'} (Error(s) in loading"
    )
    assert message.endswith("; train it again")


def test_weights_for_other_words_do_not_fit(saved: Path) -> None:
    path = saved / "model.safetensors"
    weights = safetensors.torch.load_file(path)
    weights["embedding.weight"] = torch.zeros(23, 5)
    safetensors.torch.save_file(weights, path)
    assert "size mismatch for embedding.weight" in failure(DataError, saved)


# ---- a kill


@pytest.mark.parametrize("moment", ["weights", "their rename", "tokenizer", "facts", "their rename, too"])
@pytest.mark.parametrize("before", ["nothing", "an older model"])
def test_a_kill_while_writing_leaves_no_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str, before: str
) -> None:
    """An older model in the folder is none either: its facts would stand beside new weights."""
    if before == "an older model":
        save(trained(seed=1), tmp_path)

    def killed(*arguments: Any, **_: Any) -> None:
        raise KeyboardInterrupt

    renamed = Path.replace

    def killed_at(suffix: str) -> Any:
        def rename(path: Path, target: Path) -> Path:
            if target.name.endswith(suffix):
                raise KeyboardInterrupt
            return renamed(path, target)

        return rename

    with monkeypatch.context() as patch:
        if moment == "weights":
            patch.setattr(safetensors.torch, "save", killed)
        elif moment == "tokenizer":
            patch.setattr(store, "save_tokenizer", killed)
        elif moment == "facts":
            patch.setattr(json, "dumps", killed)
        else:
            patch.setattr(Path, "replace", killed_at("model.json" if "too" in moment else "safetensors"))
        with pytest.raises(KeyboardInterrupt):
            save(trained(), tmp_path)
    assert not is_model(tmp_path)
    assert "found no model.json in it" in failure(DataError, tmp_path)
    save(trained(), tmp_path)
    assert load(tmp_path).record == {"seed": 3}
    assert sorted(path.name for path in tmp_path.iterdir()) == FILES


@pytest.mark.parametrize("full", ["model.safetensors.new", "tokenizer.json", "model.json.new"])
def test_a_full_disk_is_one_line_and_leaves_no_new_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full: str
) -> None:
    opened = Path.open

    def open_on_a_full_disk(path: Path, *arguments: Any, **options: Any) -> Any:
        """What /dev/full stands for: it can be opened, and every write fails."""
        if path.name == full:
            opened(path, "w").close()
            return opened(Path("/dev/full"), *arguments, **options)
        return opened(path, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", open_on_a_full_disk)
        with pytest.raises(JobError) as raised:
            save(trained(), tmp_path)
    assert str(raised.value) == (
        f"{tmp_path}: the model could not be written ([Errno 28] No space left on device); make room there, "
        "then run it again"
    )
    assert not is_model(tmp_path)
    assert not list(tmp_path.glob("*.new"))


def test_a_file_in_the_place_of_the_folder_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(JobError, match="notes/model: the model could not be written"):
        save(trained(), tmp_path / "notes" / "model")


# ---- no pickle


def test_a_pickle_in_the_place_of_the_weights_is_not_read(saved: Path, tmp_path: Path) -> None:
    import pickle

    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return Path.touch, (tmp_path / "sprung",)

    (saved / "model.safetensors").write_bytes(pickle.dumps(Trap()))
    failure(DataError, saved)
    torch.save({"embedding.weight": Tensor()}, saved / "model.safetensors")
    failure(DataError, saved)
    assert not (tmp_path / "sprung").exists()


def test_the_files_are_what_their_names_say(saved: Path) -> None:
    facts = json.loads((saved / "model.json").read_text())
    assert (facts["format"], facts["factory"], facts["task"]) == (1, "", "single")
    assert facts["classes"] == ["class 0", "class 1"]
    assert facts["model"]["encoder"] == "mlp"
    tensors = safetensors.torch.load_file(saved / "model.safetensors")
    assert tensors["embedding.weight"].shape == (24, 5)
