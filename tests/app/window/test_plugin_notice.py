"""Plug-ins that are left out are named once, in the window."""

from gradscribe.engine import plugins
from gradscribe.engine.protocol.training import Catalogue
from tests.plugins import install

__all__ = ["install"]


def texts(window):
    return [notice.text for notice in window.notices.waiting if notice.key == "plugins"]


def test_every_plug_in_that_is_left_out_is_named(settled, install):
    install([("panes", "gone = others.gone")], {})
    assert plugins.entries("panes", "ENTRY", type) == {}
    session = settled.workspaces.session
    session.catalogue_changed.emit(Catalogue(0, (), left_out=("The plug-in a is left out: b",)))
    (text,) = texts(settled)
    assert "The plug-in" in text
    assert text.endswith("And 1 more")


def test_without_plug_ins_nothing_is_said(settled):
    settled.workspaces.session.catalogue_changed.emit(Catalogue(0, ()))
    assert texts(settled) == []
