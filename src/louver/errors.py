"""The one family of errors: each is a sentence for the person who caused it, with an exit code for the shell."""


class LouverError(Exception):
    """What is wrong, where, and what to do, in one sentence."""

    exit_code = 1


class ParameterError(LouverError):
    """A value given by the caller cannot be used."""

    exit_code = 2


class PromiseError(LouverError):
    """No plan can keep the promise that was asked for."""

    exit_code = 5
