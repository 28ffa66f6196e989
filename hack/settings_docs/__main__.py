"""`python -m hack.settings_docs`: writes docs/configuration.md. A test fails while the file is not what this writes."""

from hack.settings_docs.document import FILE, rendered


def main() -> None:
    """Writes the file."""
    FILE.write_text(rendered(), encoding="utf-8")


if __name__ == "__main__":
    main()
