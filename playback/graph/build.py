"""Builds the picture of a scene: its cards, wires and frames."""

from collections import defaultdict

from msgspec import structs

from gradscribe.engine.protocol.tape import Arg, Op, Tape, Value
from gradscribe.playback.graph import failed, marks, module_modes, sizes
from gradscribe.playback.graph.folding import origins, repeats
from gradscribe.playback.graph.folding.constants import Constants
from gradscribe.playback.graph.folding.modules import (
    FoldingPlan,
    count_parameters,
    last_result,
    plan_folding,
)
from gradscribe.playback.graph.folding.units import ModuleUnit
from gradscribe.playback.graph.gradients import second_graph
from gradscribe.playback.graph.gradients.node_cards import NodeCards, PictureTables
from gradscribe.playback.graph.picture import Card, CardKind, Frame, Picture, Wire
from gradscribe.playback.tape import operands, passes, snapshot_text
from gradscribe.playback.tape.index import Index, index_of
from gradscribe.playback.tape.scenes import Scene, scene_index_at, scenes
from gradscribe.playback.text import formatting, symbols
from gradscribe.playback.translation import ngettext, tr

__all__ = ["Scene", "build_picture", "scene_index_at", "scenes"]

UNUSED_SHOWN = 8
"""Most named leaves without use that are shown; more are hidden."""


def build_picture(
    tape: Tape | Index, scene: Scene, open_calls: frozenset[str] | None = None
) -> Picture:
    """Return the picture of a scene.

    ``open_calls`` are the keys of the open module frames; None opens as many modules as keep the
    picture within `folding.modules.MAX_CARDS` cards, where possible.
    """
    return _Builder(index_of(tape), scene, open_calls).picture()


