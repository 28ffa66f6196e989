"""The whole demo, as `make demo` runs it where there is no terminal."""

import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
PATIENCE_SECONDS = 300.0
EXTRA = """
apiVersion: batch/v1
kind: Job
metadata: {name: extra}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: i}]
"""


def test_the_demo_goes_through_all_its_acts(tmp_path: Path) -> None:
    (tmp_path / "extra.yaml").write_text(EXTRA)
    done = subprocess.run(
        [sys.executable, "-m", "localcluster.demo", "--manifests", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
        cwd=REPOSITORY,
        stdin=subprocess.DEVNULL,
    )
    told = done.stdout + done.stderr
    assert done.returncode == 0, told
    assert "15 of 15 acts as they should be" in told
    assert "$ kubectl gang tree jobset/" in told
    assert "extra (no gang)" in told
    assert "cannot be satisfied" in told
    assert "export KUBECONFIG=" in told
    assert "\x1b" not in told


def test_a_folder_of_manifests_that_is_none_is_one_clear_line() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "localcluster.demo", "--manifests", "no-such-folder"],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
        cwd=REPOSITORY,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 2
    assert done.stderr == "error: --manifests: no-such-folder is no folder\n"
