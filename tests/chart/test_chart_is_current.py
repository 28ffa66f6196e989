"""The chart in `charts/tutti` is what `make chart` writes."""

from hack.chart.render import FOLDER, rendered


def test_the_files_are_what_the_generator_writes() -> None:
    written = {str(path.relative_to(FOLDER)): path.read_text() for path in FOLDER.rglob("*") if path.is_file()}
    assert written == rendered(), "run `make chart`"