class _Builder:
    """Builder of the picture of one scene, op by op."""

    def __init__(self, index: Index, scene: Scene, open_calls: frozenset[str] | None) -> None:
        self.index = index
        self.scene = scene
        events = index.tape.events[scene.start : scene.stop]
        ops = [e.ref for e in events if e.kind == "op" and index.kinds[e.ref] == "forward"]
        named = [e.ref for e in events if e.kind == "leaf" and index.values[e.ref].name]
        inside = second_graph.ops_in_backward(index, ops, named)
        inside += second_graph.ops_of_inner_passes(index, scene.start, scene.stop)
        if inside:
            ops = sorted({*ops, *(op for op in inside if op >= scene.ops[0])})
        self.prepared = origins.leaf_preparing_ops(index, ops)
        self.ops = [op for op in ops if op not in self.prepared]
        self.adopted = origins.buffer_creating_ops(index, self.ops)
        self.plan: FoldingPlan = plan_folding(index, self.ops, open_calls, self.adopted)
        self.constants: dict[int, ModuleUnit] = {}
        """First version of a constant -> the first of the folded modules that contain it."""
        self.paths: dict[str, frozenset[str]] = {}
        """Key of a unit -> the paths of its modules."""
        self.within = set(self.ops)
        self.opened = open_calls or frozenset()
        self.rows: dict[int, str] = {}
        """First version of a leaf in a row of leaves -> the key of the row."""
        self.row_keys: frozenset[str] = frozenset()
        self.error = failed.error_line(index, scene)
        self.fault = index.tape.fault if self.error else None
        self.tags = marks.shared_memory_marks(index, self.ops)
        self.modes = module_modes.modes(index.tape)
        tables = PictureTables()
        self.cards, self.wires, self.edge_wires = tables.cards, tables.wires, tables.edge_wires
        self.node_cards, self.value_cards = tables.node_cards, tables.value_cards
        self.inputs, self._key = tables.inputs, tables.key
        self.torch_nodes = NodeCards(index, scene, open_calls, tables)
        self.op_cards: dict[int, str] = {}
        self.literals: dict[tuple[int, Arg], str] = {}
        """Op and argument -> the key of the literal's card."""
        self.homes: dict[int, str] = {}
        """First version of a tensor that comes from outside the ops -> key of its card."""
        self.takers: dict[int, list[int]] = defaultdict(list)
        roots = {root for run in index.tape.passes for root in run.roots if root is not None}
        self.roots = {index.values[root].op for root in roots}

    def picture(self) -> Picture:
        """Return the picture."""
        ops = [(op, self.index.op(op)) for op in self.ops]
        if self.fault is not None:
            last = len(self.index.tape.ops)
            self.plan.inside[last] = failed.open_unit_around(self.index, self.plan, self.fault)
            ops.append((last, self.fault))
        for number, taker in ops:
            for value in taker.inputs:
                if self._maker(self.index.values[value]) is None:
                    self.takers[self.index.first_version(value)].append(number)
        constants = Constants(self.index, self.ops, self.adopted)
        shown = self.fault.inputs if self.fault is not None else ()
        self.constants = constants.fold(self.plan, self.takers, shown)
        self._find_rows()
        for leaf in self._unused():
            self._pill(leaf)
        for op in self.ops:
            self._add(op)
        for result in self._unused_results():
            self._source_of(result)
        self.torch_nodes.add_rest(self._source_of)
        self._cut()
        self._rebase()
        self._fail()
        for number, home in self.prepared.items():
            for made in self.index.op(number).outputs if home in self.homes else ():
                self.value_cards.setdefault(made, self.homes[home])
        self._note_leaves()
        opened = dict.fromkeys(key for key in self.rows.values() if key in self.opened)
        rows = (Frame(key, None, key.removeprefix("leaves:"), "leaves") for key in opened)
        frames = (
            *(self._frame(unit) for unit in self.plan.frames),
            *rows,
            *self.torch_nodes.frames.values(),
        )
        return Picture(
            cards=tuple(self._ordered()),
            wires=tuple(self.wires.values()),
            frames=frames,
            edge_wires=self.edge_wires,
            node_cards=self.node_cards,
            value_cards=self.value_cards,
            title=self.scene.title,
        )

    def _note_leaves(self) -> None:
        """Note on each folded card the leaves inside that require a gradient."""
        inside: dict[str, list[int]] = defaultdict(list)
        for home, key in self.homes.items():
            if self.cards[key].kind == "module" and self.index.values[home].requires_grad:
                inside[key].append(home)
        for key, leaves in inside.items():
            self.cards[key] = structs.replace(self.cards[key], leaves=tuple(leaves))

    def _rebase(self) -> None:
        """Map the nodes that an in-place op gave to other views of its memory to the op's card."""
        for value in self.index.tape.values:
            card = self.op_cards.get(value.op) if value.op is not None else None
            if card is not None:
                self.value_cards.setdefault(value.id, card)
                if value.node is not None:
                    self.node_cards.setdefault(value.node, card)

    def _ordered(self) -> list[Card]:
        """Return the cards in topological order, so that a folded module follows all its inputs."""
        sources: dict[str, list[str]] = defaultdict(list)
        for wire in self.wires.values():
            sources[wire.target].append(wire.source)
        found: dict[str, Card] = {}
        for key in self.cards:
            stack, open_ = [key], set[str]()
            while stack:
                top = stack[-1]
                # A card that is already on the stack is part of a cycle of folded modules.
                before = [s for s in sources[top] if s not in found and s not in open_]
                if top in found or top in open_ or not before:
                    found.setdefault(top, self.cards[top])
                    stack.pop()
                else:
                    open_.add(top)
                    stack.extend(reversed(before))
        return list(found.values())

    def _unused(self) -> list[Value]:
        index = self.index
        events = index.tape.events[self.scene.start : self.scene.stop]
        leaves = [index.values[e.ref] for e in events if e.kind == "leaf"]
        found = [
            v
            for v in leaves
            if v.name
            and v.role in ("parameter", "data")
            and not index.users.get(v.id)
            and index.first_version(v.id) not in self.takers
            and not second_graph.is_wrapper(index, v)
        ]
        return found if len(found) <= UNUSED_SHOWN else []

    def _unused_results(self) -> list[Value]:
        """Return the named gradients that passes of the scene returned and no drawn op takes."""
        index = self.index
        runs = passes.numbered(index, self.scene.start, self.scene.stop)
        results = (v for run in runs for v in index.tape.passes[run].results if v is not None)
        return [
            index.values[value]
            for value in results
            if index.values[value].name
            and index.first_version(value) not in self.takers
            and value not in self.value_cards
        ]

    def _maker(self, value: Value) -> int | None:
        """Return the op of this scene that made a value; None if it comes from outside."""
        if (
            origins.is_trainable_leaf(value)
            and self.index.first_version(value.id) in self.prepared.values()
        ):
            return None
        return value.op if value.op in self.within else None

    def _add(self, number: int) -> None:
        op = self.index.op(number)
        unit = self.plan.folded.get(number)
        args = operands.operands(op)
        sources = [self._source(op, arg, number) for arg in args]
        key = self._op_card(number, op) if unit is None else self._unit_card(unit)
        self.op_cards[number] = key
        for made in op.outputs:
            self.value_cards[made] = key
        for node in op.nodes:
            self.node_cards[node] = key
        wires = [
            self._join(number, op, key, arg, source, unit is not None)
            for arg, source in zip(args, sources, strict=True)
        ]
        for edge, operand in operands.operand_edges(self.index, op).items():
            if wires[operand]:
                self.edge_wires[edge] = wires[operand]

    def _join(
        self, number: int, op: Op, key: str, arg: Arg, source: str | None, folded: bool
    ) -> str:
        """Add the wire of an operand to a card; return its key, "" for none."""
        value = self.index.values[arg.value] if arg.value is not None else None
        if value is not None and self.index.first_version(value.id) in self.constants:
            return ""
        if source is None:
            source = self._constant(key, arg, number)
            self.literals[number, arg] = source
        return self._wire(op, source, key, value, folded) if source not in ("", key) else ""

    def _cut(self) -> None:
        """Draw the ways on which numbers left torch and came back: no gradient follows them."""
        index, drawn = self.index, set[tuple[str, str]]()
        for cut in index.tape.number_cuts:
            source = self.value_cards.get(cut.value) or self._home_card(cut.value)
            target = self._home_card(cut.leaf) if cut.leaf is not None else ""
            if cut.op in self.within:
                args = index.op(cut.op).args
                arg = args[cut.arg] if cut.arg < len(args) else None
                target = self.literals.get((cut.op, arg), "") if arg is not None else ""
                target = target or self.op_cards.get(cut.op, "")
            if source in self.cards and target in self.cards and source != target:
                if (source, target) in drawn:
                    continue
                drawn.add((source, target))
                operand = self.inputs[target]
                self.inputs[target] += 1
                key = f"{source}>{target}:{operand}"
                self.wires[key] = Wire(key, source, target, operand, dashed=True, cut=cut.way)

    def _home_card(self, value: int) -> str:
        """Return the key of the card of a tensor from outside the ops; empty if it has none."""
        known = self.index.values.get(value)
        return "" if known is None else self.homes.get(self.index.first_version(value), "")

    def _fail(self) -> None:
        """Show where the program failed: the call that raised, or the card of a backward node."""
        op, at = self.fault, self.index.tape.stuck or -1
        stuck = self.node_cards.get(at, self.value_cards.get(at))
        if self.error and stuck is not None:
            self.cards[stuck] = structs.replace(self.cards[stuck], failed=self.error)
        if op is None:
            return
        number = len(self.index.tape.ops)
        key = self._key(f"failed:{symbols.op_title(op)}")
        self.cards[key] = failed.card(op, key, self.error, self.plan.inside[number].key)
        for arg in operands.operands(op):
            self._join(number, op, key, arg, self._source(op, arg, number), False)

    def _source(self, op: Op, arg: Arg, number: int) -> str | None:
        """Return the key of an operand's card; "" hides it, None stands for a new constant."""
        if arg.value is None:
            if number in self.plan.folded:
                return ""
            is_drawn = symbols.canonical_name(op.op) in symbols.ELEMENTWISE and not arg.keyword
            return None if is_drawn and arg.number is not None else ""
        return self._source_of(self.index.values[arg.value])

    def _source_of(self, value: Value) -> str:
        """Return the key of the card of a value."""
        maker = self._maker(value)
        if maker is not None:
            # A view whose base was changed in place has a version that no op lists as an output.
            return self.value_cards.get(value.id) or self.op_cards.get(maker, "")
        return self._pill(value)

    def _pill(self, value: Value) -> str:
        """Return the key of the card of an outside value, adding the card if it is new."""
        home = self.index.first_version(value.id)
        if second_graph.is_torch_made(self.index, value):
            self.homes.setdefault(value.id, self.torch_nodes.card_of(value, self._source_of))
            self.value_cards[value.id] = self.homes[value.id]
            return self.homes[value.id]
        if home not in self.homes:
            hidden = self._hidden_in(home, value)
            returned = passes.returned_by(self.index, home)
            if returned is not None:
                self.homes[home] = self.torch_nodes.result_card(
                    self.index.values[home], *returned, self._source_of
                )
            elif hidden:
                self.homes[home] = self._unit_card(hidden)
            elif home in self.rows and self.rows[home] not in self.opened:
                self.homes[home] = self._row_card(self.rows[home])
            else:
                self.homes[home] = self._new_pill(home, value)
        self.value_cards[value.id] = self.homes[home]
        self.value_cards.setdefault(home, self.homes[home])
        return self.homes[home]

    def _find_rows(self) -> None:
        """Find the leaves that many cards would show in one row, so that they fold."""
        users: dict[int, frozenset[str]] = {}
        for home, takers in self.takers.items():
            value = self.index.values[home]
            if len(self.takers) < repeats.MIN_LEAVES or not origins.is_trainable_leaf(value):
                continue
            if self._hidden_in(home, value) is None and self._home_unit(home, value) is None:
                folded = (self.plan.folded.get(op) for op in takers)
                cards = zip(takers, folded, strict=True)
                users[home] = frozenset(unit.key if unit else f"#{op}" for op, unit in cards)
        found = repeats.rows_of_leaves(self.index, users)
        self.row_keys = frozenset(f"leaves:{title}" for title in found)
        for title, leaves in found.items():
            self.rows.update(dict.fromkeys(leaves, f"leaves:{title}"))

    def _row_card(self, key: str) -> str:
        """Return the key of the card of a folded row of leaves, adding it if it is new."""
        if key not in self.cards:
            title = key.removeprefix("leaves:")
            count = sum(row == key for row in self.rows.values())
            note = tr(
                "{parameters} in a row",
                parameters=ngettext("{count:,} parameter", "{count:,} parameters", count),
            )
            width, height = sizes.module(title, note)
            self.cards[key] = Card(key, "module", title, note=note, width=width, height=height)
        return key

    def _hidden_in(self, home: int, value: Value) -> ModuleUnit | None:
        """Return the folded unit that owns a leaf and contains all its users; None for none."""
        if home in self.constants:
            return self.constants[home]
        units = {self.plan.folded.get(op) for op in self.takers[home]}
        unit = units.pop() if len(units) == 1 else None
        if unit is None:
            return None
        if not unit.calls:
            return unit if self._is_named_in(value, unit) else None
        # A variable of the program's own is an input, even if it requires a gradient.
        is_parameter = value.role == "parameter" and not value.name.isidentifier()
        own = is_parameter or self._is_named_in(value, unit)
        own = own or self._born_in(value, unit) or self._only_adopted(home)
        return unit if own else None

    def _is_named_in(self, value: Value, unit: ModuleUnit) -> bool:
        """Return whether a value's name begins with the path of one of a unit's modules."""
        if unit.key not in self.paths:
            units = (unit,) if unit.calls else unit.all_units()
            names = (self.index.tape.calls[call].name for part in units for call in part.calls)
            self.paths[unit.key] = frozenset(names)
        ends = [at for at, letter in enumerate(value.name) if letter == "."]
        return any(value.name[:end] in self.paths[unit.key] for end in ends)

    def _only_adopted(self, home: int) -> bool:
        """Return whether a leaf is used only to create a module's buffers."""
        return all(op in self.adopted for op in self.takers[home])

    def _born_in(self, value: Value, unit: ModuleUnit) -> bool:
        call = self.index.leaf_calls.get(self.index.first_version(value.id))
        while call is not None:
            if call in unit.calls:
                return True
            call = self.index.tape.calls[call].parent
        return False

    def _new_pill(self, home: int, value: Value) -> str:
        own = origins.is_trainable_leaf(value)
        from_op = value.op is not None and value.role == "result" and not own
        kind: CardKind = "parameter" if own or value.role == "parameter" else "data"
        if value.role == "constant" and not own:
            kind = "constant"
        unit = self._home_unit(home, value)
        name = origins.leaf_name(self.index, value)
        born = self.index.created_at.get(home, -1)
        # What a custom backward is given has neither a name nor a maker.
        nameless = "gradient" if born in self.index.events_in_passes else "tensor"
        if not name and own and (copied := origins.source_of_copy(self.index, self.prepared, home)):
            nameless = tr("copy of {copied}", copied=copied)
        if (
            value.base is not None
            and value.storage < 0
            and (of := self.index.values[value.base].name)
        ):
            nameless = tr("{of} in torch.func", of=of)
        title = name or value.maker.rsplit(".", 1)[-1] or nameless
        key = self._key("leaf:" + (name or value.maker or "tensor"))
        if unit is not None and unit.calls:
            prefix = self.index.tape.calls[unit.calls[0]].name + "."
            title = title.removeprefix(prefix)
        scalar = value.shape == () or set(value.shape) == {1}
        shown = self._written(value) if scalar else formatting.shape(value.shape)
        width, height = sizes.pill(title, scalar, shown)
        self.cards[key] = Card(
            key,
            kind,
            title,
            value=value.id,
            frame=unit.key if unit else self.rows.get(home, ""),
            scalar=scalar,
            cut=from_op or not value.requires_grad,
            mark=self.tags.get(value.storage, ""),
            width=width,
            height=height,
            name=name,
        )
        return key

    def _home_unit(self, home: int, value: Value) -> ModuleUnit | None:
        """Return the open unit that owns a leaf and contains all its users; None for none."""
        chains = []
        for op in self.takers[home]:
            unit = self.plan.inside.get(op)
            if unit is None:
                unit = self.plan.folded[op].parent
            chain = []
            while unit is not None and unit.key:
                chain.append(unit)
                unit = unit.parent
            chains.append(chain)
        for unit in chains[0] if chains else []:
            if not all(unit in chain for chain in chains[1:]):
                continue
            if unit.repeats > 1 or not unit.calls:
                continue
            name = self.index.tape.calls[unit.calls[0]].name
            own = value.name.startswith(name + ".") or self._only_adopted(home)
            if own or self._born_in(value, unit):
                return unit
        return None

    def _op_card(self, number: int, op: Op) -> str:
        value = self.index.values[op.outputs[0]]
        title, name = symbols.op_title(op), value.name
        key = self._key(f"op:{title}:{name}", always=True)
        call = self.plan.frameless_calls.get(number)
        note = symbols.note(op)
        if call is not None and note != "x Wᵀ + b":
            module = symbols.module_title(self.index.tape.calls, call)
            note = f"{module} · {note}" if note else module
        scalar = value.shape == () or set(value.shape) == {1}
        shown = self._written(value) if scalar else formatting.shape(value.shape)
        width, height = sizes.op(title, name, note, scalar, shown)
        unit = self.plan.inside[number]
        self.cards[key] = Card(
            key,
            "loss" if number in self.roots else "op",
            title,
            name=name,
            symbol=symbols.symbol(op),
            note=note,
            value=value.id,
            op=number,
            call=op.call,
            ops=(number,),
            frame=unit.key,
            scalar=scalar,
            cut=not any(self.index.values[v].requires_grad for v in op.outputs),
            mark=marks.joined(
                marks.card_mark(value, op.inplace, self.tags),
                module_modes.mode_of(self.index.tape, op),
            ),
            width=width,
            height=height,
        )
        return key

    def _unit_card(self, unit: ModuleUnit) -> str:
        """Return the key of a folded unit's card, adding it if it is new."""
        if unit.key in self.cards:
            return unit.key
        ops = sorted(unit.all_ops())
        value = last_result(self.index, ops)
        title, note = self._unit_texts(unit, len(ops))
        made = self.index.values[value] if value is not None else None
        shape = formatting.shape(made.shape) if made else ""
        width, height = sizes.module(title, note, shape, made.name if made else "")
        self.cards[unit.key] = Card(
            unit.key,
            "module",
            title,
            name=made.name if made else "",
            note=note,
            value=value,
            call=unit.calls[0] if unit.calls else None,
            ops=tuple(ops),
            frame=unit.parent.key if unit.parent else "",
            scalar=bool(made) and made is not None and made.shape == (),
            cut=made is not None and not made.requires_grad,
            mark=marks.joined(
                f"×{unit.repeats}" if unit.repeats > 1 else "",
                self.modes.get(unit.calls[0], "") if unit.calls else "",
            ),
            repeats=unit.repeats,
            last_call=unit.calls[-1] if unit.repeats > 1 and unit.calls else None,
            width=width,
            height=height,
        )
        return unit.key

    def _unit_texts(self, unit: ModuleUnit, ops: int) -> tuple[str, str]:
        """Return the title and the note of a folded unit's card."""
        if not unit.calls:
            return (
                unit.title,
                (repeats.words(unit) + " · " + ngettext("{count:,} op", "{count:,} ops", ops)),
            )
        calls = self.index.tape.calls
        call = calls[unit.calls[0]]
        count = symbols.parameter_count(count_parameters(self.index, unit))
        note = " · ".join(filter(None, (symbols.module_sizes(call), count)))
        title = symbols.module_title(calls, unit.calls[0])
        return f"{self._span(unit)}: {call.kind}" if unit.repeats > 1 else title, note

    def _constant(self, key: str, arg: Arg, number: int) -> str:
        """Return the key of the card of a literal, adding it; a named literal has only one card."""
        written = snapshot_text.literal(arg)
        if arg.name:
            literal_key = f"literal:{arg.name}={arg.text}"
        else:
            literal_key = f"literal:{key}:{self.inputs[key]}"
        if literal_key not in self.cards:
            width, height = sizes.pill(arg.name, True, written)
            card = Card(
                literal_key,
                "data" if arg.name else "constant",
                arg.name,
                literal=written,
                frame=self.plan.inside[number].key,
                cut=True,
                width=width,
                height=height,
            )
            # Before its op's card, which was added first.
            after = self.cards.pop(key)
            self.cards |= {literal_key: card, key: after}
        return literal_key

    def _wire(self, op: Op, source: str, target: str, value: Value | None, folded: bool) -> str:
        output, part = 0, ""
        if value is not None and value.op is not None and self.cards[source].op == value.op:
            made = self.index.op(value.op)
            output = made.outputs.index(value.id) if value.id in made.outputs else 0
            part = marks.output_label(made, value)
        in_row = source in self.row_keys
        if folded or in_row:
            for wire in self.wires.values():
                same = wire.source == source and wire.target == target
                if same and (in_row or (value is not None and wire.value == value.id)):
                    return wire.key
        operand = self.inputs[target]
        self.inputs[target] += 1
        key = f"{source}>{target}:{operand}"
        known = op is not self.fault
        dashed = value is None or not value.requires_grad or (known and not op.nodes)
        reason = marks.cut_reason(op, value) if known else ""
        # A row of leaves sends many values along a single wire.
        one = None if in_row else value
        self.wires[key] = Wire(
            key,
            source,
            target,
            operand,
            output,
            one.id if one else None,
            formatting.shape(one.shape) if one is not None and one.shape else "",
            dashed,
            reason,
            part,
            marks.broadcast(self.index, op, one) if known and not folded else None,
        )
        return key

    def _span(self, unit: ModuleUnit) -> str:
        return symbols.module_span(self.index.tape.calls, unit.calls[0], unit.calls[-1])

    def _frame(self, unit: ModuleUnit) -> Frame:
        outside = unit.parent.key if unit.parent else ""
        if not unit.calls:
            words = repeats.words(unit)
            return Frame(unit.key, None, words, tr("repeated ops"), "", outside, unit.repeats)
        call = self.index.tape.calls[unit.calls[0]]
        about = symbols.module_sizes(call)
        # A module that is idle in its mode, as Dropout in eval, has no card with a mark.
        mode = self.modes.get(unit.calls[0], "")
        kind = marks.joined(f"{call.kind}({about})" if about else call.kind, mode)
        count = count_parameters(self.index, unit)
        title = self._span(unit)
        return Frame(
            key=unit.key,
            call=unit.calls[0],
            title=title,
            kind=kind,
            note=ngettext("{count:,} parameter", "{count:,} parameters", count) if count else "",
            parent=unit.parent.key if unit.parent else "",
            repeats=unit.repeats,
            last_call=unit.calls[-1] if unit.repeats > 1 else None,
        )

    def _written(self, value: Value) -> str:
        """Return the number of a scalar as its card shows it; empty for tensors."""
        snapshot = self.index.snapshot(value.snapshot)
        number = snapshot.item() if snapshot is not None and snapshot.numel == 1 else None
        if number is None:
            return ""
        return formatting.trim_zeros(number) if value.op is None else formatting.number(number)
