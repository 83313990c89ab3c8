"""Changes of setups that cross: of what is edited, and of what the engine reports meanwhile."""

from msgspec import structs

from gradscribe.engine.protocol.setup import JsonValue, Part, Setup


def rebase(setup: Setup, base: Setup, wanted: Setup) -> Setup:
    """Return ``setup`` with the differences of ``wanted`` from ``base``.

    Of a part with the same name in all three, only the options that differ are taken over.
    """
    changed: dict[str, object] = {}
    for key in Setup.__struct_fields__:
        here, before, after = getattr(setup, key), getattr(base, key), getattr(wanted, key)
        if before == after:
            continue
        changed[key] = after
        parts = (here, before, after)
        if all(isinstance(part, Part) for part in parts) and here.name == before.name == after.name:
            changed[key] = Part(here.name, _options(here, before, after))
    return structs.replace(setup, **changed)


def _options(here: Part, before: Part, after: Part) -> dict[str, JsonValue]:
    options = dict(here.options)
    for name in before.options.keys() | after.options.keys():
        if before.options.get(name) == after.options.get(name) and (
            (name in before.options) == (name in after.options)
        ):
            continue
        if name in after.options:
            options[name] = after.options[name]
        else:
            options.pop(name, None)
    return options
