"""Rows of options, sections, the builder of layers and the whole form."""

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.protocol.training import CatalogueEntry, Option, replies, requests
from gradscribe.engine.train.serve.host import TrainingHost
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.plots.features import FEATURES
from gradscribe.widgets.training.setup import run_options
from gradscribe.widgets.training.setup.choice_grid import ChoiceGrid
from gradscribe.widgets.training.setup.layers_editor import MOST_LAYERS, LayersEditor
from gradscribe.widgets.training.setup.option_row import OptionRow
from gradscribe.widgets.training.setup.sections import OptionFold, PartSection
from gradscribe.widgets.training.setup.setup_form import SetupForm
from tests.app.training.fakes import catalogue


def row_of(shown, option):
    made = shown(OptionRow(option), 280, 120)
    made.told = []
    made.edited.connect(lambda _name, value: made.told.append(value))
    return made


def test_layers_are_added_and_removed_and_widened(shown):
    edit, told = shown(LayersEditor(1, 8)), []
    edit.edited.connect(told.append)
    edit.set_widths([4, 2])
    edit.more.click()
    edit.button(0, +1).click()
    edit.button(1, -1).click()
    edit.fewer.click()
    assert told == [[4, 2, 2], [5, 2, 2], [5, 1, 2], [5, 1]]
    assert not edit.button(1, -1).isEnabled()


def test_many_layers_get_their_rows_in_several_turns(shown, qtbot):
    edit = shown(LayersEditor(1, 64), 280, 900)
    edit.offer("Activation", ("relu", "tanh", "gelu"))
    widths, names = list(range(1, 17)), ["relu", "tanh", "gelu", "tanh"] * 4
    edit.set_widths(widths)
    edit.set_names(names)
    rows = [len(edit._rows)]
    assert rows[0] < 16, "the others in turns to come"
    assert edit.widths == widths
    while len(edit._rows) < 16:
        qtbot.waitUntil(lambda: len(edit._rows) > rows[-1])
        rows.append(len(edit._rows))
    assert [edit.choice(at).currentData() for at in range(16)] == names
    assert [edit._rows[at][3].text() for at in range(16)] == [str(width) for width in widths]
    edit.set_widths([5])
    edit.set_widths([6, 7])
    assert edit._rows[1][3].isVisibleTo(edit)
    assert not edit._rows[2][3].isVisibleTo(edit)


def test_the_builder_has_ends(shown):
    edit = shown(LayersEditor(1, 3))
    edit.set_widths([3] * MOST_LAYERS)
    assert not edit.more.isEnabled()
    assert not edit.button(0, +1).isEnabled()
    edit.set_widths([])
    assert not edit.fewer.isEnabled()


def builder(form, **options):
    form.set_setup(Setup(data=Part("moons"), model=Part("mlp", options)))
    return form.parts["model"].by_name["layers"].editor


def pick(layers, index, name):
    choice = layers.choice(index)
    choice.setCurrentIndex(choice.findData(name))
    choice.activated.emit(choice.currentIndex())


def test_each_layer_shows_the_activation_of_all(form):
    layers = builder(form, layers=[4, 2], activation="relu")
    assert layers.names() == ["relu", "relu"]
    assert [layers.choice(at).currentText() for at in (0, 1)] == ["relu", "relu"]
    assert layers.choice(1).isVisible()
    assert layers.choice(1).accessibleName() == "Activation of layer 2"


def test_a_layer_may_have_an_activation_of_its_own(form):
    layers = builder(form, layers=[5, 3])
    pick(layers, 1, "relu")
    made = form.told[-1].model
    assert made == Part("mlp", {"layers": [5, 3], "activation": ["tanh", "relu"]})
    form.set_setup(form.told[-1])
    assert form.parts["model"].by_name["activation"].editor.currentIndex() == -1
    pick(layers, 1, "tanh")
    assert form.told[-1].model == Part("mlp", {"layers": [5, 3]})
    pick(layers, 1, "tanh")
    assert len(form.told) == 2, "what is chosen already changes nothing"


def test_the_activation_of_all_layers_takes_the_place_of_each(form):
    builder(form, layers=[4, 2], activation=["tanh", "relu"])
    form.parts["model"].by_name["activation"].edited.emit("activation", "relu")
    assert form.told[-1].model.options["activation"] == "relu"


