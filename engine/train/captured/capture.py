"""Capture forward, loss and backward of one batch shape as straight-line calls on fixed buffers.

The graph is captured once by `make_fx`: the same kernels in the same order as the eager step, so
the results are bitwise equal. This saves the cost of Python, autograd and allocation.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import torch
from torch import fx, nn
from torch.nn.utils import stateless

from gradscribe.engine.run.errors import USER_ERRORS, error_message
from gradscribe.engine.train.captured import kernels, ops
from gradscribe.engine.train.captured.rules import cached_constant
from gradscribe.engine.train.captured.tied_parameters import replacements

Step = Callable[..., torch.Tensor]


class CaptureError(Exception):
    """Raised if the step cannot be captured; the text says why."""


def trace(
    model: nn.Module,
    parameters: dict[str, nn.Parameter],
    loss_of: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    x: torch.Tensor,
    y: torch.Tensor,
) -> fx.GraphModule:
    """Return the graph of (parameters, x, y) -> loss and the gradient of each parameter.

    It runs the model once: the caller restores buffers and generators. Raises `CaptureError`.
    """
    from torch.fx.experimental.proxy_tensor import make_fx

    def step(
        values: list[torch.Tensor], x: torch.Tensor, y: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        replaced = dict(zip(parameters.values(), values, strict=True))
        with stateless._reparametrize_module(model, replacements(model, replaced)):
            loss = loss_of(x, y)
        grads = torch.autograd.grad(loss, values, allow_unused=True)
        if any(grad is None for grad in grads):
            raise CaptureError("a parameter takes no part in the loss")
        return (loss, *grads)

    leaves = [p.detach().requires_grad_() for p in parameters.values()]
    try:
        return make_fx(step)(leaves, x, y)
    except CaptureError:
        raise
    except USER_ERRORS as error:
        first = error_message(error).strip().partition("\n")[0][:160]
        raise CaptureError(f"it depends on its data: {first}") from error


class Emitter:
    """Compiler of a captured graph into one Python function of the batch.

    The function takes what `pieces` returns for a batch: the batch and its views.
    """

    def __init__(
        self,
        graph: fx.GraphModule,
        given: list[torch.Tensor],
        batch: tuple[torch.Tensor, ...],
        may_round: bool = False,
    ) -> None:
        self._graph = graph
        self._may_round = may_round
        self.is_exact = True
        """True if all results are bitwise equal to torch's; else some differ in the last bit."""
        self._given = [*given, *batch]
        self._of_batch: dict[fx.Node, str] = {}
        """The batch and its views, with their argument names."""
        self._views: list[tuple[fx.Node, fx.Node | None]] = []
        """The node of each argument and the node it is a view of, None for the batch itself."""
        self._aliases: dict[fx.Node, fx.Node] = {}
        self._first = len(given)
        self._values: dict[fx.Node, object] = {}
        """The value of each node in the run that is made while emitting."""
        self._fixed: set[fx.Node] = set()
        self._constant: set[fx.Node] = set()
        """Nodes whose values are the same in every step."""
        self._written: dict[str, object] = {}
        self._lines: list[str] = []
        calls = (node for node in graph.graph.nodes if node.op == "call_function")
        self._mutated = {node.args[0] for node in calls if ops.mutates(node.target)}

    def batch_arguments(self, *batch: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Return the arguments of the function for a batch, as views of its memory."""
        values: dict[fx.Node, torch.Tensor] = {}
        parts = iter(batch)
        for node, source in self._views:
            if source is None:
                values[node] = next(parts)
            else:
                op = cast("Any", node.target)
                values[node] = op(values[source], *node.args[1:], **node.kwargs)
        return tuple(values.values())

    def emit(self, places: list[torch.Tensor]) -> Step:
        """Return the function, which writes the gradients into ``places`` and returns the loss."""
        outputs: list[fx.Node] = []
        buffers = self._grad_buffers(places)
        inputs = iter(self._given)
        for node in self._graph.graph.nodes:
            if node.op == "placeholder":
                self._values[node] = next(inputs)
                self._fixed.add(node)
                self._first -= 1
                if self._first < 0:
                    self._make_argument(node, None)
            elif node.op == "get_attr":
                self._values[node] = getattr(self._graph, cast("str", node.target))
                self._fixed.add(node)
            elif node.op == "output":
                outputs = list(node.args[0])
            else:
                self._call(node, buffers.get(node))
        loss, *grads = outputs
        for node, place in zip(grads, places, strict=True):
            value = self._values[node]
            assert isinstance(value, torch.Tensor)
            if node not in self._fixed or not _same(value, place):
                self._lines.append(f"{self._name(place)}.copy_({self._operand(node)})")
        self._lines.append(f"return {self._operand(loss)}")
        arguments = [*self._of_batch.values(), *(f"{name}={name}" for name in self._written)]
        body = "\n    ".join(self._lines)
        names = dict(self._written)
        exec(f"def go({', '.join(arguments)}):\n    {body}\n", names)
        return cast("Step", names["go"])

    def _make_argument(self, node: fx.Node, source: fx.Node | None) -> None:
        """Make a node an argument of the function."""
        self._of_batch[node] = f"a{len(self._of_batch)}"
        self._views.append((node, source))

    def _grad_buffers(self, places: list[torch.Tensor]) -> dict[fx.Node, torch.Tensor]:
        """Map ops whose whole result is a gradient to the buffer to write it to."""
        *_, last = self._graph.graph.nodes
        outputs = cast("list[fx.Node]", list(last.args[0]))
        buffers: dict[fx.Node, torch.Tensor] = {}
        for node, place in zip(outputs[1:], places, strict=True):
            transposed, source = False, node
            while source.op == "call_function" and ops.base_name(source.target) in (
                "t",
                "view",
                "detach",
            ):
                transposed ^= ops.base_name(source.target) == "t"
                source = cast("fx.Node", source.args[0])
            if source.op == "call_function" and not transposed and source not in buffers:
                buffers[source] = place
        return buffers

    def _call(self, node: fx.Node, place: torch.Tensor | None) -> None:
        op = cast("Any", node.target)
        arguments = cast("Any", fx.node.map_arg)(node.args, lambda n: self._values[n])
        keywords = cast("Any", fx.node.map_arg)(node.kwargs, lambda n: self._values[n])
        fixed = all(n in self._fixed for n in node.all_input_nodes)
        if node.args and self._aliased(node.args[0]) in self._of_batch:
            if ops.mutates(op):
                raise CaptureError("it writes into its batch")
            if ops.base_name(op) == "as_strided":
                raise CaptureError("it looks at the memory around its batch")
        if ops.has_dynamic_shape(op, arguments):
            raise CaptureError("how many numbers it picks depends on its data")
        if ops.is_inplace_view(op) and fixed:
            self._view_in_place(
                node, getattr(torch.ops.aten, ops.base_name(op)[:-1])(*arguments, **keywords)
            )
            return
        value = ops.raw_function(op)(*arguments, **keywords)
        if ops.base_name(op) in ops.VIEWS and fixed and isinstance(value, torch.Tensor):
            source = cast("torch.Tensor", arguments[0])
            if value.untyped_storage().data_ptr() == source.untyped_storage().data_ptr():
                self._fix_value(node, value)
                whole = self._aliased(node.args[0])
                if whole in self._of_batch:
                    self._make_argument(node, whole)
                elif self._is_constant(node):
                    self._constant.add(node)
                return
        if self._is_constant(node) and not ops.mutates(op):
            self._fix_value(node, value)
            self._constant.add(node)
            return
        is_first_power = str(op) == "aten.pow.Tensor_Scalar" and node.args[1] == 1.0
        if is_first_power and fixed and not self._mutated & {node, node.args[0]}:
            # x ** 1 is x, and nothing writes into either of them.
            self._fix_value(node, arguments[0], node.args[0])
            return
        if ops.mutates(op) and node.args[0] in self._fixed:
            self._lines.append(self._call_text(ops.raw_function(op), node))
            self._fix_value(node, arguments[0], node.args[0])
            return
        if self._may_round and fixed and self._use_numpy(node, value):
            return
        self._write(node, op, value, place)

    def _write(
        self,
        node: fx.Node,
        op: Any,  # noqa: ANN401
        value: object,
        place: torch.Tensor | None,
    ) -> None:
        """Emit the line that computes a node's value, into a buffer if there is an out variant."""
        variant = ops.out_variant(op) if isinstance(value, torch.Tensor) else None
        if variant is None or ops.base_name(op) in ops.VIEWS:
            self._lines.append(f"{node.name} = {self._fast_call(op, node)}")
            self._values[node] = value
            return
        assert isinstance(value, torch.Tensor)
        function, name = variant
        buffer = value
        if place is not None and place.numel() == value.numel() and value.is_contiguous():
            buffer = place.view(value.shape)
            buffer.copy_(value)
        keywords_now = f"{name}={self._name(buffer)}"
        self._lines.append(self._call_text(function, node, keywords_now))
        self._fix_value(node, buffer)

    def _view_in_place(self, node: fx.Node, turned: torch.Tensor) -> None:
        """Record an in-place view op, such as the transpose of an RNN's outputs.

        The buffer keeps the shape it is written in; later nodes see the transposed view.
        """
        self._values[cast("fx.Node", node.args[0])] = turned
        self._fix_value(node, turned)

    def _use_numpy(self, node: fx.Node, value: object) -> bool:
        """Compute a tanh with NumPy if that is much faster; return whether it is.

        The result may differ from torch's in the last bit.
        """
        if str(node.target) != "aten.tanh.default" or self._aliased(node.args[0]) in self._of_batch:
            return False
        operand = self._values[cast("fx.Node", node.args[0])]
        if not isinstance(value, torch.Tensor) or not isinstance(operand, torch.Tensor):
            return False
        if not kernels.is_numpy_faster(operand, value):
            return False
        arrays = self._name(operand.numpy()), self._name(value.numpy())
        self._lines.append(f"{self._name(np.tanh)}({', '.join(arrays)})")
        self._fix_value(node, value)
        self.is_exact = False
        return True

    def _is_constant(self, node: fx.Node) -> bool:
        """Return whether a node has the same value in every step and nothing overwrites it."""
        if node in self._mutated or any(user in self._mutated for user in node.users):
            return False
        base = ops.base_name(node.target)
        if base in ops.CONSTANT_FACTORIES:
            return base.endswith("_like") or all(n in self._fixed for n in node.all_input_nodes)
        sources = node.all_input_nodes
        return (
            bool(sources) and all(n in self._constant for n in sources) and ops.is_pure(node.target)
        )

    def _fix_value(self, node: fx.Node, value: object, same_as: object = None) -> None:
        self._values[node] = value
        self._fixed.add(node)
        if isinstance(same_as, fx.Node):
            self._aliases[node] = self._aliased(same_as)

    def _aliased(self, node: object) -> fx.Node:
        """Return the node whose memory a node aliases as a whole."""
        source = cast("fx.Node", node)
        return self._aliases.get(source, source)

    def _fast_call(self, op: Any, node: fx.Node) -> str:  # noqa: ANN401
        """Return a call with a new result, bypassing the overload object where possible."""
        quick = None if node.kwargs else ops.FAST_WITHOUT_OUT.get(str(op))
        if quick is None:
            return self._call_text(ops.raw_function(op), node)
        # The defaults of these functions differ from those of the schema.
        rest = [a.default_value for a in op._schema.arguments[len(node.args) :]]
        arguments = [self._argument(a) for a in (*node.args, *rest)]
        return f"{self._name(quick)}({', '.join(arguments)})"

    def _call_text(self, function: object, node: fx.Node, more: str = "") -> str:
        arguments = [self._argument(a) for a in self._with_constant(node)]
        skipped = ("memory_format", "pin_memory") if more else ()
        arguments += [
            f"{k}={self._argument(v)}" for k, v in node.kwargs.items() if k not in skipped
        ]
        return f"{self._name(function)}({', '.join([*arguments, more] if more else arguments)})"

    def _with_constant(self, node: fx.Node) -> tuple[object, ...]:
        """Return a node's arguments, a number operand replaced by a cached tensor."""
        args = node.args
        if len(args) != 2 or str(node.target).removeprefix("aten.") not in ops.NUMBER_OPERAND_OPS:
            return args
        operand, number = self._values.get(cast("fx.Node", args[0])), args[1]
        if not isinstance(number, int | float) or isinstance(number, bool):
            return args
        if not isinstance(operand, torch.Tensor) or not operand.is_floating_point():
            return args
        return args[0], cached_constant(number, operand.dtype)

    def _argument(self, value: object) -> str:
        if isinstance(value, fx.Node):
            return self._operand(value)
        if isinstance(value, list | tuple):
            return f"[{', '.join(self._argument(item) for item in value)}]"
        if value is None or isinstance(value, bool | int | float | str):
            return repr(value) if repr(value) not in ("inf", "-inf", "nan") else self._name(value)
        return self._name(value)

    def _operand(self, node: fx.Node) -> str:
        argument = self._of_batch.get(self._aliased(node))
        if argument is not None:
            return argument
        return self._name(self._values[node]) if node in self._fixed else node.name

    def _name(self, thing: object) -> str:
        name = f"k{id(thing)}"
        self._written[name] = thing
        return name


def _same(value: torch.Tensor, place: torch.Tensor) -> bool:
    return (
        value.data_ptr() == place.data_ptr()
        and value.shape == place.shape
        and value.stride() == place.stride()
    )
