"""`python -m hack.metrics`: writes docs/metrics.md. A test fails while the file is not what this writes."""

from hack.metrics.document import FILE, rendered


def main() -> None:
    """Writes the file."""
    FILE.write_text(rendered(), encoding="utf-8")


if __name__ == "__main__":
    main()
