"""A comparison as text and JSON."""

import json

import msgspec

from gradscribe.engine.run.run import record
from gradscribe.playback.compare import report
from gradscribe.playback.compare.comparison import Comparison

BASE = "a = param(2.0)\nb = a * 3\nc = b.log()\nc.backward()"


def test_the_first_cause_is_on_top_with_what_follows_below_it():
    found = Comparison(record(BASE), record(BASE.replace("log", "exp")))
    first, second = report.text(found).splitlines()
    assert first == "line 3: log → exp"
    assert second == "  2 gradients and 1 value differ because of it"


def test_json_has_causes_in_order_with_lines_values_and_what_follows():
    pair = record(BASE), record(BASE.replace("b = a * 3", "\nb = a * 4"))
    made = json.loads(msgspec.json.encode(report.to_json(Comparison(*pair))))
    assert made["same"] is False
    (cause,) = made["causes"]
    assert (cause["words"], cause["lines"]) == ("mul 3 → 4", [2, 3])
    left, right = cause["differences"][0]["values"]
    assert {value.id: value.name for value in pair[0].values}[left] == "b"
    assert {value.id: value.name for value in pair[1].values}[right] == "b"
    # The slope of log(k * a) is 1 / a for any k: the gradient of a does not differ.
    assert {one["name"] for one in cause["following"]} == {"b", "c"}


def test_equal_runs_have_no_cause():
    made = Comparison(record(BASE), record(BASE))
    assert report.to_json(made)["causes"] == []
    assert report.to_json(made)["same"] is True
    assert "the same" in report.text(made)
