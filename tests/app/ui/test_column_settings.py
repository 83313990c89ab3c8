"""Widths of columns are stored in the settings, and a spoilt record is as if there were none."""

import pytest

from gradscribe.app.files.settings import Settings
from gradscribe.app.ui import column_settings
from gradscribe.widgets.base.columns import widths


@pytest.fixture
def settings(qapp):
    yield Settings()
    widths.choose({})


def test_widths_are_there_again(settings):
    widths.choose({"values": {0: 180}, "runs": {2: 90}})
    column_settings.remember(settings)
    widths.choose({})
    column_settings.recall(settings)
    assert widths.chosen() == {"values": {0: 180}, "runs": {2: 90}}


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"values": {"a": 5}}', '{"values": 7}'])
def test_a_record_that_cannot_be_read_changes_nothing(settings, text):
    settings.put("columns", text)
    column_settings.recall(settings)
    assert widths.chosen() == {}
