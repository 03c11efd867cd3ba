"""The errors, with the sentences of PostgreSQL's."""


# Functions of SQL in the hints, and what Python calls the same.
_CALLS = {
    "cuckoofilter_sum": "Filter.sum",
    "cuckoofilter_agg(item, fpr, capacity)": "Filter.build(items, fpr, capacity)",
    "cuckoofilter_part": "cuckoofilter.part",
}


class Error(ValueError):
    """An error of a filter.

    message says what is wrong, detail more about it, and hint what to do; detail and hint may be
    empty. sqlstate is PostgreSQL's code of the same error.
    """

    def __init__(self, message: str, sqlstate: str = "22023", detail: str = "", hint: str = "") -> None:
        super().__init__(message, sqlstate, detail, hint)
        self.message = message
        self.sqlstate = sqlstate
        self.detail = detail
        for name, call in _CALLS.items():
            hint = hint.replace(name, call)
        self.hint = hint

    def __str__(self) -> str:
        lines = [self.message]
        if self.detail:
            lines.append(f"DETAIL: {self.detail}")
        if self.hint:
            lines.append(f"HINT: {self.hint}")
        return "\n".join(lines)


class ItemError(Error, TypeError):
    """An item of a type that a filter never saw, or of a type that has no hash."""
