"""Attention weights are recognized by their use; a row's sentence has the tensor's own number."""

import numpy as np
import pytest

from gradscribe.engine.run.run import record
from gradscribe.playback.explain import attention
from gradscribe.playback.tape.index import index_of

HAND = """
q, k, v = (param(torch.randn(2, 4, 3)) for _ in range(3))
att = (q @ k.transpose(1, 2)).softmax(-1)
out = att @ v
"""
OTHERS = {
    "dropout": (
        "a = F.dropout(torch.randn(4, 4).softmax(-1), 0.1)\ny = a @ torch.randn(4, 2)",
        "a",
    ),
    "before dropout": (
        (
            "a = torch.softmax(torch.randn(4, 4), dim=-1)\n"
            "d = nn.Dropout(0.1)(a)\ny = d @ torch.ones(4)"
        ),
        "a",
    ),
    "einsum": (
        (
            "a = torch.randn(2, 3, 3).softmax(-1)\n"
            "y = torch.einsum('bij,bjk->bik', a, torch.ones(2, 3, 1))"
        ),
        "a",
    ),
    "bmm": ("a = torch.randn(2, 3, 5).softmax(-1)\ny = torch.bmm(a, torch.ones(2, 5, 1))", "a"),
    "module": (
        (
            "m = nn.MultiheadAttention(4, 2)\nx = torch.randn(5, 4)\n"
            "y, a = m(x, x, x)\ny.sum().backward()"
        ),
        "a",
    ),
}
HEALTHY = {
    "class probabilities": ("p = torch.randn(4, 3).softmax(-1)\nL = -p[0, 1].log()", "p"),
    "a right factor": ("p = torch.randn(4, 4).softmax(-1)\ny = torch.ones(2, 4) @ p", "p"),
    "no softmax": ("p = torch.rand(4, 4) * 1\ny = p @ torch.ones(4, 2)", "p"),
    "a vector": ("p = torch.randn(4).softmax(-1)\ny = p @ torch.ones(4, 2)", "p"),
}


def found(source, name):
    tape = record(source)
    assert tape.status == "ok", tape.error
    index = index_of(tape)
    return index, next(v for v in reversed(tape.values) if v.name == name)


@pytest.mark.parametrize(("source", "name"), [(HAND, "att"), *OTHERS.values()])
def test_weights_of_a_product_out_of_a_softmax_are_attention(source, name):
    assert attention.is_attention(*found(source, name))


@pytest.mark.parametrize("case", HEALTHY)
def test_other_matrices_are_not(case):
    assert not attention.is_attention(*found(*HEALTHY[case]))


def test_scores_before_the_softmax_are_not():
    index, att = found(HAND, "att")
    scores = index.values[index.op(att.op).inputs[0]]
    assert not attention.is_attention(index, scores)


def names(lines, size):
    return attention.row_names(index_of(record(lines + "\nx = param(1.0)\nx.backward()")), size)


def test_a_list_of_that_length_names_the_rows():
    assert names("tokens = ['a', 'b', 'c']", 3) == ("tokens", ("a", "b", "c"))
    assert names("tokens = ['a', 'b', 'c']", 4) == ("", ())


@pytest.mark.parametrize(
    ("lines", "chosen"),
    [
        ("things = ['a', 'b']\nothers = ['c', 'd']", ""),
        ("things = ['a', 'b']\nagain = things", "again"),
        ("words = ['b', 'a']\nvocab = sorted(words)", "words"),
        ("vocab = ['a', 'b']", ""),
        ("tokens = ['a', 'b']\nwords = ['c', 'd']", ""),
        ("labels = ['a', 'b']\nvocabulary = ['c', 'd']", "labels"),
    ],
)
def test_of_several_lists_one_is_taken_only_where_it_is_clear(lines, chosen):
    assert names(lines, 2)[0] == chosen


def test_ids_that_an_embedding_looked_up_are_named_by_its_vocabulary():
    lines = """
letters = ['a', 'b', 'c', 'd']
other = ['p', 'q', 'r']
ids = torch.tensor([[3, 0, 3]])
e = nn.Embedding(4, 2)
y = e(ids)
"""
    assert names(lines, 3) == ("letters", ("d", "a", "d"))


def test_two_sequences_of_one_length_have_no_common_names():
    lines = """
letters = ['a', 'b', 'c', 'd']
e = nn.Embedding(4, 2)
y = e(torch.tensor([3, 0])) + e(torch.tensor([1, 2]))
"""
    assert names(lines, 2) == ("", ())


WORDS = ("the", "cat", "the", "mat")


@pytest.mark.parametrize(
    ("row", "labels", "text"),
    [
        ([0.1, 0.2, 0.05, 0.65], WORDS, "“cat” looks at “mat” with 0.65"),
        ([0.1, 0.2, 0.65, 0.05], WORDS, "“cat” looks at “the” [2] with 0.65"),
        ([0.1, 0.2, 0.65, 0.05], (), "Row 1 looks at column 2 with 0.65"),
        ([0.5, 0.5, 0.0, 0.0], (), "Row 1 looks at column 0 and column 1 with 0.50 each"),
        ([0.25] * 4, (), "Row 1 looks at all 4 alike with 0.25"),
        ([float("nan")] * 4, (), "Row 1 has weights that are no numbers"),
        ([0.294, 0.293, 0.2, 0.213], (), "Row 1 looks at column 0 with 0.29"),
    ],
)
def test_the_sentence_names_the_strongest_column(row, labels, text):
    weights = np.array([[1.0, 0, 0, 0], row], dtype=np.float32)
    assert attention.sentence(weights, 1, (labels, labels)) == text


def test_the_number_is_the_tensors_own():
    index, att = found(HAND, "att")
    weights = index.tape.snapshots[att.snapshot].array()[1]
    for row in range(4):
        at = int(weights[row].argmax())
        expected = f"Row {row} looks at column {at} with {weights[row, at]:.2f}"
        assert attention.sentence(weights, row, ((), ())) == expected


def test_blank_names_are_written_out():
    assert attention.name_of(("\n", " ", "a"), 0, "row") == "“\\n”"
