from gradscribe.playback.layout.level import (
    BOX,
    ENTRY,
    LEAF,
    OP,
    Cancelled,
    Level,
    LevelEdge,
    LevelNode,
    Spacing,
)


def test_levels_of_the_same_make_are_one_key():
    def level() -> Level:
        nodes = (LevelNode(64.0, 64.0, 38.0, LEAF), LevelNode(82.0, 82.0, 58.0, OP))
        return Level(nodes, (LevelEdge(0, 1, 0.0, -27.0, 0),), Spacing(36, 14, 14, 14, 48, 40))

    assert level() == level()
    assert len({level(): 1, level(): 2}) == 1


def test_a_level_with_another_port_or_gap_is_another_key():
    nodes = (LevelNode(64.0, 64.0, 38.0, LEAF), LevelNode(82.0, 82.0, 58.0, OP))
    style = Spacing(36, 14, 14, 14, 48, 40)
    level = Level(nodes, (LevelEdge(0, 1, 0.0, -27.0, 0),), style)
    assert level._replace(edges=(LevelEdge(0, 1, 0.0, 27.0, 0),)) != level
    assert level._replace(style=style._replace(row_gap=84)) != level


def test_cards_and_boxes_come_before_what_only_wires_pass():
    assert max(OP, LEAF, BOX) < ENTRY


def test_giving_up_is_no_error_of_the_picture():
    assert not issubclass(Cancelled, ValueError)
