"""Layers of the graph in the window: order and visits of the backward nodes."""

import pytest
import torch

SQUARES = """
x = torch.tensor(2.0, requires_grad=True)
a = x * 3.0
b = a.exp()
c = a.sin()
loss = b + c
loss.backward(retain_graph=True)
b.backward()
"""


def plain_visits():
    """Return the names of the results in the order in which plain torch runs their nodes."""
    x = torch.tensor(2.0, requires_grad=True)
    a = x * 3.0
    made = {"a": a, "b": a.exp(), "c": a.sin()}
    made["loss"] = made["b"] + made["c"]
    ran = []
    for name, tensor in made.items():
        tensor.grad_fn.register_hook(lambda *_, name=name: ran.append(name))
    made["loss"].backward(retain_graph=True)
    first = list(ran)
    made["b"].backward()
    return first, ran[len(first) :]


@pytest.mark.checklist(97, 168)
def test_cards_show_order_and_visits_once_the_layer_is_on(desk):
    first, second = plain_visits()
    desk.run(SQUARES)
    window = desk.window
    assert not window.session.view.order
    drawing = window.graph.canvas.drawing
    usual = drawing.card_area(desk.card("b").key)
    assert window.menus.perform_by("view.order") is None
    try:
        assert drawing.layers.order
        for name in first:
            order = (second if name in second else first).index(name) + 1
            visits = first.count(name) + second.count(name)
            assert drawing.reading(desk.card(name).key).order == f"#{order} · {visits}×"
        assert drawing.card_area(desk.card("b").key).contains(usual)
        desk.session.move(0)
        assert {drawing.reading(card.key).order for card in desk.cards} == {""}
    finally:
        window.menus.perform_by("view.order")
    assert not drawing.layers.order
