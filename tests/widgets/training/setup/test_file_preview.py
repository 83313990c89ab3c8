"""The columns of a file, and what each is used as."""

from gradscribe.engine.protocol.training import FileSummary
from gradscribe.widgets.training.setup.file_preview import FilePreview


def test_columns_of_one_digit_have_room_for_what_each_is_used_as(shown):
    look = shown(FilePreview(), 300, 240)
    look.show_file(FileSummary(1, "f.csv", ("a", "b"), (True, True), (("1", "2"),), 9), [], "")
    header = look.table.horizontalHeader()
    before = [header.sectionSize(column) for column in (0, 1)]
    for column in (0, 1, 1):
        header.sectionClicked.emit(column)
    words = [look.table.horizontalHeaderItem(column).text() for column in (0, 1)]
    assert words == ["a\ninput", "b\ntarget"]
    assert [header.sectionSize(column) for column in (0, 1)] == before
    assert min(before) > header.fontMetrics().horizontalAdvance("target") + 6
