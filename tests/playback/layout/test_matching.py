"""Cards of a picture matched with those of another."""

from msgspec.structs import replace

from gradscribe.playback.graph import build
from gradscribe.playback.graph.picture import Card, Frame, Picture
from gradscribe.playback.layout.matching import match_keys
from gradscribe.playback.tape import scenes
from tests.playback.drafts import Draft
from tests.playback.edits import deleted, exchanged, inserted

CHAIN = """
x = param(2.0)
y = x * 3
{more}y = y + 1
y = y * 5
y = y * 7
y.backward()
"""


def chain(*titles: str) -> Picture:
    """Cards as `playback.graph.build` keys them: by title, counted."""
    cards = []
    for title in titles:
        key = f"op:{title}:{sum(card.title == title for card in cards)}"
        cards.append(Card(key, "op", title))
    return Picture(tuple(cards), ())


def test_a_picture_is_the_same_as_itself():
    picture = chain("mul", "add", "mul")
    assert match_keys(picture, picture) == {card.key: card.key for card in picture.cards}


def test_one_product_more_leaves_those_after_it_what_they_were():
    found = match_keys(chain("add", "mul", "exp", "mul"), chain("mul", "add", "mul", "exp", "mul"))
    assert found["op:mul:1"] == "op:mul:0"
    assert found["op:mul:2"] == "op:mul:1"
    assert "op:mul:0" not in found


def test_one_product_less_leaves_those_after_it_what_they_were():
    found = match_keys(chain("mul", "add", "mul", "exp", "mul"), chain("add", "mul", "exp", "mul"))
    assert found["op:mul:0"] == "op:mul:1"
    assert found["op:mul:1"] == "op:mul:2"


def test_what_replaces_a_card_takes_its_part():
    found = match_keys(chain("add", "mul", "exp"), chain("add", "tanh", "exp"))
    assert found["op:tanh:0"] == "op:mul:0"


def test_a_line_of_a_program_moves_no_card_but_its_own(recorded):
    pictures = []
    for more in ("", "y = y * 4\n"):
        tape = recorded(CHAIN.format(more=more))
        pictures.append(build.build_picture(tape, scenes.scenes(tape)[0]))
    old, new = pictures
    values = [{card.key: card.note or card.title for card in one.cards} for one in pictures]
    found = match_keys(old, new)
    ops = [card.key for card in new.cards if card.kind in ("op", "loss")]
    assert len(ops) == 5
    assert [found.get(key) for key in (ops[0], *ops[2:])] == [
        card.key for card in old.cards if card.kind in ("op", "loss")
    ]
    assert all(values[0][found[key]] == values[1][key] for key in found if key in values[1])


def test_edits_leave_all_other_cards_what_they_were():
    d = Draft()
    for number in range(9):
        d.op(f"n{number}", *([f"n{number - 1}"] if number else []))
    picture = d.picture()
    keys = {card.key for card in picture.cards}
    for edit in (inserted, deleted, exchanged):
        found = match_keys(picture, edit(picture, 4))
        others = {key: old for key, old in found.items() if key != "fresh"}
        assert all(key == old for key, old in others.items())
        assert set(others) >= keys - {"n4"}


def test_an_opened_module_is_the_card_that_it_was():
    folded = Picture((Card("call:net", "module", "net"),), ())
    frame = Frame("call:net", 0, "net", "Net")
    opened = Picture((Card("a", "op", "a", frame="call:net"),), (), (frame,))
    assert match_keys(folded, opened)["call:net"] == "call:net"
    assert match_keys(opened, folded)["call:net"] == "call:net"


def test_pictures_too_big_to_compare_go_by_their_keys():
    many = chain(*(f"a{number % 7}" for number in range(1_500)))
    other = replace(many, cards=(Card("x", "op", "x"), *many.cards[::-1], Card("y", "op", "y")))
    found = match_keys(many, other)
    assert {key for key in found if found[key] == key} >= {card.key for card in many.cards}
