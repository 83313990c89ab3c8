"""Clocks of what moves: a flight arrives exactly, and nothing runs at rest."""

from PySide6.QtCore import QObject

from gradscribe.widgets.graph import animation
from gradscribe.widgets.graph.animation import GraphAnimation
from gradscribe.widgets.graph.camera import Camera

START, END = Camera(1.0, 0.0, 0.0), Camera(2.0, 100.0, -50.0)


def test_nothing_moves_at_rest(qapp):
    owner = QObject()
    still = GraphAnimation(owner, lambda: None)
    assert not still.ticks.isActive()
    assert not still.gliding
    assert still.fly() is None
    assert still.motion_share() == 2.0


def test_a_flight_passes_between_its_ends_and_arrives(qtbot, monkeypatch):
    monkeypatch.setattr(animation, "FIT_MS", 60)
    owner, seen = QObject(), []

    def tick():
        seen.append(moving.fly())
        if not moving.gliding:
            moving.ticks.stop()

    moving = GraphAnimation(owner, tick)
    moving.flight = (START, END)
    moving.start("flight")
    assert moving.ticks.isActive()
    assert moving.gliding
    qtbot.waitUntil(lambda: not moving.ticks.isActive())
    assert seen[-1] == END
    assert all(START.zoom <= camera.zoom <= END.zoom for camera in seen)
    assert moving.fly() is None
