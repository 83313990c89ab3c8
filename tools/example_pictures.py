"""Write the small pictures of the examples' graphs."""

import pathlib

import msgspec

from gradscribe.app.document import example_pictures, examples
from gradscribe.engine.run.run import record

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "assets" / "examples"


def main() -> None:
    """Record every example and write its picture."""
    made = {each.name: example_pictures.picture_of(record(each.source)) for each in examples.load()}
    rows = (f'"{name}":{msgspec.json.encode(picture).decode()}' for name, picture in made.items())
    text = "{\n" + ",\n".join(rows) + "\n}\n"
    (FOLDER / example_pictures.FILE).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
