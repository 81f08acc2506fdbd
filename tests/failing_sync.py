"""Makes fsync and fdatasync fail, by a small library in LD_PRELOAD."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

needs_cc = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("cc") is None,
    reason="LD_PRELOAD is of Linux, and cc, the C compiler, makes what it loads",
)

FAILS_ONCE = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Fails for files whose paths begin with $FAILS: always with FAILS_NOW=always, else once the file
   $FAILS_NOW is there, which it removes. */
static int sync_file(int number, int file) {
  char link[64], path[4096];
  const char *fails = getenv("FAILS"), *now = getenv("FAILS_NOW");
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (fails && now && length > 0) {
    path[length] = 0;
    int is_one = !strncmp(path, fails, strlen(fails));
    if (is_one && (!strcmp(now, "always") || !unlink(now))) {
      errno = EIO;
      return -1;
    }
  }
  return syscall(number, file);
}
int fsync(int file) { return sync_file(SYS_fsync, file); }
int fdatasync(int file) { return sync_file(SYS_fdatasync, file); }
"""


class Failing:
    """A file, or those of a folder, of which a flush can be made to fail."""

    def __init__(self, file: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.file, self._now = file, folder / "now"
        source, library = folder / "fails.c", folder / "fails.so"
        source.write_text(FAILS_ONCE, encoding="ascii")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
        for name, value in (("LD_PRELOAD", library), ("FAILS", file), ("FAILS_NOW", self._now)):
            monkeypatch.setenv(name, str(value))

        self._set = monkeypatch.setenv

    def once(self) -> None:
        self._now.touch()

    def always(self) -> None:
        self._set("FAILS_NOW", "always")

    def has(self) -> bool:
        return not self._now.exists()