@pytest.mark.parametrize(
    ("press", "left"),
    [
        ("more", {"layers": [4, 2, 2], "activation": ["tanh", "relu", "relu"]}),
        ("fewer", {"layers": [4]}),
        ("widen", {"layers": [5, 2], "activation": ["tanh", "relu"]}),
    ],
)
def test_there_are_as_many_activations_as_layers(form, press, left):
    layers = builder(form, layers=[4, 2], activation=["tanh", "relu"])
    (layers.button(0, +1) if press == "widen" else getattr(layers, press)).click()
    assert form.told[-1].model.options == left


def test_without_layers_there_is_one_activation_to_begin_with(form):
    layers = builder(form, layers=[4], activation=["relu"])
    layers.fewer.click()
    assert form.told[-1].model.options == {"layers": []}
    form.set_setup(form.told[-1])
    layers.more.click()
    assert layers.names() == ["tanh"]


def test_a_flag_and_a_choice(shown):
    flag = row_of(shown, Option("shuffle", "bool", True))
    flag.editor.click()
    assert flag.told == [False]
    choice = row_of(shown, Option("activation", "choice", "tanh", choices=("tanh", "relu")))
    assert choice.editor.currentText() == "tanh"
    choice.editor.activated.emit(1)
    assert choice.told == ["relu"]


def test_several_choices_are_told_in_their_order(shown):
    row = row_of(shown, Option("features", "choices", [], choices=("x1", "x2", "x1*x2")))
    buttons = {button.text(): button for button in row.editor.findChildren(QPushButton)}
    buttons["x1*x2"].click()
    buttons["x1"].click()
    assert row.told == [["x1*x2"], ["x1", "x1*x2"]]


def test_a_list_of_numbers_is_typed(shown, qtbot):
    row = row_of(shown, Option("betas", "floats", [0.9, 0.999]))
    assert row.editor.text() == "0.9, 0.999"
    row.editor.selectAll()
    qtbot.keyClicks(row.editor, "0.8; 0.99")
    qtbot.keyClick(row.editor, Qt.Key.Key_Return)
    assert row.told == [[0.8, 0.99]]
    row.editor.selectAll()
    qtbot.keyClicks(row.editor, "many")
    qtbot.keyClick(row.editor, Qt.Key.Key_Return)
    assert row.note.said().startswith("Numbers with commas")


def test_a_program_is_taken_once_typing_rests(shown, qtbot):
    row = row_of(shown, Option("source", "text", "", lines=6))
    qtbot.keyClicks(row.editor, "class Net")
    qtbot.waitUntil(lambda: row.told == ["class Net"])


def test_drawn_points_are_counted_and_cleared(shown):
    row = row_of(shown, Option("points", "points", []))
    row.set_value([[0, 0, 1], [1, 1, 0]])
    assert "2 drawn" in [label.text() for label in row.findChildren(QLabel)]
    row.findChild(QPushButton).click()
    assert row.told == [[]]


@pytest.fixture
def form(shown):
    made = shown(SetupForm(), 300, 1600)
    made.told = []
    made.edited.connect(made.told.append)
    for _ in made.offer(catalogue()):
        pass
    made.set_setup(Setup(data=Part("moons")))
    return made


def test_columns_of_a_file_are_left_to_its_preview(form):
    form.set_setup(Setup(data=Part("csv")))
    rows = form.parts["data"].by_name
    assert rows["inputs"].isHidden()
    assert rows["columns"].isHidden()
    assert not rows["target"].isHidden()


def test_seldom_options_are_in_a_fold_that_the_keyboard_opens(form, qtbot):
    form.set_setup(Setup(data=Part("csv")))
    folds = form.parts["data"].findChildren(OptionFold)
    assert [fold.accessibleName() for fold in folds] == ["How the file is read"]
    row = form.parts["data"].by_name["separator"]
    assert row.isHidden()
    folds[0].setFocus()
    qtbot.keyClick(folds[0], Qt.Key.Key_Space)
    assert not row.isHidden()
    qtbot.keyClick(folds[0], Qt.Key.Key_Space)
    assert row.isHidden()


def test_showing_a_setup_tells_nothing(form):
    form.set_setup(Setup(data=Part("sine"), batch=32, mistakes=("no_zero_grad",)))
    assert form.told == []
    assert form.parts["data"].choice.currentText() == "Sine"
    assert form.batches.by_name["batch"].editor.number == 32


