"""A view is a module of the package: it is found, and says what it needs of a run."""

from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.train import views
from gradscribe.engine.train.runs.run import TrainingRun

NEW = """
from gradscribe.engine.train.arrays import ViewData
from gradscribe.engine.train.views.view import EngineView

ENTRY = EngineView("new", lambda run, options: ViewData({}, {"step": float(run.step)}))
"""


def test_a_module_with_an_entry_is_a_view(tmp_path, monkeypatch):
    (tmp_path / "new_view.py").write_text(NEW)
    monkeypatch.setattr(views, "__path__", [*views.__path__, str(tmp_path)])
    monkeypatch.setattr(views, "KINDS", views.load())
    run = TrainingRun(Setup(Part("moons", {"n": 20}), Part("mlp")))
    assert views.compute(run, "new", {}).facts == {"step": 0.0}
    assert {"boundary", "scores", "surface"} <= views.KINDS.keys()


def test_what_a_view_needs_is_sent_to_the_view_process():
    need = {
        name: {kind for kind, view in views.KINDS.items() if getattr(view, name)}
        for name in ("needs_gradients", "needs_optimizer_state", "needs_weight_path")
    }
    assert need == {
        "needs_gradients": {"gradients", "histograms", "spread", "weights"},
        "needs_optimizer_state": {"optimizer"},
        "needs_weight_path": {"surface"},
    }
