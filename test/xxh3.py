"""XXH3 by the library itself, for suites that hash a second time."""

import ctypes

_library = ctypes.CDLL("libxxhash.so.0")
_library.XXH3_64bits_withSeed.restype = ctypes.c_uint64
_library.XXH3_64bits_withSeed.argtypes = (ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64)


def xxh3(data, seed):
    return _library.XXH3_64bits_withSeed(data, len(data), seed % 2**64)