def test_rows_stay_while_their_entry_stays(form):
    row = form.parts["optimizer"].by_name["lr"]
    form.set_setup(Setup(data=Part("moons"), optimizer=Part("adam", {"lr": 0.5})))
    assert form.parts["optimizer"].by_name["lr"] is row
    form.set_setup(Setup(data=Part("moons"), optimizer=Part("sgd")))
    assert form.parts["optimizer"].by_name["lr"] is not row


def test_a_default_is_no_option_of_a_setup(form):
    form.parts["optimizer"].by_name["lr"].edited.emit("lr", 0.5)
    assert form.told[-1].optimizer == Part("adam", {"lr": 0.5})
    form.set_setup(form.told[-1])
    form.parts["optimizer"].by_name["lr"].edited.emit("lr", 0.001)
    assert form.told[-1].optimizer == Part("adam")


def test_every_setting_of_a_setup_can_be_reached():
    rows = (
        run_options.DATA_OPTIONS,
        run_options.BATCH_OPTIONS,
        run_options.REGULARIZATION_OPTIONS,
        run_options.machine_options(("cpu",)),
    )
    named = {option.name for group in rows for option in group}
    parts = {"data", "model", "loss", "optimizer", "schedule", "mistakes", "order", "manual_update"}
    elsewhere = {"steps", "frozen", "weight_seed", "data_seed"}
    assert named | parts | elsewhere == set(Setup.__struct_fields__)


def test_general_settings_begin_as_a_setup_does():
    for group in (
        run_options.DATA_OPTIONS,
        run_options.BATCH_OPTIONS,
        run_options.REGULARIZATION_OPTIONS,
        run_options.machine_options(("cpu",)),
    ):
        for option in group:
            given = getattr(Setup(), option.name)
            assert (list(given) if isinstance(given, tuple) else given) == option.default


def test_a_part_can_be_absent(shown):
    section = shown(PartSection("Schedule", "constant"), 280, 200)
    section.set_entries(catalogue().entries[-1:])
    for _ in section.follow(None):
        pass
    assert section.choice.currentText() == "constant"
    assert not section.by_name


def test_loss_and_schedule_can_be_left_to_the_engine(form):
    choice = form.parts["schedule"].choice
    choice.activated.emit(choice.findData("cosine"))
    assert form.told[-1].schedule == Part("cosine")
    form.set_setup(form.told[-1])
    choice.activated.emit(0)
    assert form.told[-1].schedule is None


def test_a_data_set_too_small_to_split_is_trained_on_whole(form):
    few = CatalogueEntry("data", "few", "Four points", train=1.0)
    for _ in form.offer(replace(catalogue(), entries=(*catalogue().entries, few))):
        pass
    choice = form.parts["data"].choice

    def choose(name):
        choice.activated.emit(choice.findData(name))
        form.set_setup(form.told[-1])
        return form.told[-1].train

    assert (choose("few"), choose("moons")) == (1.0, Setup().train)
    form.set_setup(replace(form.told[-1], train=0.5))
    assert choose("few") == 0.5, "what one has chosen stays"


def test_headings_of_groups_cannot_be_chosen(form):
    choice = form.parts["data"].choice
    head = choice.findText("Curves")
    choice.setCurrentIndex(head)
    choice.activated.emit(head)
    assert choice.itemData(head, Qt.ItemDataRole.FontRole).bold()
    assert form.told == []
    assert choice.currentText() == "Two moons"


def test_mistakes_are_ticked(form):
    assert not form.mistakes.boxes, "made once they are seen"
    form.mistakes.head.click()
    form.mistakes.boxes["no_zero_grad"].click()
    assert form.told[-1].mistakes == ("no_zero_grad",)


@pytest.mark.parametrize(
    "place", ["batch", "l2", "optimizer.lr", "data", "optimizer.unheard", "mistakes"]
)
def test_a_complaint_opens_its_section(form, place):
    for section in (*form.parts.values(), *form._general(), form.mistakes):
        section.head.setChecked(False)
    assert form.has_setting(place)
    form.show_error(place, "it is wrong")

    def complaints():
        notes = [note for note in form.findChildren(Label) if note.isVisible()]
        return [note.said() for note in notes if note.said() == "it is wrong"]

    assert complaints() == ["it is wrong"]
    form.show_error("", "")
    assert complaints() == []


