"""Notice of plug-ins that are left out, of the engine's and of the window's."""

from PySide6.QtCore import QObject

from gradscribe.app.runtime.notice import Notice, NoticeActions
from gradscribe.app.training.session.session import TrainSession
from gradscribe.engine import plugins
from gradscribe.engine.protocol.training import Catalogue
from gradscribe.playback.translation import tr, translated

KEY = "plugins"


class PluginNotice(QObject):
    """Post a notice once the engine has listed its entries, if any plug-in was left out."""

    def __init__(self, session: TrainSession, notices: NoticeActions, parent: QObject) -> None:
        super().__init__(parent)
        self._notices = notices
        session.catalogue_changed.connect(self._post)

    def _post(self, catalogue: Catalogue) -> None:
        lines = sorted({*map(translated, catalogue.left_out), *map(str, plugins.broken())})
        if lines:
            others = tr(". And {value} more", value=len(lines) - 1) if lines[1:] else ""
            self._notices.post(Notice(KEY, f"{lines[0]}{others}", more="\n".join(lines)))
