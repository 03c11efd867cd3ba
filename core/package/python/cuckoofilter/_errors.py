"""The errors, with the sentences of PostgreSQL's."""


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
        self.hint = hint.replace("cuckoofilter_sum", "Filter.sum")  # the sentences name SQL's functions

    def __str__(self) -> str:
        lines = [self.message]
        if self.detail:
            lines.append(f"DETAIL: {self.detail}")
        if self.hint:
            lines.append(f"HINT: {self.hint}")
        return "\n".join(lines)


class ItemError(Error, TypeError):
    """An item of a type that a filter never saw, or of a type that has no hash."""
