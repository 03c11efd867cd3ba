"""The old name of cuckoofilter.sqlite, which programs keep that were written before 1.5."""

from cuckoofilter.sqlite import load, loadable_path

__all__ = ["load", "loadable_path"]