def test_a_narrow_builder_leaves_out_the_word_layer_rather_than_cut_a_choice(shown):
    edit = shown(LayersEditor())
    edit.offer("Activation", ("relu", "a long name of an activation"))
    edit.set_widths([4, 2])
    edit.resize(420, edit.height())
    assert {"Layer 1", "Layer 2"} <= {label.text() for label in edit.findChildren(QLabel)}
    edit.resize(edit.minimumSizeHint().width(), edit.height())
    assert {"1", "2"} <= {label.text() for label in edit.findChildren(QLabel)}


def test_a_long_complaint_stands_below_its_editor_and_is_whole(shown, qtbot):
    host = shown(QWidget(), 244, 500)
    column = QVBoxLayout(host)
    row = OptionRow(Option("source", "text", "class Net: ...", lines=12))
    column.addWidget(row)
    column.addStretch(1)
    row.show_error("Net.forward() missing 1 required positional argument: 'y' — " * 4)
    qtbot.waitUntil(lambda: row.note.geometry().top() > row.editor.geometry().bottom())
    assert row.note.width() < host.width()
    assert row.note.height() >= row.note.heightForWidth(row.note.width())


@pytest.mark.parametrize("scale", [1.0, 1.5])
def test_a_form_with_all_sections_open_is_no_wider_than_its_panel(shown, scale):
    said = []
    TrainingHost(said.append).take(requests.ListCatalogue(0))
    form = shown(SetupForm(), 270, 900)
    for _ in form.offer(next(one for one in said if isinstance(one, replies.Catalogue))):
        pass
    for part in (*form.sections(), form.thumbnails):
        part.set_theme(Theme.load("light").scaled(scale))
    for section in form.sections():
        section.head.setChecked(True)
    form.set_setup(Setup(data=Part("circle")))
    form.layout().activate()
    assert form.minimumSizeHint().width() <= 270 * scale


@pytest.mark.parametrize(("width", "columns"), [(400, 4), (60, 1)])
def test_choices_stand_in_as_many_columns_as_there_is_room_for(shown, width, columns):
    grid, told = shown(ChoiceGrid(FEATURES), width, 200), []
    grid.edited.connect(told.append)
    grid.layout().activate()
    assert len({button.x() for button in grid.buttons.values()}) == columns
    assert all(button.geometry().right() <= width for button in grid.buttons.values())
    grid.choose(["x1", "sin(x2)"])
    grid.buttons["x1^2"].click()
    assert told == [["x1", "x1^2", "sin(x2)"]]


def test_a_setup_that_changes_while_parts_are_offered_is_the_one_that_is_shown(form):
    wanted = Setup(data=Part("moons", {"noise": 0.4}), model=Part("mlp", {"layers": [3]}))
    for number, _ in enumerate(form.offer(catalogue())):
        if number == 3:
            form.set_setup(wanted)
    for key in ("data", "model"):
        part, rows = getattr(wanted, key), form.parts[key].by_name
        assert form.parts[key].choice.currentData() == part.name
        for name, value in part.options.items():
            editor = rows[name].editor
            assert (editor.widths if name == "layers" else editor.number) == value


def test_a_builder_that_nobody_sees_is_measured_once_it_is_seen(shown, monkeypatch):
    measured = []
    say = LayersEditor._say_layers
    monkeypatch.setattr(
        LayersEditor, "_say_layers", lambda self: measured.append(self) or say(self)
    )
    edit = LayersEditor()
    edit.offer("Activation", ("relu", "a very long one"))
    edit.set_widths((4, 8))
    assert not measured
    made = shown(edit, 150, 200)
    assert measured
    assert [made._rows[at][0].text() for at in range(2)] == ["1", "2"]


def test_what_is_chosen_is_shown_an_option_at_a_step(form, monkeypatch):
    told = []
    monkeypatch.setattr(
        OptionRow, "set_value", lambda self, value: told.append((self.option.name, value))
    )
    section, part = form.parts["model"], Part("mlp", {"hidden": [3, 2]})
    counts = [len(told) for _ in section._setting(section.by_name, part)]
    assert counts == list(range(1, len(told) + 1))
