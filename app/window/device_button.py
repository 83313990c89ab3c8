"""The device of the program in the bar: its name, the hardware and its memory; a menu of all."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QMenu, QPushButton, QWidget

from gradscribe.engine.protocol.messages import DeviceDetails
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.labels import tip

LONGEST_TITLE = 24
"""Most characters of the hardware's name in the bar; the tool tip has all of it."""


class DeviceButton(QPushButton):
    """Shows a device; a press offers those that the program's name ``device`` can be."""

    device_picked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._forms: tuple[str, ...] = ("cpu",)
        self._form = 0
        self._shown: tuple[object, ...] = ()
        self.setMenu(QMenu(self))
        self.setText("cpu")

    def show_devices(
        self,
        names: Sequence[str],
        details: Sequence[DeviceDetails],
        devices: Sequence[str],
        default: str,
    ) -> None:
        """Show the first of the ``devices`` in use; the menu ticks the ``default``."""
        now = (tuple(names), tuple(details), tuple(devices), default)
        if now == self._shown:
            return
        self._shown = now
        used, *others = devices
        by_name = {one.name: one for one in details}
        shown = by_name.get(used) or by_name.get(f"{used}:0") or DeviceDetails(used)
        memory = formatting.size(shown.memory) if shown.memory else ""
        title = formatting.elide_middle(shown.title, LONGEST_TITLE)
        forms = (used, _joined(used, memory), _joined(used, title, memory))
        self._forms = tuple(dict.fromkeys(forms))
        whole = _joined(
            used,
            shown.title,
            tr("{memory} of memory", memory=memory) if memory else "",
            tr("{free} when it started", free=_free(shown)) if shown.free else "",
        )
        sentences = [
            whole,
            tr("Other tensors are on {join}", join=", ".join(others)) if others else "",
            tr(
                "The name device in the program is {default}; .to(device) moves a tensor",
                default=default,
            ),
        ]
        words = ". ".join(filter(None, sentences))
        self.setToolTip(tip(words))
        self.setAccessibleName(tr("Device {used}", used=used))
        self.setAccessibleDescription(words)
        self._fill(names, by_name, default)
        self.set_form(0)

    def _fill(self, names: Sequence[str], by_name: dict[str, DeviceDetails], default: str) -> None:
        menu = self.menu()
        menu.clear()
        for name in names:
            one = by_name.get(name, DeviceDetails(name))
            memory = _joined(formatting.size(one.memory) if one.memory else "", _free(one))
            action = menu.addAction(_joined(name, one.title, memory).replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(name == default)
            action.triggered.connect(lambda _=False, name=name: self.device_picked.emit(name))

    def set_form(self, form: int) -> None:
        """Show a longer or shorter text; 0 is the shortest."""
        self._form = min(form, len(self._forms) - 1)
        self.setText(self._forms[self._form])

    def grow(self, spare: int) -> int:
        """Show the longest text for which ``spare`` pixels suffice; return how many it takes."""
        metrics = QFontMetrics(self.font())
        widths = [
            metrics.horizontalAdvance(text) - metrics.horizontalAdvance(self._forms[0])
            for text in self._forms
        ]
        form = max(at for at, width in enumerate(widths) if at == 0 or width <= spare)
        self.set_form(form)
        return widths[form]


def _free(one: DeviceDetails) -> str:
    """Return the memory that was free when the engine started, in words."""
    return tr("{memory} free", memory=formatting.size(one.free)) if one.free else ""


def _joined(*parts: str) -> str:
    return " · ".join(part for part in parts if part)
