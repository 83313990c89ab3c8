"""The import of pyqtgraph beside the event loop."""

import subprocess
import sys


def test_it_is_imported_in_a_thread_of_its_own():
    code = (
        "import sys; from gradscribe.widgets.charts import preload\n"
        "assert 'pyqtgraph' not in sys.modules\n"
        "thread = preload.start(); assert thread.daemon; thread.join()\n"
        "assert 'pyqtgraph' in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
