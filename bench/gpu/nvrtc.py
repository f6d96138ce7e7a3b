"""Compiles the shaders at run time, as Metal does, with NVIDIA's run-time compiler; and launches them."""

import ctypes
import ctypes.util
import glob
import pathlib
import sys
from typing import ClassVar

HERE = pathlib.Path(__file__).parent
SHADERS = HERE.parents[1] / "shaders"
sys.path.insert(0, str(SHADERS))

import embed  # noqa: E402

TYPES = {"float32": "float", "float16": "half", "bfloat16": "bfloat"}


def load(name):
    found = glob.glob(f"/usr/local/cuda*/**/lib{name}.so*", recursive=True) or [ctypes.util.find_library(name)]
    return ctypes.CDLL(found[0])


nvrtc, cuda = load("nvrtc"), ctypes.CDLL("libcuda.so.1")
INCLUDE = next(iter(glob.glob("/usr/local/cuda*/include")), "/usr/include")


class CompileError(Exception):
    pass


def check(code, what):
    if code != 0:
        raise RuntimeError(f"{what}: CUDA error {code}")


def compile_kernel(library, expression, constants=(), architecture="sm_90"):
    """The cubin of one kernel instance and its name in there."""
    prelude = (HERE / "metal.cuh").read_text()
    shader = "\n".join(embed.flatten(SHADERS / f"{library}.metal", set())).replace("#include <metal_stdlib>", "")
    text = f"{prelude}\n{shader}\n{(HERE / 'wrappers.cuh').read_text()}"
    options = [
        f"--gpu-architecture={architecture}",
        "--device-as-default-execution-space",
        "--std=c++17",
        "-lineinfo",
        f"-I{INCLUDE}",
        f"-I{INCLUDE}/cccl",
        f"-DLIBRARY_{library}",
        *(f"-DCONSTANT_{index}={value}" for index, value in enumerate(constants)),
    ]
    program = ctypes.c_void_p()
    # the prelude has the types that a C host gets from <stdint.h>
    no_text, stdint = (ctypes.c_char_p * 1)(b""), (ctypes.c_char_p * 1)(b"stdint.h")
    source = ctypes.byref(program), text.encode(), f"{library}.cu".encode()
    check(nvrtc.nvrtcCreateProgram(*source, 1, no_text, stdint), "create")
    check(nvrtc.nvrtcAddNameExpression(program, expression.encode()), "name")
    arguments = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    if nvrtc.nvrtcCompileProgram(program, len(options), arguments) != 0:
        size = ctypes.c_size_t()
        nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetProgramLog(program, log)
        raise CompileError(log.value.decode())
    lowered = ctypes.c_char_p()
    check(nvrtc.nvrtcGetLoweredName(program, expression.encode(), ctypes.byref(lowered)), "lowered name")
    size = ctypes.c_size_t()
    check(nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size)), "size")
    image = ctypes.create_string_buffer(size.value)
    check(nvrtc.nvrtcGetCUBIN(program, image), "cubin")
    name = lowered.value
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return image, name


class Kernel:
    """A loaded kernel instance; compiled once for each (library, expression, constants)."""

    cache: ClassVar[dict] = {}

    def __init__(self, image, name):
        module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        check(cuda.cuModuleLoadData(ctypes.byref(module), image), "load")
        check(cuda.cuModuleGetFunction(ctypes.byref(self.function), module, name), "function")
        self.registers = self.attribute(4)
        self.local_bytes = self.attribute(3)
        self.max_threads = self.attribute(0)

    @classmethod
    def get(cls, library, expression, constants=()):
        key = library, expression, tuple(constants)
        if key not in cls.cache:
            cls.cache[key] = cls(*compile_kernel(*key))
        return cls.cache[key]

    def attribute(self, number):
        value = ctypes.c_int()
        check(cuda.cuFuncGetAttribute(ctypes.byref(value), number, self.function), "attribute")
        return value.value

    def resident(self, threads, shared_bytes):
        count = ctypes.c_int()
        query = cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor
        check(query(ctypes.byref(count), self.function, threads, ctypes.c_size_t(shared_bytes)), "occupancy")
        return count.value

    def launch(self, grid, threads, shared_bytes, stream, arguments):
        values = [ctypes.c_void_p(a) if isinstance(a, int) else a for a in arguments]
        packed = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        check(
            cuda.cuLaunchKernel(
                self.function, *grid, threads, 1, 1, shared_bytes, ctypes.c_void_p(stream), packed, None
            ),
            "launch",
        )
