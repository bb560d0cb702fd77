"""The exceptions faithgauge raises for its users.

Each message is one line that says what was expected, what was found, and what to do. The command line
prints it and leaves with exit code 2; a traceback of any other exception is a defect of ours.
"""


class FaithgaugeError(Exception):
    """Anything the user can put right."""


class ConfigError(FaithgaugeError):
    """An option, a name or a study file is wrong."""


class DataError(FaithgaugeError):
    """A file is missing, damaged, or does not hold what it should."""


class UnsupportedError(FaithgaugeError):
    """The model, or the installation, cannot do what was asked."""


class JobError(FaithgaugeError):
    """A computation failed on its way: a loss that is not a number, a worker that died."""
