"""PostgreSQL's text of a filter: base64."""

import re
from base64 import b64decode

from ._errors import Error


def decode(text):
    """The bytes of a base64 text, as JavaScript's atob reads it: blanks do not count, and the = at the end may be left out."""
    digits = re.sub("[ \\t\\n\\f\\r]", "", text)
    if len(digits) % 4 == 0:
        digits = re.sub("={1,2}$", "", digits)
    if len(digits) % 4 == 1 or not re.fullmatch("[A-Za-z0-9+/]*", digits):
        raise Error("not a cuckoofilter: the text is not base64", "22P03")
    return b64decode(digits + "=" * (-len(digits) % 4))
