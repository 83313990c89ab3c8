"""Table of mouse gestures in each part of the window, with the keys that do the same.

The page *Keyboard* of the manual is written from these rows, and a test holds them against the
widgets: no class that takes the mouse may be without a row, and no row without a key or a command.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Gesture:
    """A gesture of the mouse, its effect, and how the keyboard does it.

    ``keys`` work while the place has the keyboard and are taken by the file ``taken_in``; empty
    where Qt's own widgets take them. ``command`` is the name of a command that does it anywhere:
    by its own keys, or found with Ctrl+K.
    """

    mouse: str
    does: str
    keys: tuple[str, ...] = ()
    command: str = ""
    taken_in: str = ""


@dataclass(frozen=True)
class GesturePlace:
    """A part of the window, the classes of its widgets that take the mouse, and its gestures."""

    title: str
    widgets: tuple[str, ...]
    gestures: tuple[Gesture, ...]


GRAPH, EDITOR = "widgets/graph/input.py", "widgets/editor/numbers/number_drag.py"
POINTER, CHART = "widgets/plots/key_pointer.py", "widgets/charts/view.py"
PLOT, SCRUBBER = "widgets/plots/plot.py", "widgets/transport/scrubber.py"
HEADS = "widgets/base/focus/head_keys.py"
STRIP = "widgets/transport/step_canvas.py"
FIGURE, HEAT = "widgets/tables/figure_window.py", "widgets/inspector/panes/heatmap.py"
ARROWS = ("Left", "Right", "Up", "Down")

PLACES = (
    GesturePlace(
        "Graph",
        ("GraphInput",),
        (
            Gesture("click on a card", "selects it", ARROWS, taken_in=GRAPH),
            Gesture(
                "click on a wire",
                "shows what it carries and its share of the gradient",
                tuple(f"Shift+{key}" for key in ARROWS),
                taken_in=GRAPH,
            ),
            Gesture("click on the ground", "selects nothing", ("Escape",), taken_in=GRAPH),
            Gesture(
                "click on a module's chevron", "opens or folds it", ("Return",), taken_in=GRAPH
            ),
            Gesture(
                "double click on a card",
                "comes near, and back",
                ("+", "0"),
                "view.zoom_selection",
                GRAPH,
            ),
            Gesture("Ctrl+wheel, pinch", "zooms", ("+", "-"), "view.zoom_in", GRAPH),
            Gesture(
                "drag, wheel, click in the map",
                "moves the graph",
                tuple(f"Ctrl+{key}" for key in ARROWS),
                taken_in=GRAPH,
            ),
            Gesture("right click", "opens the menu of what is selected", ("Shift+F10", "Menu")),
            Gesture("mouse over a card", "says what it is", command="value.explain"),
        ),
    ),
    GesturePlace(
        "Editor",
        ("CodeEdit", "SourceEdit", "NumberDrag", "JumpSlider", "NumberSlider", "TypingAssistance"),
        (
            Gesture(
                "drag on a number",
                "changes it while the program runs again",
                ("Ctrl+Up", "Ctrl+Down"),
                taken_in=EDITOR,
            ),
            Gesture("mouse over a number", "opens its slider", ("Ctrl+Period",), taken_in=EDITOR),
            Gesture("click, drag", "moves the caret, selects", ("Left", "Shift+Left")),
            Gesture("click on a value next to a line", "selects its card", command="value.of_line"),
            Gesture("click on a folded block", "opens it", command="edit.unfold"),
            Gesture("click in the list of completions", "takes one", ("Up", "Down", "Return")),
            Gesture("Ctrl+wheel", "makes text larger or smaller", command="view.bigger"),
        ),
    ),
    GesturePlace(
        "Left edge of the editor",
        ("Gutter",),
        (
            Gesture(
                "click in front of a line's number", "sets a breakpoint", command="play.breakpoint"
            ),
            Gesture(
                "click on a line's number", "selects what the line made", command="value.of_line"
            ),
            Gesture("click on a chevron", "folds a block", command="edit.fold"),
        ),
    ),
    GesturePlace(
        "Error under the program",
        ("ProblemStrip",),
        (
            Gesture("click", "goes to its line", command="run.error"),
            Gesture("click on the fix", "makes the change", command="run.fix"),
            Gesture(
                "right click", "copies the message, which *Output* shows too", ("Ctrl+A", "Ctrl+C")
            ),
        ),
    ),
    GesturePlace(
        "Playback",
        ("Scrubber", "StepCanvas"),
        (
            Gesture(
                "drag, click, wheel",
                "goes to an event",
                (*ARROWS, "Home", "End"),
                "play.step",
                SCRUBBER,
            ),
            Gesture("click on a phase", "goes there", ("PageUp", "PageDown"), taken_in=SCRUBBER),
            Gesture(
                "drag, click, wheel in the steps",
                "goes to a step",
                (*ARROWS, "PageUp", "PageDown"),
                "play.go_to_step",
                STRIP,
            ),
        ),
    ),
    GesturePlace(
        "Steps of a training run",
        ("StepSlider",),
        (
            Gesture(
                "drag, click",
                "goes to a step",
                (*ARROWS, "PageUp", "PageDown", "Home", "End"),
                "train.leap",
            ),
        ),
    ),
    GesturePlace(
        "Charts and pictures",
        (
            "ChartBox",
            "ChartAxis",
            "ChartView",
            "PlanePlot",
            "PlaneHands",
            "Canvas",
            "Plot",
            "CurvePlot",
            "FitPlot",
            "BoundaryPlot",
            "LossSurface",
            "UnitMaps",
            "GradientBars",
            "HistogramGrid",
            "TrialPlot",
            "FigureAxesPlot",
            "CanvasScrollBar",
            "KeyPointer",
        ),
        (
            Gesture("wheel", "zooms", ("+", "-"), taken_in=CHART),
            Gesture("drag", "moves what is in sight", ARROWS, taken_in=CHART),
            Gesture("double click", "shows everything", ("Home",), taken_in=CHART),
            Gesture(
                "mouse over the picture",
                "says the numbers there: a pointer",
                ("C", *ARROWS),
                taken_in=POINTER,
            ),
            Gesture(
                "click",
                "goes to a step, draws a point, switches an input",
                ("C", "Return"),
                taken_in=POINTER,
            ),
            Gesture("drag on a point or line", "moves it", ("C", "Space"), taken_in=POINTER),
            Gesture(
                "Shift+drag", "selects steps or a region", ("C", "Shift+Space"), taken_in=POINTER
            ),
            Gesture(
                "menu, *Show the numbers*", "opens a table and a summary", ("T",), taken_in=PLOT
            ),
            Gesture("menu, *Enlarge*", "opens a larger one", ("Return",), taken_in=PLOT),
            Gesture("right click", "opens the menu", ("Shift+F10", "Menu")),
            Gesture("wheel over rows", "scrolls them: Tab leads to the scroll bar", ("Up", "Down")),
        ),
    ),
    GesturePlace(
        "Figures of the program",
        ("FigureCanvas",),
        (
            Gesture("wheel", "zooms", ("+", "-"), taken_in=FIGURE),
            Gesture("drag", "moves it", ARROWS, taken_in=FIGURE),
            Gesture("double click", "shows all of it", ("Home",), taken_in=FIGURE),
        ),
    ),
    GesturePlace(
        "Tables",
        ("_Row",),
        (
            Gesture("click on a row", "selects it", ("Up", "Down")),
            Gesture("double click on a row", "opens it", ("Return",)),
            Gesture(
                "click on a column's head",
                "sorts by it",
                ("Ctrl+Shift+Up", "Ctrl+Shift+Down"),
                taken_in=HEADS,
            ),
            Gesture(
                "drag between two heads",
                "makes a column narrower or wider",
                ("Ctrl+Shift+Left", "Ctrl+Shift+Right"),
                taken_in=HEADS,
            ),
            Gesture("right click on a row", "opens its menu", ("Shift+F10", "Menu")),
        ),
    ),
    GesturePlace(
        "Cells of a tensor",
        ("HeatView", "LabCanvas"),
        (
            Gesture(
                "mouse over a cell, click",
                "shows its number",
                ARROWS,
                taken_in=HEAT,
            ),
        ),
    ),
    GesturePlace(
        "Panels",
        ("PanelHandle", "PanelArea"),
        (
            Gesture("drag a panel's handle", "docks, tabs or floats it", command="panels.move"),
            Gesture(
                "drag the edge between two panels",
                "shares the space",
                (*ARROWS, "Home", "End"),
                taken_in="widgets/base/splitter.py",
            ),
            Gesture("click on a tab", "shows its page", ("Left", "Right")),
            Gesture("click in another panel", "goes there", ("F6", "Shift+F6")),
        ),
    ),
    GesturePlace(
        "Lessons",
        ("AnswerChoice",),
        (
            Gesture(
                "click on an answer",
                "chooses it",
                ("Space", "Return"),
                taken_in="widgets/lessons/parts.py",
            ),
        ),
    ),
    GesturePlace(
        "Cards over the window",
        ("PopupCard", "BlackScreen"),
        (Gesture("click outside", "closes it", ("Escape",), taken_in="app/ui/popup.py"),),
    ),
    GesturePlace(
        "Presenting",
        ("Presentation",),
        (
            Gesture(
                "Ctrl+Shift+wheel",
                "changes the spotlight's size",
                command="present.larger",
            ),
        ),
    ),
    GesturePlace(
        "Window",
        ("Window",),
        (Gesture("drop a file on it", "opens the file", command="file.open"),),
    ),
)

WITHOUT_A_GESTURE = {
    "BrokenTextLabel": "selects text, which every such label also has in its menu as a copy",
    "_Amount": "leaves the wheel to the page it is on",
    "_Titles": "leaves the wheel to the page it is on",
}
"""Classes that handle the mouse without doing anything that needs a key, with the reason."""
