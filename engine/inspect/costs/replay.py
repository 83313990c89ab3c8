"""The ops from a program's leaves to the root of its first pass, as a function to call again.

The program is run once more up to the pass while a function mode notes each call with its
arguments; the calls that the root depends on are then repeated with other tensors in their place.
What the program does between them in plain Python is left out, and so are the tensors it draws.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch.autograd import forward_ad
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map_only

from gradscribe.engine.inspect.sharing import NotComparable
from gradscribe.engine.record.values.raw_reads import WithoutFunctionModes
from gradscribe.engine.run import run

MOST_CALLS = 20_000
MAX_ELEMENTS = 1 << 26
"""Elements of all tensors of the calls together: they live as long as the calls are noted."""
_RANDOM = frozenset(
    "dropout alpha_dropout feature_dropout dropout1d dropout2d dropout3d bernoulli bernoulli_ "
    "multinomial normal normal_ uniform_ rand_like randn_like randint_like rrelu gumbel_softmax "
    "scaled_dot_product_attention multi_head_attention_forward".split()
)


class _Step(NamedTuple):
    """A call: the function, its arguments, its tensors, and the tensors that end with it."""

    function: Callable[..., object]
    args: tuple[object, ...]
    kwargs: dict[str, object]
    outputs: tuple[int, ...]
    has_grad: bool
    ends: tuple[int, ...] = ()
    """Tensors that no later step takes."""


class _Tracer(TorchFunctionMode):
    """Notes each torch function that is called with tensors."""

    def __init__(self) -> None:
        self.steps: list[_Step] = []
        self.tensors: dict[int, torch.Tensor] = {}
        """By identity; alive, so that no identity is used twice."""
        self.before: dict[int, torch.Tensor] = {}
        """Copies of tensors from outside, made before the first write to them."""
        self._made: set[int] = set()
        self.elements = 0
        self.is_full = False

    def __torch_function__(
        self,
        func: Callable[..., object],
        types: object,
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        kwargs = kwargs or {}
        has_grad = torch.is_grad_enabled()
        if args and isinstance(args[0], torch.Tensor) and _writes(func):
            with WithoutFunctionModes():
                self._copy(args[0])
        out = func(*args, **kwargs)
        with WithoutFunctionModes():
            self._note(func, args, kwargs, out, has_grad)
        return out

    def _copy(self, tensor: torch.Tensor) -> None:
        if id(tensor) in self._made or id(tensor) in self.before:
            return
        self.tensors[id(tensor)] = tensor
        self.before[id(tensor)] = tensor.detach().clone()

    def _note(
        self,
        func: Callable[..., object],
        args: tuple[object, ...],
        kwargs: dict[str, object],
        out: object,
        has_grad: bool,
    ) -> None:
        taken, made = tensors_in((args, kwargs)), results(func, args, out)
        if self.is_full or not taken or not made:
            return
        for tensor in (*taken, *made):
            if id(tensor) not in self.tensors:
                self.tensors[id(tensor)] = tensor
                self.elements += tensor.numel()
        outputs = tuple(id(t) for t in made)
        self._made.update(outputs)
        self.steps.append(_Step(func, args, kwargs, outputs, has_grad))
        self.is_full = len(self.steps) > MOST_CALLS or self.elements > MAX_ELEMENTS


Tensors = list[torch.Tensor]


def tensors_in(value: object) -> Tensors:
    """Return the tensors in nested tuples, lists and dictionaries."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        return [t for item in value.values() for t in tensors_in(item)]
    if isinstance(value, tuple | list):
        return [t for item in value for t in tensors_in(item)]
    return []


_WRITES = frozenset(
    f"__i{name}__" for name in "add sub mul div truediv floordiv mod pow and or xor".split()
)


def _writes(function: Callable[..., object]) -> bool:
    """Return whether a call changes its first argument."""
    name = getattr(function, "__name__", "")
    is_inplace = name.endswith("_") and not name.endswith("__")
    return is_inplace or name == "__setitem__" or name in _WRITES


def results(function: Callable[..., object], args: tuple[object, ...], out: object) -> Tensors:
    """Return the tensors that a call made or changed: ``x[0] = 1`` returns nothing."""
    is_write = getattr(function, "__name__", "") == "__setitem__"
    return tensors_in(args[:1] if is_write else out)


