"""A small screen reader: starts the program, and reads its tree and hears it over AT-SPI.

Run by the system's Python, which has pyatspi, in a session with a bus and a display. Arguments: the
path of the answers, the orders as JSON, and the command of the program. Orders: ``["tree"]``,
``["press", NAME]``, ``["focus", NAME]``, ``["key", KEYS]``, ``["wait", NAME]``,
``["hear", SECONDS]``. Writes a JSON list with an answer for each.
"""

import json
import subprocess
import sys
import time

import pyatspi
from gi.repository import GLib

PATIENCE_S = 20
MOST_CHILDREN = 400
RELATIONS = {
    pyatspi.RELATION_FLOWS_TO: "flows to",
    pyatspi.RELATION_FLOWS_FROM: "flows from",
}


class ScreenReader:
    def __init__(self, pid):
        self.pid, self.heard, self.focus = pid, [], []
        listen = pyatspi.Registry.registerEventListener
        listen(lambda e: self.heard.append(str(e.any_data)), "object:announcement")
        listen(self.note_focus, "object:state-changed:focused")
        # Programs report these to those alone who ask for them; the library's cache needs both.
        listen(lambda e: None, "object:children-changed", "object:property-change")

    def note_focus(self, event):
        if event.detail1 and event.source is not None:
            self.focus.append(event.source.name)

    def settle(self, seconds=0.3):
        """Handle events for a while."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            # A source of its own ends the wait for the next event.
            GLib.timeout_add(5, lambda: False)
            GLib.MainContext.default().iteration(True)

    def until(self, look, what):
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            found = look()
            if found:
                return found
            self.settle(0.1)
        seen = [f"{'  ' * depth}{node.getRoleName()} {node.name}" for depth, node in self.nodes()]
        raise SystemExit("\n".join([*seen, f"not there: {what}"]))

    def application(self):
        for app in pyatspi.Registry.getDesktop(0):
            if app is not None and app.get_process_id() == self.pid:
                return app
        return None

    def nodes(self, top=None):
        """Yield (depth, accessible) for everything under the program that can be seen."""
        waiting = [(0, top if top is not None else self.application())]
        while waiting:
            depth, node = waiting.pop()
            if node is None:
                continue
            yield depth, node
            try:
                below = [node[k] for k in range(min(node.childCount, MOST_CHILDREN))]
            except GLib.Error:
                continue
            waiting += [(depth + 1, child) for child in reversed(below)]

    def find(self, name):
        def look():
            for _, node in self.nodes():
                try:
                    if node.name.startswith(name) and node.getState().contains(
                        pyatspi.STATE_SHOWING
                    ):
                        return node
                except GLib.Error:
                    continue
            return None

        return self.until(look, name)

    def tree(self):
        rows = []
        for depth, node in self.nodes():
            state = node.getState()
            if depth > 1 and not state.contains(pyatspi.STATE_VISIBLE):
                continue
            relations = {}
            for relation in node.getRelationSet():
                kind = RELATIONS.get(relation.getRelationType())
                if kind:
                    count = relation.getNTargets()
                    names = [relation.getTarget(k).name for k in range(count)]
                    relations.setdefault(kind, []).extend(names)
            rows.append(
                {
                    "depth": depth,
                    "role": node.getRoleName(),
                    "name": node.name,
                    "description": node.description,
                    "focusable": state.contains(pyatspi.STATE_FOCUSABLE),
                    "focused": state.contains(pyatspi.STATE_FOCUSED),
                    "showing": state.contains(pyatspi.STATE_SHOWING),
                    "relations": relations,
                }
            )
        return rows

    def obey(self, order, *words):
        if order == "tree":
            return self.tree()
        if order == "press":
            node = self.find(words[0])
            action = node.queryAction()
            names = [action.getName(k) for k in range(action.nActions)]
            action.doAction(
                next(k for k, n in enumerate(names) if n in ("Press", "press", "Toggle"))
            )
            self.settle()
            return names
        if order == "focus":
            node = self.find(words[0])
            node.queryComponent().grabFocus()
            self.settle()
            return node.getState().contains(pyatspi.STATE_FOCUSED)
        if order == "key":
            self.focus.clear()
            subprocess.run(["xdotool", "key", *words], check=True)
            self.settle(0.6)
            return list(self.focus)
        if order == "wait":
            return self.find(words[0]).name
        if order == "hear":
            self.settle(words[0])
            said, self.heard = self.heard, []
            return said
        raise SystemExit(f"unknown order: {order}")


def focus_window():
    command = ["xdotool", "search", "--onlyvisible", "--name", "Gradscribe", "windowfocus"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def main():
    place, orders, command = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3:]
    program = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        reader = ScreenReader(program.pid)
        reader.until(reader.application, "the program on the bus")
        # Without a window manager nothing gives the window the keyboard.
        reader.until(focus_window, "the window")
        answers = [reader.obey(*order) for order in orders]
    finally:
        program.terminate()
        program.wait()
    with open(place, "w", encoding="utf-8") as file:
        json.dump(answers, file)


main()
