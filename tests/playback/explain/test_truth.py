"""Explanations of calls are true: for many calls, with vectors, matrices and settings."""

import pytest

from gradscribe.engine.run.run import record
from gradscribe.playback.explain import explain
from gradscribe.playback.tape import snapshot_text
from gradscribe.playback.tape.index import Index

BEFORE = """
torch.manual_seed(0)
x, w, b = param([0.5, 2.0]), param([1.5, 3.0]), param([1.0, -1.0])
M, W = param([[1.0, 2.0, -1.0], [0.5, 0.0, 3.0]]), param([[1.0, 0.0, 2.0], [0.0, 1.0, -1.0]])
v, c, s = param([1.0, 0.0, 2.0]), param([0.1, 0.2]), param(3.0)
B, I, K = (param(torch.randn(*sizes)) for sizes in ((2, 3, 3), (1, 1, 4, 4), (1, 1, 3, 3)))
S, T1 = param(torch.randn(1, 1, 6)), param(torch.randn(1, 1, 3))
"""
CALLS = (
    "x * w + b",
    "x - 2 * w",
    "x / w",
    "x ** 3",
    "w ** x",
    "torch.exp(x)",
    "torch.log(x)",
    "torch.sigmoid(x)",
    "torch.tanh(x)",
    "torch.relu(x - 1)",
    "F.gelu(x)",
    "F.leaky_relu(x - 1, 0.1)",
    "F.softplus(x)",
    "F.silu(x)",
    "F.elu(x - 2)",
    "torch.sqrt(x)",
    "torch.abs(x - 1)",
    "torch.sin(x)",
    "torch.atan(x)",
    "torch.clamp(x, 0.5, 1.5)",
    "torch.maximum(x, w)",
    "torch.where(x > 1, x, w)",
    "x.sum()",
    "x.mean()",
    "M.sum(dim=1)",
    "M.mean(0, keepdim=True)",
    "M.max()",
    "M.max(dim=1).values",
    "x.prod()",
    "x.var()",
    "x.std()",
    "x.norm()",
    "torch.logsumexp(x, 0)",
    "torch.softmax(x, 0)",
    "torch.log_softmax(M, 1)",
    "M @ v",
    "M @ M.T",
    "x @ w",
    "F.linear(M, W, c)",
    "torch.einsum('ij,j->i', M, v)",
    "torch.bmm(B, B)",
    "torch.outer(x, w)",
    "M.T",
    "M.reshape(-1)",
    "x.unsqueeze(0)",
    "M.permute(1, 0)",
    "M[0]",
    "M[:, 1:]",
    "M[[0, 0, 1]]",
    "torch.cat([x, w])",
    "torch.stack([x, w])",
    "M.expand(4, 2, 3)",
    "x.repeat(2)",
    "M.gather(1, torch.tensor([[0], [2]]))",
    "M.index_select(0, torch.tensor([1, 1]))",
    "M.masked_fill(M > 0, 0.0)",
    "x.cumsum(0)",
    "x.sort().values",
    "x.clone()",
    "F.mse_loss(x, w)",
    "F.l1_loss(x, w)",
    "F.cross_entropy(M, torch.tensor([0, 2]))",
    "F.nll_loss(torch.log_softmax(M, 1), torch.tensor([0, 2]))",
    "F.binary_cross_entropy(torch.sigmoid(x), torch.ones(2))",
    "F.binary_cross_entropy_with_logits(x, torch.ones(2))",
    "F.huber_loss(x, w)",
    "F.kl_div(torch.log_softmax(x, 0), torch.softmax(w, 0), reduction='sum')",
    "F.conv2d(I, K)",
    "F.conv1d(S, T1)",
    "F.max_pool2d(I, 2)",
    "F.avg_pool2d(I, 2)",
    "F.layer_norm(M, (3,))",
    "F.batch_norm(M, None, None, training=True)",
    "F.embedding(torch.tensor([1, 1, 0]), M)",
    "F.dropout(M, 0.5)",
    "M + x.unsqueeze(1)",
    "M * s",
    "s * s",
    "s + s",
    "M.pow(2)",
    "torch.addmm(c, M, W.T)",
    "torch.linalg.inv(M @ M.T)",
    "torch.det(M @ M.T)",
    "torch.erf(x)",
    "torch.cosine_similarity(x, w, 0)",
    "M.diagonal()",
    "torch.tril(M)",
    "M.flip(0)",
    "x.roll(1)",
    "torch.log1p(x)",
    "torch.rsqrt(x)",
    "F.pad(M, (1, 1))",
    "F.normalize(M, dim=1)",
    "F.scaled_dot_product_attention(B, B, B)",
    "F.elu(x - 2, alpha=0.3)",
    "F.softplus(x, beta=2)",
    "F.gelu(x, approximate='tanh')",
    "F.cross_entropy(M, torch.tensor([0, 2]), label_smoothing=0.1)",
    "F.cross_entropy(M, torch.tensor([0, -100]))",
    "F.cross_entropy(M, torch.softmax(W, 1))",
    "torch.div(x, w, rounding_mode='floor') * x",
    "x ** 0",
    "2 ** x",
    "x.lerp(w, 0.3)",
    "torch.einsum('ij->j', M)",
    "torch.einsum('ij,kj', M, W)",
    "torch.einsum('bij,bjk->bik', B, B)",
    "torch.einsum('i,i', x, w)",
    "x[None] + x[:, None]",
    "torch.addmm(c, M, W.T, alpha=2)",
    "torch.cat([x, x])",
    "F.mse_loss(x, torch.zeros(2), reduction='none')",
    "F.batch_norm(M, torch.zeros(3), torch.ones(3), v, v, training=True)",
    "F.group_norm(I, 1, s.reshape(1), s.reshape(1))",
    "F.rms_norm(M, (3,), v)",
    "F.cross_entropy(M, torch.tensor([0, 2]), weight=torch.ones(3))",
    "torch.linalg.solve(M @ M.T + torch.eye(2), x)",
    "torch.linalg.svd(M).S",
    "torch.linalg.eigh(M @ M.T)[0]",
    "torch.trace(M @ M.T)",
    "torch.logdet(M @ M.T)",
    "torch.linalg.cholesky(M @ M.T)",
    "x.chunk(2)[0]",
    "torch.zeros(2).index_add(0, torch.tensor([1, 1]), x)",
    "x.addcmul(w, w, value=2)",
    "M.median()",
    "F.smooth_l1_loss(x, w, beta=0.5)",
)


