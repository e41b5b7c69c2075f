from tests.cli.asking import tell

__all__ = ["tell"]
