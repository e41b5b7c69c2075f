"""The ledger's secret and its witness.

The key is 32 random bytes in a file of its own. Beside it lies the witness: the newest entry that this machine has
seen, so that an older ledger put in place of a newer one is noticed. The witness holds two records and writes them in
turn, in place: whatever happens during one write, the other still stands. It may lag behind the ledger, never lead it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from pathlib import Path

from louver.errors import LedgerError

KEY_BYTES = 32
RECORD = 512


class Keys:
    """The secret in a key file, and the witness beside it."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.witness_path = Path(f"{self.path}.witness")
        self._key: bytes | None = None

    @property
    def key(self) -> bytes:
        if self._key is None:
            try:
                self._key = bytes.fromhex(self.path.read_text(encoding="ascii").strip())
            except FileNotFoundError:
                raise LedgerError(
                    f"The ledger's key {self.path} is missing; say where it is with --key or LOUVER_LEDGER_KEY."
                ) from None
            except OSError as fault:
                raise LedgerError(f"The ledger's key {self.path} cannot be read: {fault.strerror}.") from None
            except ValueError:
                raise LedgerError(f"{self.path} is no key of a ledger.") from None
            if len(self._key) != KEY_BYTES:
                raise LedgerError(f"{self.path} is no key of a ledger.")
        return self._key

    def make(self) -> None:
        """A new key, readable by its owner only; a key that is there is never replaced."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            raise LedgerError(
                f"There is already a key at {self.path}; choose another place with --key or LOUVER_LEDGER_KEY."
            ) from None
        except OSError as fault:
            raise LedgerError(f"The key {self.path} cannot be written: {fault.strerror}.") from None
        try:
            os.write(file, f"{secrets.token_hex(KEY_BYTES)}\n".encode("ascii"))
            os.fsync(file)
        except OSError as fault:
            self.remove()
            raise LedgerError(f"The key {self.path} cannot be written: {fault.strerror}.") from None
        finally:
            os.close(file)

    def remove(self) -> None:
        """Undo `make`, where no ledger came of it."""
        for path in (self.path, self.witness_path):
            path.unlink(missing_ok=True)

    def secret(self, purpose: str) -> bytes:
        """A secret for another purpose, from which the key cannot be told."""
        return hmac.new(self.key, f"louver secret: {purpose}".encode(), hashlib.sha256).digest()

    def fingerprint(self) -> str:
        return self.secret("fingerprint").hex()[:16]

    def see(self, number: int, link: str, durable: bool = False) -> None:
        """Remember the newest entry; `durable` waits until that is on disk."""
        said = json.dumps([number, link])
        record = f"{said} {self._sign(said)}\n".encode("ascii").ljust(RECORD)
        try:
            file = os.open(self.witness_path, os.O_WRONLY | os.O_CREAT, 0o600)
            try:
                os.pwrite(file, record, RECORD * (number % 2))
                if durable:
                    os.fsync(file)
            finally:
                os.close(file)
        except OSError as fault:
            raise LedgerError(f"The witness {self.witness_path} cannot be written: {fault.strerror}.") from None

    def seen(self) -> tuple[int, str] | None:
        """The newest entry this machine has seen; None where there is no witness."""
        try:
            content = self.witness_path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as fault:
            raise LedgerError(f"The witness {self.witness_path} cannot be read: {fault.strerror}.") from None
        records = [self._record(content[start : start + RECORD]) for start in (0, RECORD)]
        found = [record for record in records if record is not None]
        if not found:
            raise LedgerError(f"The witness {self.witness_path} is damaged, or belongs to another key.")
        return max(found)

    def _record(self, content: bytes) -> tuple[int, str] | None:
        said, _, signature = content.decode("ascii", "replace").strip().rpartition(" ")
        if not said or not hmac.compare_digest(signature.encode(), self._sign(said).encode()):
            return None
        number, link = json.loads(said)
        return int(number), str(link)

    def _sign(self, said: str) -> str:
        return hmac.new(self.secret("witness"), said.encode(), hashlib.sha256).hexdigest()
