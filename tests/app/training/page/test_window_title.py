"""The title of the window names what the page that it shows is about."""


def test_the_title_names_the_program_or_the_run(window):
    program = window.windowTitle()
    assert program == f"{window.session.doc.title}[*] — Gradscribe"
    window.workspaces.show_workspace("training")
    assert window.windowTitle() == "Training[*] — Gradscribe"
    window.train_link.greet()
    window.train_link.begin(1, window.workspaces.session.setup)
    session = window.workspaces.session
    assert window.windowTitle() == f"{session.run.name}[*] — Gradscribe"
    session.store.rename(session.run.run_id, "mine[*]")
    assert window.windowTitle() == "mine[*][*][*] — Gradscribe"
    window.workspaces.show_workspace("program")
    assert window.windowTitle() == program
