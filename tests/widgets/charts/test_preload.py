"""The import of pyqtgraph between turns of the event loop."""

import subprocess
import sys
import textwrap

import pytest
from PySide6.QtCore import QCoreApplication

from gradscribe.widgets.charts import preload


def run(code):
    """Run code in a new process, where pyqtgraph is not imported yet."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_is_imported_in_many_steps_and_all_in_the_thread_that_takes_them():
    run("""
        import builtins, sys, threading
        from shiboken6 import Shiboken
        from gradscribe.widgets.charts import preload
        assert 'pyqtgraph' not in sys.modules
        threads, build = set(), builtins.__build_class__
        def noted(*words, **options):
            made = build(*words, **options)
            if isinstance(made, type) and issubclass(made, Shiboken.Object):
                threads.add(threading.current_thread())
            return made
        builtins.__build_class__ = noted
        count = sum(1 for _ in preload.steps())
        assert count > 500, count
        assert threads == {threading.main_thread()}
        import pyqtgraph
        assert not hasattr(pyqtgraph, '__getattr__')
        assert pyqtgraph.PlotWidget and pyqtgraph.getConfigOption('background') == 'k'
        assert list(preload.steps()) == []
    """)


def test_it_is_the_module_that_a_plain_import_makes():
    names = "print(sorted(name for name in vars(pyqtgraph) if name != '__annotations__'))"
    plain = run(f"import PySide6.QtTest, pyqtgraph; {names}")
    stepped = run(
        f"from gradscribe.widgets.charts import preload; list(preload.steps())\n"
        f"import pyqtgraph; {names}"
    )
    assert stepped == plain


@pytest.mark.parametrize(
    "use",
    [
        "import pyqtgraph as pg; pg.PlotWidget",
        "from pyqtgraph import PlotWidget",
        "from pyqtgraph.GraphicsScene.mouseEvents import MouseClickEvent",
        "import gradscribe.widgets.charts.loop_chart",
    ],
)
def test_who_uses_it_between_two_steps_finds_it_whole(use):
    run(f"""
        import sys
        from gradscribe.widgets.charts import preload
        taken = preload.steps()
        while 'pyqtgraph' not in sys.modules:
            next(taken)
        for _ in range(20):
            next(taken)
        first = sys.modules['pyqtgraph']
        assert 'PlotWidget' not in vars(first)
        {use}
        list(taken)
        import pyqtgraph
        assert pyqtgraph is first and pyqtgraph.PlotWidget
        options = sys.modules['pyqtgraph.functions'].getConfigOption.__globals__
        assert pyqtgraph.CONFIG_OPTIONS is options['CONFIG_OPTIONS']
        try:
            pyqtgraph.nothing_of_that_name
        except AttributeError as error:
            assert 'nothing_of_that_name' in str(error)
        else:
            assert False
    """)


@pytest.mark.parametrize("name", ["QtSvg", "QtTest"])
def test_a_part_of_qt_that_pyqtgraph_can_do_without_may_be_missing(name):
    run(f"""
        import sys
        from gradscribe.widgets.charts import preload
        sys.modules['PySide6.{name}'] = None
        list(preload.steps())
        import pyqtgraph
        assert pyqtgraph.PlotWidget
    """)


def test_two_who_wait_share_the_steps():
    run("""
        from gradscribe.widgets.charts import preload
        first, second = preload.steps(), preload.steps()
        next(first), next(second), next(first)
        list(second)
        assert list(first) == []
        import pyqtgraph
        assert pyqtgraph.PlotWidget
    """)


def test_an_import_that_fails_says_so_to_the_next_who_needs_it():
    run("""
        import sys
        from gradscribe.widgets.charts import preload
        taken = preload.steps()
        while 'pyqtgraph' not in sys.modules:
            next(taken)
        sys.modules['pyqtgraph.graphicsItems'] = None
        for _ in range(2):
            try:
                list(taken)
                import pyqtgraph as pg
                pg.PlotWidget
            except ImportError:
                pass
            else:
                assert False
    """)


def test_calls_wait_for_the_import_and_keep_their_order(qtbot, monkeypatch):
    order, taken = [], []

    def steps():
        for number in range(3):
            taken.append(number)
            yield

    monkeypatch.setattr(preload, "steps", steps)
    monkeypatch.setattr(preload, "TURN_MS", 0)
    library = preload.ChartImport(QCoreApplication.instance())
    for number in range(3):
        library.call(lambda number=number: order.append((number, len(taken))))
    assert order == []
    qtbot.waitUntil(lambda: order == [(0, 3), (1, 3), (2, 3)])
    library.call(lambda: order.append("at once"))
    assert order[-1] == "at once"
    library.deleteLater()
