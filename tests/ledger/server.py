"""A private PostgreSQL for the tests: its own folder and socket, its own processes, and nothing left afterwards."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote, urlsplit

import psycopg

OWNER = "louver"
PORT = 5432  # names the socket only: nothing listens on the network

# Waits until whoever holds its input says so or dies, even of kill -9, and then clears up.
_GUARD = 'read -r _; "$1" stop -s -m immediate -D "$2/data"; rm -rf "$2"'

_SETTINGS = """
listen_addresses = ''
unix_socket_directories = '{folder}'
port = {port}
max_connections = 120
"""


class Server:
    """Made and started at once; `remove` ends it. Root may not run PostgreSQL, so as root another user runs it."""

    def __init__(self) -> None:
        self._control = self.binary("pg_ctl")
        self._as_user = _someone_else() if os.geteuid() == 0 else {}
        self.folder = Path(tempfile.mkdtemp(prefix="louver-"))  # short: the path of a socket has 107 bytes
        if self._as_user:
            os.chown(self.folder, self._as_user["user"], self._as_user["group"])
        self._guard: subprocess.Popen[bytes] | None = subprocess.Popen(
            ["/bin/sh", "-c", _GUARD, "guard", str(self._control), str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,  # so that Ctrl-C ends the tests and not what clears up after them
            **self._as_user,
        )
        self._databases = 0
        try:
            encoding = ["--locale=C.UTF-8", "--encoding=UTF8"]
            access = ["--auth=trust", f"--username={OWNER}"]
            self._run(self.binary("initdb"), "--no-sync", *encoding, *access, "-D", str(self.data))
            with (self.data / "postgresql.conf").open("a") as settings:
                settings.write(_SETTINGS.format(folder=self.folder, port=PORT))
            self.start()
        except BaseException:
            self.remove()
            raise

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def start(self, **settings: str) -> None:
        """Returns when it takes connections; settings hold until it is stopped."""
        options = " ".join(f"-c {name}={value}" for name, value in settings.items())
        self._run(
            self._control, "start", "-s", "-w", "-D", str(self.data), "-l", str(self.folder / "log"), "-o", options
        )

    def stop(self, mode: Literal["fast", "immediate"] = "fast") -> None:
        """Immediate is a crash: connections are cut and the next start recovers."""
        self._run(self._control, "stop", "-s", "-w", "-D", str(self.data), "-m", mode)

    def dsn(self, database: str, user: str = OWNER) -> str:
        return f"postgresql://{user}@/{database}?host={quote(str(self.folder), safe='')}&port={PORT}"

    def new_database(self) -> str:
        """The URL of an empty database."""
        self._databases += 1
        name = f"test_{self._databases}"
        self.run(f"CREATE DATABASE {name}")
        return self.dsn(name)

    def drop_database(self, url: str) -> None:
        self.run(f"DROP DATABASE IF EXISTS {urlsplit(url).path[1:]} WITH (FORCE)")

    def run(self, sql: str, database: str = "postgres") -> None:
        """One statement, as the owner of everything."""
        with psycopg.connect(self.dsn(database), autocommit=True) as connection:
            connection.execute(sql.encode())

    def remove(self) -> None:
        """Ends every process and deletes the folder; harmless when done twice."""
        if self._guard is not None:
            self._guard.communicate(b"\n")
            self._guard = None

    @staticmethod
    def binary(name: str) -> Path:
        """From the newest PostgreSQL that Debian installed, or from PATH."""
        versions = [folder for folder in Path("/usr/lib/postgresql").glob("*/bin") if (folder / name).exists()]
        if versions:
            return max(versions, key=lambda folder: float(folder.parent.name)) / name
        found = shutil.which(name)
        if found is None:
            raise RuntimeError(f"The tests need PostgreSQL's {name}, which is not here; script/test installs it.")
        return Path(found).resolve()

    def _run(self, program: Path, *options: str) -> None:
        done = subprocess.run(
            [program, *options],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            **self._as_user,
        )
        if done.returncode:
            log = self.folder / "log"
            said = done.stdout + (log.read_text()[-2000:] if log.exists() else "")
            raise RuntimeError(f"{program.name} {options[0]} failed: {said}")


def _someone_else() -> dict[str, Any]:
    known = {person.pw_name: person for person in pwd.getpwall()}
    person = known.get("postgres") or known["nobody"]
    return {"user": person.pw_uid, "group": person.pw_gid, "extra_groups": []}
