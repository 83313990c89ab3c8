"""Contents of the start page: recent files, examples, lessons with progress, set-ups."""

import os
from functools import partial
from pathlib import Path

from gradscribe.app.commands import file, learn, train
from gradscribe.app.commands.context import CommandContext
from gradscribe.app.document import example_pictures, examples
from gradscribe.app.files.documents import Refused
from gradscribe.app.lessons import catalogue
from gradscribe.app.lessons.progress import LessonState
from gradscribe.app.training.setup import presets
from gradscribe.app.ui.examples.thumbnail import ExampleThumbnail
from gradscribe.app.ui.start import setup_pictures
from gradscribe.app.ui.start.items import StartAction, StartItem, StartSection
from gradscribe.app.ui.start.page import StartPage
from gradscribe.app.ui.start.setup_picture import SetupThumbnail
from gradscribe.playback.lessons.duration import minutes_text
from gradscribe.playback.lessons.lesson import LessonSummary
from gradscribe.playback.translation import pgettext, tr
from gradscribe.widgets.base.theme import Theme


def open_start_page(context: CommandContext) -> StartPage:
    """Open the start page over the window."""
    page = StartPage(context.ground, _actions(context), (), context.look.theme())
    page.replace_sections(_sections(context, page))
    # The keys that go to the other page work below the start page.
    context.workspaces.entered.connect(page.leave)
    page.open()
    return page


def _actions(context: CommandContext) -> list[StartAction]:
    def act(run: object) -> None:
        assert callable(run)
        _guarded(context, partial(run, context))

    return [
        StartAction(tr("New program"), tr("Ctrl+N"), partial(act, file.new)),
        StartAction(tr("Open…"), tr("Ctrl+O"), partial(act, file.open_file)),
        StartAction(tr("Tour"), tr("The most important things in a minute"), context.tour.start),
    ]


def _guarded(context: CommandContext, run: partial[None]) -> None:
    """Do something that may be refused, and say why."""
    try:
        run()
    except Refused as refusal:
        context.say(str(refusal))


def _sections(context: CommandContext, page: StartPage) -> list[StartSection]:
    return [
        _recent(context, page),
        StartSection(
            pgettext("programs", "Examples"),
            [_example(context, example) for example in examples.load()],
            context.show_examples,
        ),
        StartSection(
            tr("Lessons"),
            [_lesson(context, lesson) for lesson in _next_first(context)],
            context.show_lessons,
        ),
        StartSection(
            tr("Set-ups"),
            [_setup(context, preset) for preset in presets.load()],
            partial(context.show_examples, "training"),
        ),
    ]


def _recent(context: CommandContext, page: StartPage) -> StartSection:
    def remove(path: str) -> None:
        context.settings.remove_recent(path)
        page.replace_sections(_sections(context, page))

    def item(path: str) -> StartItem:
        is_missing = not os.path.isfile(path)
        about = tr("Not there any more: {folder}", folder=os.path.dirname(path))
        return StartItem(
            Path(path).name,
            about if is_missing else os.path.dirname(path),
            partial(_guarded, context, partial(file.open_path, context, path)),
            remove=partial(remove, path),
            is_missing=is_missing,
        )

    items = [item(path) for path in context.settings.stored_recent()]
    return StartSection(tr("Recent"), items, empty=tr("Files you open or save appear here"))


def _example(context: CommandContext, example: examples.Example) -> StartItem:
    picture = example_pictures.load().get(example.name)

    def draw(theme: Theme) -> ExampleThumbnail:
        assert picture is not None
        return ExampleThumbnail(picture, theme)

    show = partial(file.open_example, context, example.title, example.source)
    return StartItem(
        example.title,
        example.about,
        partial(_guarded, context, show),
        " ".join(example.tags),
        draw if picture is not None else None,
    )


def _next_first(context: CommandContext) -> list[LessonSummary]:
    """Return the lessons, those that are begun or not done first."""
    progress = context.lessons.progress

    def place(lesson: LessonSummary) -> int:
        state = progress.of(lesson.name)
        return 2 if state.done else 0 if state.step else 1

    return sorted(catalogue.summaries(), key=place)


def _lesson(context: CommandContext, lesson: LessonSummary) -> StartItem:
    state = context.lessons.progress.of(lesson.name)
    about = tr(
        "{about}, {minutes}{progress}",
        about=lesson.about,
        minutes=minutes_text(lesson.minutes),
        progress=_progress(state, lesson.steps),
    )

    def show() -> None:
        learn.open_lesson(context, catalogue.builtin(lesson.file))

    topics = " ".join((lesson.part, *lesson.topics))
    return StartItem(lesson.title, about, partial(_guarded, context, partial(show)), topics)


def _progress(state: LessonState, steps: int) -> str:
    if state.done:
        return tr(" · ✓ done")
    if state.step:
        return tr(" · step {step} of {steps}", step=state.step + 1, steps=steps)
    return ""


def _setup(context: CommandContext, preset: presets.Preset) -> StartItem:
    picture = setup_pictures.load().get(preset.name)

    def draw(theme: Theme) -> SetupThumbnail:
        assert picture is not None
        return SetupThumbnail(picture, theme)

    show = partial(train.start_from, context, preset)
    is_drawn = picture is not None and (picture.points or picture.pixels)
    return StartItem(
        preset.title,
        preset.about,
        partial(_guarded, context, show),
        "",
        draw if is_drawn else None,
    )
