"""How unsure an attacker must remain about which key a record belongs to."""

from louver.privacy.entropy.least import MinEntropy, min_entropy
from louver.privacy.entropy.published import published_min_entropy

__all__ = ["MinEntropy", "min_entropy", "published_min_entropy"]
