"""Each message of the engine is recognized by its own template, and by no other one."""

import re

import pytest

from gradscribe.playback import translation
from gradscribe.playback.translation import languages, translated
from gradscribe.playback.translation.catalogue_file import read
from gradscribe.playback.translation.templates import Templates

PLACEHOLDER = re.compile(r"\{(\w+)[^{}]*\}")
BRACES = re.compile(r"\{\{|\}\}|" + PLACEHOLDER.pattern)
CLAUSE = "; "
"""The beginning of a value that follows a word or another value at once."""


@pytest.fixture(autouse=True)
def _english_again():
    yield
    translation.choose("en")


def engine_entries(code="zh_CN"):
    found = read(languages.folder() / code / "LC_MESSAGES" / "gradscribe.po").entries[1:]
    return [e for e in found if any(place.startswith("engine/") for place in e.origins)]


def filled(text, values):
    return BRACES.sub(lambda m: values[m[1]] if m[1] else m[0][0], text)


def examples(message, texts):
    """Return a message with values in its placeholders, and its translation with the same."""
    values, wide = {}, {}
    for match in PLACEHOLDER.finditer(message):
        follows = re.search(r"[\w}]$", message[: match.start()]) is not None
        word = f"q{len(values) + 5}"
        values.setdefault(match[1], f"{CLAUSE if follows else ''}{word}")
        wide.setdefault(match[1], f"{'；' if follows else ''}{word}")
    return filled(message, values), filled(texts[0], wide)


def is_recognizable(message):
    """Return whether a message has letters enough not to fit any text."""
    return sum(map(str.isalpha, PLACEHOLDER.sub("", message))) >= 4 and len(message) > 3


def test_each_message_of_the_engine_is_translated_by_its_own_template():
    translation.choose("zh_CN")
    wrong = []
    entries = [e for e in engine_entries() if is_recognizable(e.message)]
    for entry in entries:
        text, expected = examples(entry.message, entry.texts)
        if translated(text) != expected:
            wrong.append((entry.message, translated(text), expected))
    assert len(entries) > 1500
    assert wrong == []


def test_clauses_too_short_to_be_recognized_alone_are_so_at_the_end_of_others():
    translation.choose("zh_CN")
    short = [e for e in engine_entries() if not is_recognizable(e.message)]
    assert {e.message for e in short if e.message[0] in ",; "} >= {" of {asked}", ", in {scope}"}
    pairs = (("It broke{where}", "坏了{where}"), (" in {place}", "（在 {place} 中）"))
    assert Templates(pairs).translated("It broke in net.0") == "坏了（在 net.0 中）"
    assert Templates(pairs).translated("a in b") == "a in b"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "unknown key 'stepz'; did you mean 'steps'?",
            "未知的键 'stepz'；你是指 'steps' 吗？",
        ),
        (
            "dtype is 'floot32', but must be one of float32, float64; did you mean 'float32'?",
            "dtype 是 'floot32'，但必须是 float32, float64 之一；你是指 'float32' 吗？",
        ),
        (
            "this is not JSON: a comma is missing before this, in line 3, column 4",
            "这不是 JSON：此处之前缺少逗号，位于第 3 行第 4 列",
        ),
        ("data.csv has no rows below its header", "data.csv 表头下面没有行"),
        (
            "data.xls is an old workbook: save it as .xlsx or CSV",
            "data.xls 是旧版工作簿：请保存为 .xlsx 或 CSV",
        ),
        (
            "UTF-8 · cells between commas · 1 row in 10 is taken",
            "UTF-8 · 单元格以逗号分隔 · 每 10 行取 1 行",
        ),
        (
            "The loss of step 12 is NaN: linear in net.0 made the first NaN",
            "第 12 步的损失为 NaN：net.0 中的 linear 产生了第一个 NaN",
        ),
        ("Still running after 20 s: while True: pass", "20 秒后仍在运行：while True: pass"),
        (
            "Rank 1 waited in all_reduce on line 5 when another rank had failed",
            "另一进程失败时，进程 1 正在第 5 行的 all_reduce 中等待",
        ),
        (
            "adam has no option 'lrr'; did you mean 'lr'? It has lr, betas",
            "adam 没有选项 'lrr'；你是指 'lr' 吗？它有 lr, betas",
        ),
    ],
)
def test_messages_put_together_by_the_engine_are_translated_as_a_whole(text, expected):
    translation.choose("zh_CN")
    assert translated(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)",
        "Expected all tensors to be on the same device, but found at least two devices",
        "one of the variables needed has been modified by an inplace operation: is at version 1",
        "element 0 of tensors does not require grad and does not have a grad_fn",
        "name 'loss' is not defined",
        "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1",
        "unsupported operand type(s) for +: 'int' and 'str'",
        "loss is my own error",
    ],
)
def test_words_of_torch_python_and_programs_are_left_as_they_are(text):
    translation.choose("zh_CN")
    assert re.search(r"[\u4e00-\u9fff]", translated(text)) is None


def test_values_that_follow_at_once_do_so_in_a_translation_or_begin_a_clause():
    pattern = re.compile(r"(?=\{(\w+)[^{}]*\}\{(\w+))")
    lost = [
        entry.message
        for entry in engine_entries()
        for first, second in pattern.findall(entry.message)
        if not all(f"{{{name}" in entry.texts[0] for name in (first, second))
    ]
    assert lost == []
