"""How unsure an attacker must remain about which key a record belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from louver.lazy import lazily

if TYPE_CHECKING:
    from louver.privacy.entropy.least import MinEntropy, min_entropy
    from louver.privacy.entropy.published import published_min_entropy

__all__ = ["MinEntropy", "min_entropy", "published_min_entropy"]
_HOMES = {"MinEntropy": "least", "min_entropy": "least", "published_min_entropy": "published"}
__getattr__ = lazily("louver.privacy.entropy", _HOMES)


def __dir__() -> list[str]:
    return __all__
