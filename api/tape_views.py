"""Tensors, ops and backward nodes of a `RunTape`."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from gradscribe.engine.protocol.tape import Node, Snapshot, Value
    from gradscribe.playback.tape.index import GradientState, Index


class TensorView:
    """One tensor of a run, at one version.

    Numbers are NumPy arrays of the tensor's shape, copies; bfloat16 and half are widened to
    float32, which is exact. Of tensors past the memory for numbers there are statistics alone:
    their arrays are None, and `summary` and `grad_summary` have mean, std, min, max and norm.
    """

    def __init__(self, index: "Index", value: "Value", name: str = "") -> None:
        self._index, self._value = index, value
        self.id = value.id
        """Its id on the tape."""
        self.name = name or value.name
        """The variable, or the path of a parameter; empty if it has none."""
        self.shape = value.shape
        self.dtype = value.dtype
        self.device = value.device
        self.requires_grad = value.requires_grad
        self.is_leaf = value.is_leaf
        self.version = value.version

    @property
    def summary(self) -> "Snapshot | None":
        """The numbers with their statistics (those of big tensors alone); None if not recorded."""
        return self._index.snapshot(self._value.snapshot)

    @property
    def value(self) -> "np.ndarray | None":
        """The numbers, of shape `shape`; None if the tape has no more than `summary`."""
        return _copy(self._index.numbers(self._value.snapshot))

    @property
    def _state(self) -> "GradientState":
        return self._index.gradient(self.id, len(self._index.tape.events))

    @property
    def grad_summary(self) -> "Snapshot | None":
        """The gradient with its statistics (those of big tensors alone); None if there is none."""
        return self._index.snapshot(self._grad_number)

    @property
    def _grad_number(self) -> int | None:
        state = self._state
        return state.returned if state.snapshot is None else state.snapshot

    @property
    def grad(self) -> "np.ndarray | None":
        """The gradient at the end, of shape `shape`; None if there is none.

        Of a leaf it is ``.grad``, of a result what arrived in the last pass (without
        ``retain_grad``), and where ``torch.autograd.grad`` returned it, what it returned.
        """
        return _copy(self._index.numbers(self._grad_number))

    @property
    def shares(self) -> "tuple[np.ndarray | None, ...]":
        """The partial gradients of the last pass, in order of arrival; their sum arrived."""
        return tuple(_copy(self._index.numbers(share)) for share in self._state.shares)

    @property
    def line(self) -> int:
        """The line that made it, from 1; 0 if it was made before the recording or elsewhere."""
        op = self.op
        return self._value.place.line or (op.line if op is not None else 0)

    @property
    def op(self) -> "OpView | None":
        """The op that returned it; None for leaves and tensors from before the recording."""
        return None if self._value.op is None else OpView(self._index, self._value.op)

    @property
    def users(self) -> "tuple[OpView, ...]":
        """The ops that took it, in order of execution."""
        takers = dict.fromkeys(self._index.users.get(self.id, ()))
        return tuple(OpView(self._index, op) for op in takers)

    def __repr__(self) -> str:
        """Return name, shape and dtype."""
        return f"<TensorView {self.name or self.id}: {list(self.shape)} {self.dtype}>"


class OpView:
    """One call of a torch function."""

    def __init__(self, index: "Index", number: int) -> None:
        op = index.tape.ops[number]
        self._index, self._op = index, op
        self.number = number
        """Its index in ``tape.ops``."""
        self.name = op.op
        """The function: ``mul``, ``linear``."""
        self.line = op.place.line
        """The line of the program, from 1; 0 if it ran elsewhere."""
        self.module = op.scope
        """The module around it, as ``net.0``; empty outside of modules."""
        self.phase = op.phase
        """Kind of the call: ``forward``, inside ``backward``, or in an optimizer's ``update``."""

    @property
    def inputs(self) -> tuple[TensorView, ...]:
        """The tensors that it took."""
        values = self._index.values
        return tuple(TensorView(self._index, values[number]) for number in self._op.inputs)

    @property
    def outputs(self) -> tuple[TensorView, ...]:
        """The tensors that it returned or changed."""
        values = self._index.values
        return tuple(TensorView(self._index, values[number]) for number in self._op.outputs)

    @property
    def node(self) -> "NodeView | None":
        """The backward node of its first result; None without one."""
        node = self._op.node
        return None if node is None else NodeView(self._index, self._index.nodes[node])

    def __repr__(self) -> str:
        """Return function and line."""
        return f"<OpView {self.name}: line {self.line}>"


class NodeView:
    """One backward node (``grad_fn``)."""

    def __init__(self, index: "Index", node: "Node") -> None:
        self._index, self._node = index, node
        self.id = node.id
        """Its id on the tape."""
        self.name = node.name
        """Torch's name: ``MulBackward0``."""
        self.saved = node.saved
        """Names of the variables that it saved for backward."""

    @property
    def op(self) -> OpView | None:
        """The op that created it; None if that was not recorded."""
        return None if self._node.op is None else OpView(self._index, self._index.node_ops[self.id])

    @property
    def next(self) -> "tuple[NodeView | TensorView | None, ...]":
        """The targets of its edges: nodes, leaves, None where no gradient flows."""
        return tuple(None if end is None else self._target(end[0]) for end in self._node.next)

    def _target(self, number: int) -> "NodeView | TensorView":
        if number in self._index.nodes:
            return NodeView(self._index, self._index.nodes[number])
        return TensorView(self._index, self._index.values[number])

    def __repr__(self) -> str:
        """Return its name."""
        return f"<NodeView {self.name}>"


def _copy(found: "np.ndarray | None") -> "np.ndarray | None":
    return None if found is None else found.copy()
