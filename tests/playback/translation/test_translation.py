"""Texts in a chosen language, with plurals and placeholders; nothing is lost when that fails."""

import gettext

import pytest

from gradscribe.playback import translation
from gradscribe.playback.translation import languages, ngettext, pgettext, tr, translated

HEADER = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n'
ENGLISH_FORMS = HEADER + 'Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n\n'


@pytest.fixture(autouse=True)
def _english_again():
    yield
    translation.choose("en")


@pytest.fixture
def catalogue(tmp_path, monkeypatch):
    """A function that writes a catalogue of French and chooses it."""
    monkeypatch.setattr(languages, "folder", lambda: tmp_path)

    def choose(text, header=ENGLISH_FORMS):
        path = tmp_path / "fr" / "LC_MESSAGES" / "gradscribe.po"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((header + text).encode() if isinstance(text, str) else text)
        translation.choose("fr")

    return choose


def test_text_is_english_until_a_language_is_chosen():
    assert translation.language() == "en"
    assert tr("Save {name}", name="a.py") == "Save a.py"
    assert tr("{not a placeholder}") == "{not a placeholder}"
    assert [ngettext("{count} row", "{count:,} rows", n) for n in (0, 1, 2000)] == [
        "0 rows",
        "1 row",
        "2,000 rows",
    ]


def test_a_chosen_language_fills_its_own_order_of_placeholders(catalogue):
    catalogue('msgid "{a} of {b}"\nmsgstr "de {b}, {a}"\n')
    assert translation.language() == "fr"
    assert tr("{a} of {b}", a=1, b=2) == "de 2, 1"
    assert tr("Unknown {a}", a=1) == "Unknown 1"


def test_words_that_are_two_in_a_language_have_a_context(catalogue):
    assert pgettext("programs", "Examples") == "Examples"
    assert pgettext("programs", "Open {name}", name="a.py") == "Open a.py"
    catalogue(
        'msgctxt "programs"\nmsgid "Examples"\nmsgstr "Exemples"\n\n'
        'msgid "Examples"\nmsgstr "Individus"\n'
    )
    assert pgettext("programs", "Examples") == "Exemples"
    assert tr("Examples") == "Individus"
    assert pgettext("another", "Examples") == "Examples"


def test_plurals_follow_the_rule_of_the_language(catalogue):
    text = (
        'msgid "{count} row"\nmsgid_plural "{count} rows"\n'
        'msgstr[0] "{count} wiersz"\nmsgstr[1] "{count} wiersze"\nmsgstr[2] "{count} wierszy"\n'
    )
    polish = (
        HEADER + "Plural-Forms: nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && "
        '(n%100<10 || n%100>=20) ? 1 : 2);\\n"\n\n'
    )
    catalogue(text, polish)
    words = [ngettext("{count} row", "{count} rows", n).split()[1] for n in (1, 2, 5, 22, 12)]
    assert words == ["wiersz", "wiersze", "wierszy", "wiersze", "wierszy"]


def test_the_standard_library_reads_what_is_made_of_the_file(catalogue):
    catalogue('msgid "a\\tb"\n"c"\nmsgstr "\\"é\\\\"\n')
    assert isinstance(translation._current.texts, gettext.GNUTranslations)
    assert tr("a\tbc") == '"é\\'


def test_a_translation_with_another_placeholder_gives_way_to_english(catalogue):
    catalogue('msgid "Step {n}"\nmsgstr "Pas {m}"\n\nmsgid "Go {n}"\nmsgstr "Va {n"\n')
    assert tr("Step {n}", n=3) == "Step 3"
    assert tr("Go {n}", n=3) == "Go 3"


