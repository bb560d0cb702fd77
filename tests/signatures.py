"""The check of signatures that `conftest.py` puts on the code under test."""

from beartype import BeartypeConf, beartype

# An int may stand for a float, as it may for mypy.
checked = beartype(conf=BeartypeConf(is_pep484_tower=True))
