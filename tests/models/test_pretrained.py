"""Pretrained transformers from folders: what is read, what is drawn, and what is refused in a sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import tiny
import torch

from faithgauge.encode.tokenizer import read_subwords
from faithgauge.errors import ConfigError, DataError, UnsupportedError
from faithgauge.models import pretrained, store
from faithgauge.models.labels import renamed
from faithgauge.models.store import Trained
from faithgauge.settings import settings
from faithgauge.steps import explain_text, predict_texts, read_texts

N = len(tiny.VOCABULARY)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tiny.folder_of(tmp_path / "tuned")


def new(folder: Path, seed: int = 0, classes: int = 3) -> Any:
    names = tuple(f"class {i}" for i in range(classes))
    return pretrained.new(f"hf:{folder}", names, vocabulary=N, seed=seed)


def weights(model: Any) -> dict[str, torch.Tensor]:
    return dict(model.network.state_dict())


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_a_fine_tuned_folder_is_a_model_with_the_logits_of_transformers(tmp_path: Path, family: str) -> None:
    place = tiny.folder_of(tmp_path / family, family, classes=3, id2label={0: "no", 1: "maybe", 2: "yes"})
    trained = store.open_model(str(place))
    assert trained.classes == ("no", "maybe", "yes")
    network = tiny.network(family, classes=3)
    ids = [tiny.CLS, *map(tiny.VOCABULARY.index, ("the", "film", "was", "good")), tiny.SEP]
    with torch.no_grad():
        expected = network(torch.tensor([ids])).logits.softmax(-1)
    torch.testing.assert_close(
        torch.from_numpy(predict_texts(trained, ["the film was good"])), expected, atol=1e-5, rtol=1e-5
    )


def test_it_reads_single_texts_and_pairs(folder: Path) -> None:
    trained = store.open_model(str(folder))
    pair = read_texts(trained, ["good film"], ["bad plot ."]).splits["test"]
    words = ("[CLS]", "good", "film", "[SEP]", "bad", "plot", ".", "[SEP]")
    assert [tiny.VOCABULARY[i] for i in pair.ids.row(0)] == list(words)
    assert pair.segments is not None
    assert pair.segments.row(0).tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    with torch.no_grad():
        expected = tiny.network()(
            torch.tensor([pair.ids.row(0).tolist()]),
            token_type_ids=torch.tensor([pair.segments.row(0).tolist()]),
        ).logits.softmax(-1)
    found = torch.from_numpy(predict_texts(trained, ["good film"], ["bad plot ."]))
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


def test_a_new_head_is_drawn_from_the_seed_and_the_rest_is_read(folder: Path) -> None:
    first, again, other = new(folder), new(folder), new(folder, seed=1)
    theirs = tiny.network().state_dict()
    for name, value in weights(first).items():
        assert torch.equal(value, weights(again)[name])
        if name.startswith("bert."):
            assert torch.equal(value, theirs[name])
            assert torch.equal(value, weights(other)[name])
    assert not torch.equal(weights(first)["classifier.weight"], weights(other)["classifier.weight"])
    assert weights(first)["classifier.weight"].shape == (3, 16)


def test_drawing_a_head_leaves_the_global_randomness_alone(folder: Path) -> None:
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    new(folder)
    assert torch.equal(torch.rand(2), expected)


def test_a_model_that_is_saved_is_read_again_without_the_folder_it_came_from(
    folder: Path, tmp_path: Path
) -> None:
    tokenizer = read_subwords(folder, joined=True, longest=24)
    trained = Trained(new(folder), tokenizer, ("a", "b", "c"), "pair", {"dataset": "quora"})
    store.save(trained, tmp_path / "saved")
    for path in folder.iterdir():
        path.unlink()
    again = store.load(tmp_path / "saved")
    assert sorted(path.name for path in (tmp_path / "saved").iterdir()) == [
        "config.json",
        "model.json",
        "model.safetensors",
        "tokenizer.json",
    ]
    assert again.tokenizer.state() == tokenizer.state()
    assert (again.tasks, again.classes) == (("pair",), ("a", "b", "c"))
    assert weights(again.classifier).keys() == weights(trained.classifier).keys()
    for name, value in weights(again.classifier).items():
        assert torch.equal(value, weights(trained.classifier)[name])
    texts = (["good film"], ["bad plot"])
    assert (predict_texts(again, *texts) == predict_texts(trained, *texts)).all()


def test_what_is_saved_can_be_read_by_transformers_too(folder: Path, tmp_path: Path) -> None:
    made = new(folder)
    store.save(Trained(made, read_subwords(folder, joined=True, longest=24), ("a", "b", "c")), tmp_path / "m")
    theirs = tiny.transformers.AutoModelForSequenceClassification.from_pretrained(tmp_path / "m")
    for name, value in theirs.state_dict().items():
        assert torch.equal(value, weights(made)[name])


@pytest.mark.parametrize("change", [{"hidden_size": 17}, {"model_type": "no such"}, {"vocab_size": "x"}])
def test_a_configuration_that_does_not_fit_is_an_error(
    folder: Path, tmp_path: Path, change: dict[str, object]
) -> None:
    store.save(Trained(new(folder), read_subwords(folder, joined=True), ("a", "b", "c")), tmp_path / "m")
    tiny.change_config(tmp_path / "m", **change)
    with pytest.raises(DataError, match=r"do not fit|it cannot read"):
        store.load(tmp_path / "m")


def test_a_folder_without_configuration_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"expected a folder of the transformers library, found no config"):
        pretrained.find(f"hf:{tmp_path}")


def test_a_pickle_is_refused_with_the_command_that_converts_it(folder: Path) -> None:
    torch.save(tiny.network().state_dict(), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.raises(DataError, match=r"found a pickle \(\.bin\), which can run code") as caught:
        store.open_model(str(folder))
    command = str(caught.value).partition('python -c "')[2].rstrip('"')
    exec(command, {})
    assert store.open_model(str(folder)).classes == ("LABEL_0", "LABEL_1")


def test_damaged_weights_are_an_error(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(DataError, match=r"found one it cannot read .*; fetch or save it again"):
        store.open_model(str(folder))


@pytest.mark.parametrize("content", [b"", bytes(500)])
def test_what_are_no_safetensors_is_an_error(folder: Path, content: bytes) -> None:
    (folder / "model.safetensors").write_bytes(content)
    for open_it in (lambda: store.open_model(str(folder)), lambda: new(folder)):
        with pytest.raises(DataError, match=r"found one it cannot read .*header.*; fetch or save it again"):
            open_it()


def changed(folder: Path, name: str, value: torch.Tensor) -> None:
    path = folder / "model.safetensors"
    own = safetensors.torch.load_file(path)
    safetensors.torch.save_file({**own, name: value}, path, {"format": "pt"})


def test_weights_that_are_no_numbers_are_an_error(folder: Path) -> None:
    changed(folder, "bert.pooler.dense.bias", torch.full((16,), float("nan")))
    for open_it in (lambda: store.open_model(str(folder)), lambda: new(folder)):
        with pytest.raises(DataError, match=r"numbers, found nan in bert\.pooler\.dense\.bias; fetch or"):
            open_it()


def test_weights_of_other_sizes_are_an_error(folder: Path) -> None:
    changed(folder, "classifier.weight", torch.zeros(5, 16))
    with pytest.raises(DataError, match=r"\(weights of other sizes than its config\.json says\); fetch or"):
        store.open_model(str(folder))
    assert new(folder).n_classes == 3  # the head is new anyway


def test_weights_that_are_not_there_are_an_error(folder: Path) -> None:
    path = folder / "model.safetensors"
    left = {k: v for k, v in safetensors.torch.load_file(path).items() if "layer.1.output.dense" not in k}
    safetensors.torch.save_file(left, path, {"format": "pt"})
    with pytest.raises(DataError, match=r"expected all weights of its model, found no bert\.encoder\.layer"):
        store.open_model(str(folder))
    with pytest.raises(DataError, match=r"found none of 2 layers \(encoder\.layer\.1\.output\.dense"):
        new(folder)


@pytest.mark.parametrize(
    ("architecture", "does"),
    [("GPT2LMHeadModel", "writes text"), ("BertForTokenClassification", "labels tokens")],
)
def test_a_model_of_another_kind_is_refused(folder: Path, architecture: str, does: str) -> None:
    tiny.change_config(folder, architectures=[architecture])
    for open_it in (lambda: store.open_model(str(folder)), lambda: new(folder)):
        with pytest.raises(UnsupportedError, match=f"an encoder for whole.*{architecture}, which {does}"):
            open_it()


def test_a_decoder_is_refused(tmp_path: Path) -> None:
    config = tiny.transformers.GPT2Config(
        vocab_size=N, n_embd=16, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0, pad_token_id=0
    )
    network = tiny.transformers.AutoModelForSequenceClassification.from_config(config)
    network.save_pretrained(tmp_path)
    tiny.tokenizer_file(tmp_path)
    with pytest.raises(UnsupportedError, match="whose tokens attend to none that follow"):
        store.open_model(str(tmp_path))


def test_a_model_that_shows_no_attention_is_refused(tmp_path: Path) -> None:
    sizes = {key: value for key, value in tiny.FAMILIES["bert"][1].items() if key != "num_attention_heads"}
    network = tiny.transformers.AutoModelForSequenceClassification.from_config(
        tiny.transformers.FNetConfig(**sizes)
    )
    network.save_pretrained(tmp_path)
    tiny.tokenizer_file(tmp_path)
    with pytest.raises(UnsupportedError, match="found a fnet model that returns none"):
        store.open_model(str(tmp_path))


def test_an_encoder_that_was_not_fine_tuned_says_how_to(folder: Path) -> None:
    tiny.change_config(folder, architectures=["BertModel"])
    with pytest.raises(UnsupportedError, match=r"found BertModel; fine-tune it: faithgauge train DATA --enc"):
        store.open_model(str(folder))
    assert new(folder).n_classes == 3


@pytest.mark.parametrize("change", [{"problem_type": "regression"}, {"id2label": {"0": "x"}}])
def test_what_gives_no_one_label_is_refused(folder: Path, change: dict[str, object]) -> None:
    tiny.change_config(folder, **change)
    with pytest.raises(UnsupportedError, match=r"one label for each text out of two or more, found (r|1 l)"):
        store.open_model(str(folder))


def test_code_of_its_own_is_never_run(folder: Path) -> None:
    tiny.change_config(folder, auto_map={"AutoModel": "code.Model"})
    with pytest.raises(UnsupportedError, match="brings code of its own, which is never run"):
        store.open_model(str(folder))


def test_a_tokenizer_of_another_model_is_refused(folder: Path) -> None:
    tiny.tokenizer_file(folder, [*tiny.VOCABULARY, "more"])
    with pytest.raises(DataError, match=r"tokenizer of 19 tokens, as many as the model.*found 20; take the"):
        store.open_model(str(folder))


def test_a_folder_without_a_tokenizer_says_how_to_write_one(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    with pytest.raises(DataError, match=r"expected a tokenizer\.json, found none; write it: python -c"):
        store.open_model(str(folder))


def test_weights_of_half_precision_are_computed_with_in_full_and_it_is_said(folder: Path) -> None:
    tiny.network().half().save_pretrained(folder)
    trained = store.open_model(str(folder))
    assert {weight.dtype for weight in trained.classifier.parameters()} == {torch.float32}
    assert trained.record["notes"] == (
        "model.safetensors holds weights of float16, which are computed with in float32",
    )
    assert {weight.dtype for weight in new(folder).parameters()} == {torch.float32}


def test_without_the_library_a_sentence_says_what_to_install(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "transformers", None)
    with pytest.raises(UnsupportedError, match=r"pip install 'faithgauge\[transformers\]'"):
        store.open_model(str(folder))


def test_a_name_that_is_no_folder_is_asked_of_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(DataError, match=r"no-such-model: expected a folder here or a model on the hub"):
        pretrained.find("hf:no-such-model")
    with pytest.raises(DataError, match="expected a folder of the transformers library"):
        pretrained.find("hf:./no-such-folder")


def test_an_encoder_is_named_after_its_folder_or_as_on_the_hub() -> None:
    assert pretrained.name_of("hf:roberta-base") == "hf:roberta-base"
    assert pretrained.name_of("hf:./models/mini") == "hf:mini"
    assert pretrained.name_of("hf:/c/hub/models--a--b/snapshots/0123") == "hf:a/b"


def test_the_encoder_decides_how_texts_become_ids(folder: Path) -> None:
    chosen = pretrained.completed(settings("sst", encoder=f"hf:{folder}"))
    assert chosen.encode == {"tokenizer": folder / "tokenizer.json", "max_tokens": 24, "joined": True}
    shorter = pretrained.completed(settings("sst", encoder=f"hf:{folder}", max_tokens=9, too_long="cut"))
    assert (shorter.encode["max_tokens"], shorter.encode["too_long"]) == (9, "cut")
    with pytest.raises(ConfigError, match=r"expected at most 24 tokens.*found --max-tokens 25"):
        pretrained.completed(settings("sst", encoder=f"hf:{folder}", max_tokens=25))
    with pytest.raises(ConfigError, match="brings its own tokenizer: expected no words"):
        pretrained.completed(settings("sst", encoder=f"hf:{folder}", words="plain"))
    with pytest.raises(ConfigError, match="brings its own word vectors"):
        pretrained.completed(settings("sst", encoder=f"hf:{folder}", word2vec=True))


def test_a_text_beyond_the_positions_of_the_model_is_cut_and_counted_where_it_is_read(folder: Path) -> None:
    trained = store.open_model(str(folder))
    corpus = read_texts(trained, ["good " * 30, "bad"])
    assert corpus.splits["test"].ids.lengths().tolist() == [24, 3]
    assert corpus.report["splits"]["test"]["cut"] == 1
    assert predict_texts(trained, ["good " * 30]).shape == (1, 2)


def test_classes_get_the_names_that_are_given_to_them(folder: Path) -> None:
    trained = store.open_model(str(folder), "positive=1,negative=0")
    assert trained.classes == ("negative", "positive")
    assert explain_text(trained, "good", asked={}).label in trained.classes
    assert renamed(("A", "B"), "x=B,y=A") == ("y", "x")


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        ("negative", "found 'negative'"),
        ("negative=2,positive=1", "found 'negative=2'"),
        ("negative=0", "found none for LABEL_1"),
        ("negative=0,positive=0", "found two for '0'"),
        ("same=0,same=1", "found one of them twice"),
    ],
)
def test_names_that_leave_something_open_are_refused(labels: str, found: str) -> None:
    with pytest.raises(ConfigError, match=found):
        renamed(("LABEL_0", "LABEL_1"), labels)


def test_a_transformer_has_a_format_that_older_versions_refuse(folder: Path, tmp_path: Path) -> None:
    store.save(Trained(new(folder), read_subwords(folder, joined=True), ("a", "b", "c")), tmp_path / "m")
    assert json.loads((tmp_path / "m" / "model.json").read_text())["format"] == 2
