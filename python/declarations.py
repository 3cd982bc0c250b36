"""declarations.py -- the public headers as cffi reads them, and the C file that cffi makes of them.

usage: declarations.py heed.h heed_draw.h OUT.c

The headers are plain enough that nothing has to be written twice: comments, preprocessor lines and what is inside extern "C" braces go, and what
is left are declarations. Functions of Python that the library calls are declared at the end.
"""
import re
import sys

import cffi

CALLBACKS = """
extern "Python" bool heed_python_watch(void *context, size_t n_done, size_t n);
extern "Python" bool heed_python_learned(void *context, const heed_training_event *event);
"""


def declarations(header):
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    text = re.sub(r"^[ \t]*#(?:.*\\\n)*.*$", "", text, flags=re.M)
    text = text.replace('extern "C" {', "").replace("HEED_API ", "")
    return re.sub(r"^}\s*$(?![\s\S]*^\w)", "", text, flags=re.M)


def main():
    *headers, out = sys.argv[1:]
    ffi = cffi.FFI()
    for path in headers:
        with open(path, encoding="utf-8") as f:
            ffi.cdef(declarations(f.read()))
    ffi.cdef(CALLBACKS)
    ffi.set_source("heed._heed", "#include <heed.h>\n#include <heed_draw.h>\n", py_limited_api=True)
    ffi.emit_c_code(out)


if __name__ == "__main__":
    main()
