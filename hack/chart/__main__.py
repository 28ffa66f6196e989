"""`python -m hack.chart`: writes charts/tutti from config/. A test fails while the files are not what this writes."""

from hack.chart.render import FOLDER, rendered


def main() -> None:
    """Writes the files, and removes those that nothing is written to any more."""
    files = rendered()
    for path in FOLDER.rglob("*"):
        if path.is_file() and str(path.relative_to(FOLDER)) not in files:
            path.unlink()
    for name, text in files.items():
        file = FOLDER / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
