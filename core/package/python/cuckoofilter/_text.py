"""What a program has instead of a filter's bytes: PostgreSQL's text, or a buffer."""

import re
from base64 import b64decode

from ._errors import Error


def decode(data):
    """The bytes of a base64 text, or of what has a buffer."""
    if isinstance(data, str):
        return _decode_text(data)
    try:
        return bytes(memoryview(data))
    except TypeError:
        name = type(data).__name__
        raise TypeError(f"a filter is made of bytes or a base64 text, not {name}") from None


def _decode_text(text):
    """The bytes of a base64 text, as JavaScript's atob reads it: blanks do not count, and the = at the end may be left out."""
    digits = re.sub("[ \\t\\n\\f\\r]", "", text)
    if len(digits) % 4 == 0:
        digits = re.sub("={1,2}$", "", digits)
    if len(digits) % 4 == 1 or not re.fullmatch("[A-Za-z0-9+/]*", digits):
        raise Error("not a cuckoofilter: the text is not base64", "22P03")
    return b64decode(digits + "=" * (-len(digits) % 4))
