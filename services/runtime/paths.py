"""Where the files that travel with the code are, in a checkout and in an installed wheel."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent
_CHECKOUT = _PACKAGE.parent / "schemas"

SCHEMAS: Path = _CHECKOUT if _CHECKOUT.is_dir() else _PACKAGE / "schemas"
