"""An authority for one test, and certificates that it signs."""

from __future__ import annotations

import ipaddress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class Authority:
    """`ca.pem` in a folder, and `<name>.pem` with `<name>.key` for each certificate that is made."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _named("louver test authority")
        made = self._builder(self._name, self._key).add_extension(x509.BasicConstraints(ca=True, path_length=0), True)
        usage = x509.KeyUsage(True, False, False, False, False, True, True, False, False)
        subject = x509.SubjectKeyIdentifier.from_public_key(self._key.public_key())
        made = made.add_extension(usage, True).add_extension(subject, False)
        self._write("ca", made, None)

    @property
    def ca(self) -> Path:
        return self.folder / "ca.pem"

    def certify(self, name: str) -> tuple[Path, Path]:
        """A certificate for this name, for localhost and for 127.0.0.1; the files of it and of its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        hosts = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        made = self._builder(_named(name), key).add_extension(x509.SubjectAlternativeName(hosts), False)
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        self._write(name, made.add_extension(issuer, False), key)
        return self.folder / f"{name}.pem", self.folder / f"{name}.key"

    def _builder(self, name: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(hours=1))
            .not_valid_after(now + timedelta(hours=1))
        )

    def _write(self, name: str, made: x509.CertificateBuilder, key: ec.EllipticCurvePrivateKey | None) -> None:
        signed = made.sign(self._key, hashes.SHA256())
        (self.folder / f"{name}.pem").write_bytes(signed.public_bytes(serialization.Encoding.PEM))
        if key is not None:
            (self.folder / f"{name}.key").write_bytes(
                key.private_bytes(
                    serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
                )
            )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
