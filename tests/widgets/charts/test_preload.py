"""The import of pyqtgraph beside the event loop."""

import subprocess
import sys
import threading

from PySide6.QtCore import QCoreApplication

from gradscribe.widgets.charts import preload


def test_it_is_imported_in_a_thread_of_its_own():
    code = (
        "import sys; from gradscribe.widgets.charts import preload\n"
        "assert 'pyqtgraph' not in sys.modules\n"
        "thread = preload.start(); assert thread.daemon; thread.join()\n"
        "assert 'pyqtgraph' in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_calls_wait_for_the_import_and_keep_their_order(qtbot, monkeypatch):
    done, order = threading.Event(), []
    monkeypatch.setattr(preload, "import_module", lambda _name: done.wait(20))
    library = preload.ChartImport(QCoreApplication.instance())
    for number in range(3):
        library.call(lambda number=number: order.append(number))
    assert order == []
    done.set()
    qtbot.waitUntil(lambda: order == [0, 1, 2])
    library.call(lambda: order.append(3))
    assert order == [0, 1, 2, 3]
    library.deleteLater()