class Replay:
    """A computation that can be called again: from its leaves and constants to a root."""

    def __init__(
        self,
        steps: Sequence[_Step],
        tensors: dict[int, torch.Tensor],
        before: dict[int, torch.Tensor],
        root: int,
    ) -> None:
        self._steps = _with_ends(steps, root)
        self._root = root
        taken = {id(t): t for step in steps for t in tensors_in((step.args, step.kwargs))}
        made = {out for step in steps for out in step.outputs}
        self.outside = [t for key, t in taken.items() if key not in made or t.is_leaf]
        """Leaves, data and constants."""
        self.leaves = [t for t in taken.values() if t.requires_grad and t.is_leaf]
        self.is_random = any(getattr(s.function, "__name__", "") in _RANDOM for s in steps)
        self.calls = len(steps)
        self._written = {k: before[k] for k in before if k in taken and k in made}
        """Tensors from outside that a step writes to: each run gets copies of them."""
        self.value = tensors[root].detach().clone()
        """The root's number in the program itself."""

    def run(
        self,
        instead: dict[int, torch.Tensor] | None = None,
        *,
        graph: bool = True,
        watch: Callable[[dict[int, torch.Tensor]], None] | None = None,
    ) -> torch.Tensor:
        """Compute the root again; ``instead``: dual tensors for leaves, by identity.

        ``graph``: record for backward as the program did. ``watch`` is called after each step with
        the tensors that are alive.
        """
        is_dual = instead is not None
        alive = {key: tensor.clone() for key, tensor in self._written.items()} | (instead or {})

        def current(tensor: torch.Tensor) -> torch.Tensor:
            return alive.get(id(tensor), tensor)

        def without_tangent(tensor: torch.Tensor) -> torch.Tensor:
            primal: torch.Tensor = forward_ad.unpack_dual(current(tensor))[0]  # type: ignore[no-untyped-call]
            return primal

        for step in self._steps:
            # Where the program recorded nothing for backward, no tangent goes on either.
            given = without_tangent if is_dual and not step.has_grad else current
            args, kwargs = tree_map_only(torch.Tensor, given, (step.args, step.kwargs))
            with torch.set_grad_enabled(graph and step.has_grad):
                made = results(step.function, args, step.function(*args, **kwargs))
            alive.update(zip(step.outputs, made, strict=True))
            del made, args, kwargs
            if watch is not None:
                watch(alive)
            for ended in step.ends:
                alive.pop(ended, None)
        return alive[self._root]


def _with_ends(steps: Sequence[_Step], root: int) -> list[_Step]:
    """Return steps with the tensors that each is the last to take or to make."""
    last: dict[int, int] = {}
    for number, step in enumerate(steps):
        for tensor in tensors_in((step.args, step.kwargs)):
            last[id(tensor)] = number
        for out in step.outputs:
            last[out] = number
    ends: dict[int, list[int]] = {}
    for tensor_id, number in last.items():
        if tensor_id != root:
            ends.setdefault(number, []).append(tensor_id)
    return [step._replace(ends=tuple(ends.get(n, ()))) for n, step in enumerate(steps)]


@contextmanager
def replay_of(last: run.FinishedRun, number: int) -> Iterator[Replay]:
    """Run the latest program again up to a pass, and give its computation as a function.

    Raises:
        NotComparable: the pass is not reached, or its root is not one number.
    """
    if not 0 <= number < len(last.tape.passes):
        raise NotComparable("There is no backward pass in this run")
    recorder, tracer = run.new_recorder(last.request), _Tracer()
    recorder.backward.stop_at_pass = number
    try:
        with tracer:
            done = run.perform(last.request, recorder)
        roots = recorder.backward.reached_roots
        if done.error is not None:
            raise NotComparable(done.error.message)
        if len(roots) != 1 or roots[0].numel() != 1:
            raise NotComparable("The pass does not begin at a single number")
        if tracer.is_full:
            raise NotComparable("The program computes too much before its first backward pass")
        steps = _needed(tracer, id(roots[0]))
        if not steps:
            raise NotComparable("No op of PyTorch leads to where the pass begins")
        yield Replay(steps, tracer.tensors, tracer.before, id(roots[0]))
    finally:
        recorder.backward.reached_roots = []
        recorder.release()


def _needed(tracer: _Tracer, root: int) -> list[_Step]:
    """Return the calls that a tensor depends on, in order, without those that made the leaves."""
    wanted, found = {root}, list[_Step]()
    leaves = {key for key, t in tracer.tensors.items() if t.is_leaf and t.requires_grad}
    for step in reversed(tracer.steps):
        if wanted.isdisjoint(step.outputs) or leaves.issuperset(step.outputs):
            continue
        found.append(step)
        wanted.update({id(t) for t in tensors_in((step.args, step.kwargs))} - leaves)
    return found[::-1]