def test_uncertain_and_missing_translations_are_not_used(catalogue):
    catalogue('#, fuzzy\nmsgid "Save"\nmsgstr "Sauver"\n\nmsgid "Open"\nmsgstr ""\n')
    assert (tr("Save"), tr("Open")) == ("Save", "Open")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("spoilt\n", "line 4 belongs to no message"),
        ('msgid "a\nmsgstr "b"\n', "line 4 has no text in quotes"),
        ("msgid 3\n", "line 4 has no text in quotes"),
        ('msgid "a"\n', "the last message has no translation"),
        (b"", "it has no header"),
        (b'msgid "a"\nmsgstr "\xff"\n', "gradscribe.po is not in UTF-8"),
        (b'msgid ""\nmsgstr "Plural-Forms: nplurals=1; plural=n&;"\n', "invalid token"),
    ],
)
def test_a_spoilt_catalogue_is_reported_and_text_stays_english(catalogue, text, reason):
    catalogue(text)
    assert reason in translation.trouble()
    assert translation.language() == "en"
    assert tr("Save") == "Save"


def test_a_language_without_a_catalogue_is_reported():
    translation.choose("tlh")
    assert "no translation for the language tlh" in translation.trouble()
    assert tr("Save") == "Save"


def test_no_text_is_no_text_in_any_language(catalogue):
    catalogue('msgid "Save"\nmsgstr "Sauver"\n')
    assert tr("") == translated("") == ""


def test_text_of_the_engine_is_recognized_with_its_values(catalogue):
    engine = "#: engine/doctor/findings/a.py\n"
    catalogue(
        f'{engine}msgid "{{name}} meets {{other}} on line {{line}}"\n'
        'msgstr "Ligne {line} : {name} rencontre {other}"\n\n'
        f'{engine}msgid "It is {{name}}, and {{name}} again"\n'
        'msgstr "Deux fois {name}"\n\n'
        f'{engine}msgid "Both differ."\nmsgstr "Les deux different."\n\n'
        '#: widgets/a.py\nmsgid "Play"\nmsgstr "Jouer"\n'
    )
    assert translated("x.T meets y on line 3") == "Ligne 3 : x.T rencontre y"
    both = translated("x meets y on line 3. Both differ.")
    assert both == "Ligne 3 : x rencontre y. Les deux different."
    assert translated("x meets y on line 3 Both differ.").startswith("Ligne 3 Both differ :")
    assert translated("It is x, and x again") == "Deux fois x"
    assert translated("It is x, and y again") == "It is x, and y again"
    assert translated("Play") == "Play"
    assert translated("RuntimeError: of torch's own") == "RuntimeError: of torch's own"


def test_phrases_within_a_sentence_of_the_engine_are_translated_and_names_are_not(catalogue):
    engine = "#: engine/hints/a.py\n"
    catalogue(
        f'{engine}msgid "{{name}} gets no gradient: {{why}}"\n'
        'msgstr "{name} sans gradient : {why}"\n\n'
        f'{engine}msgid "no grad"\nmsgstr "sans calcul"\n\n'
        f'{engine}msgid "loss"\nmsgstr "perte"\n'
    )
    assert translated("loss gets no gradient: no grad") == "loss sans gradient : sans calcul"


def test_the_language_is_that_of_the_environment_then_the_setting_then_the_system():
    system = ["zh-Hans-CN", "en-GB"]
    assert languages.wanted("", system, {}) == "zh_CN"
    assert languages.wanted("en", system, {}) == "en"
    assert languages.wanted("en", [], {"GRADSCRIBE_LANGUAGE": "zh_CN.UTF-8"}) == "zh_CN"
    assert languages.wanted("", ["de-DE", "zh-CN"], {}) == "zh_CN"
    assert languages.wanted("", ["en-GB", "zh-CN"], {}) == "en"
    assert languages.wanted("", ["zh-Hant-TW", "zh_HK"], {}) == "en"
    assert languages.wanted("xx", ["zh-CN"], {}) == "xx"


def test_the_languages_have_their_own_names():
    assert languages.available()["zh_CN"] == "简体中文"
    assert next(iter(languages.available())) == "en"


def test_the_pseudo_locale_leaves_what_code_reads():
    text = languages.pseudo.text("<b>Save</b> {name:,} &amp; {{x}} &File")
    for part in ("<b>", "</b>", "{name:,}", "&amp;", "{{", "}}", "&F"):
        assert part in text
    assert "Save" not in text
    assert len(text) >= 1.2 * len("Save  &  File")
    assert text.startswith("⟦")
    assert text.endswith("⟧")
