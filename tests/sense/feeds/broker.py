"""A private Mosquitto for the tests: its own folder and port, its own process, and nothing left afterwards."""

from __future__ import annotations

import getpass
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

# Waits until whoever holds its input says so or dies, even of kill -9, and then clears up.
_GUARD = 'read -r _; kill "$(cat "$1/pid")"; rm -rf "$1"'

_SETTINGS = """
listener {port} 127.0.0.1
persistence true
persistence_location {folder}/
max_inflight_messages 1000
max_queued_messages 0
log_dest file {folder}/log
pid_file {folder}/pid
user {user}
"""


class Mosquitto:
    """Made and started at once; `remove` ends it. `settings` are lines of its configuration."""

    def __init__(self, settings: str = "allow_anonymous true") -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="louver-mosquitto-"))
        self.port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._guard: subprocess.Popen[bytes] | None = subprocess.Popen(
            ["/bin/sh", "-c", _GUARD, "guard", str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,  # so that Ctrl-C ends the tests and not what clears up after them
        )
        made = _SETTINGS.format(port=self.port, folder=self.folder, user=getpass.getuser())
        (self.folder / "conf").write_text(made + settings + "\n")
        try:
            self.start()
        except BaseException:
            self.remove()
            raise

    def address(self, topic: str, *, tls: bool = False, host: str = "127.0.0.1") -> str:
        return f"mqtt{'s' if tls else ''}://{host}:{self.port}/{topic}"

    def start(self) -> None:
        """Returns when it takes connections."""
        self._process = subprocess.Popen(
            [_binary(), "-c", str(self.folder / "conf")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for _ in range(500):
            if self._process.poll() is not None:
                raise RuntimeError(f"mosquitto ended at once: {(self.folder / 'log').read_text()[-2000:]}")
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            except OSError:
                time.sleep(0.02)
            else:
                return
        raise RuntimeError("mosquitto takes no connections.")

    def kill(self) -> None:
        """As a crash does it: kill -9."""
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        self._process = None

    def stop(self) -> None:
        """As a network does it that swallows everything: connections stand, and nothing answers."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def saved(self) -> None:
        """Returns when what the broker has acknowledged so far is on its disk."""
        assert self._process is not None
        before = self._stamp()
        self._process.send_signal(signal.SIGUSR1)
        for _ in range(500):
            if self._stamp() != before:
                return
            time.sleep(0.01)
        raise RuntimeError("mosquitto did not save.")

    def _stamp(self) -> tuple[int, int] | None:
        file = self.folder / "mosquitto.db"
        return (file.stat().st_mtime_ns, file.stat().st_ino) if file.exists() else None

    def remove(self) -> None:
        """Ends the process and deletes the folder; harmless when done twice."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        if self._guard is not None:
            self._guard.communicate(b"\n")
            self._guard = None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _binary() -> str:
    found = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin")
    if found is None:
        raise RuntimeError("The tests need Mosquitto, which is not here; script/mosquitto installs it.")
    return found
