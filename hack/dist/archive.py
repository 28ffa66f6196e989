"""The chart as an archive that Helm installs, always the same bytes for the same files."""

import gzip
import io
import tarfile
from typing import Final

from hack.chart.render import rendered

_MODE: Final = 0o644


def chart_archive(epoch: int) -> bytes:
    """The files of the chart below `tutti/`, nobody's, of that time."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, text in sorted(rendered().items()):
            content = text.encode()
            entry = tarfile.TarInfo(f"tutti/{name}")
            entry.size, entry.mtime, entry.mode = len(content), epoch, _MODE
            archive.addfile(entry, io.BytesIO(content))
    return gzip.compress(plain.getvalue(), mtime=epoch)