def told(call: str):
    """Yield the tape's index and every explanation there is at its end."""
    tape = record(f"{BEFORE}y = {call}\n(y * y).sum().backward()")
    assert tape.status == "ok", tape.error
    index, end = Index(tape), len(tape.events)
    found = [explain(index, op=n, position=end) for n, op in enumerate(tape.ops) if op.outputs]
    found += [explain(index, value=leaf.value, position=end) for leaf in tape.leaves]
    return index, found


@pytest.mark.parametrize("call", CALLS)
def test_what_is_called_a_gradient_is_the_whole_of_it(call):
    index, found = told(call)
    whole = {
        leaf.name: snapshot_text.gradient(index.tape.snapshots[leaf.grad])
        for leaf in index.tape.leaves
        if leaf.grad is not None
    }
    seen = set()
    for one in found:
        for row in one.rows:
            name = row.label.rpartition("/∂")[2].replace("T₁", "T1")
            if row.label.startswith("∂") and name in whole and row.number:
                assert row.number == whole[name], (call, row)
                seen.add(name)
    assert seen or "floor" in call


@pytest.mark.parametrize("call", CALLS)
def test_every_moment_of_a_call_can_be_explained(call):
    tape = record(f"{BEFORE}y = {call}\n(y * y).sum().backward()")
    index = Index(tape)
    for position in range(len(tape.events) + 1):
        for number in range(len(tape.ops)):
            made = explain(index, op=number, position=position)
            assert made.title
            assert not any("{" in row.text or "self" in row.text for row in made.rows)


def row_of(call: str, op: str, label: str) -> str:
    index, found = told(call)
    number = max(n for n, one in enumerate(index.tape.ops) if one.op == op and n < len(found))
    ends = len(index.tape.events)
    rows = explain(index, op=number, position=ends).rows
    return next(row.text for row in rows if row.label == label)


@pytest.mark.parametrize(
    ("call", "op", "operand", "words"),
    [
        ("F.cross_entropy(M, torch.tensor([0, 2]))", "cross_entropy", "M", "one-hot"),
        ("F.softplus(x)", "softplus", "x", "σ(x)"),
        ("F.softplus(x, beta=2)", "softplus", "x", "σ(βx)"),
        ("torch.maximum(x, w)", "maximum", "w", "half of it where equal"),
        ("F.huber_loss(x, w)", "huber_loss", "w", "−∂L/∂y × (d, held between −δ and δ) ÷ 2"),
        ("M.permute(1, 0)", "permute", "M", "dimensions in the old order"),
    ],
)
def test_the_words_fit_the_call(call, op, operand, words):
    assert words in row_of(call, op, f"∂L/∂{operand}")


@pytest.mark.parametrize(
    ("call", "op", "wrong"),
    [
        ("F.cross_entropy(M, torch.tensor([0, 2]), label_smoothing=0.1)", "cross_entropy", "hot"),
        ("F.cross_entropy(M, torch.softmax(W, 1))", "cross_entropy", "hot"),
        ("F.cross_entropy(M, torch.tensor([0, -100]))", "cross_entropy", "÷ N"),
        ("F.gelu(x, approximate='tanh')", "gelu", "Φ"),
    ],
)
def test_a_row_that_is_not_true_of_a_call_is_not_shown(call, op, wrong):
    index, _ = told(call)
    number = next(n for n, one in enumerate(index.tape.ops) if one.op == op)
    made = explain(index, op=number, position=len(index.tape.events))
    assert not any(wrong in row.text for row in made.rows)


def test_two_shares_of_one_tensor_are_called_parts():
    _, found = told("s * s")
    rows = [row for one in found for row in one.rows if row.text == "= ∂L/∂y × s"]
    parts = [row for row in rows if row.label == "part of ∂L/∂s"]
    assert [row.number for row in parts] == ["54.0000", "54.0000"]
