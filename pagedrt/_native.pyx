"""The one shared object that links libpagedrt: it holds every compiled module of the package."""

import sys
from importlib.machinery import ExtensionFileLoader, ModuleSpec

from pagedrt.c_api cimport pagedrt_version

version = pagedrt_version().decode()


def load_modules():
    """Imports the compiled modules in order of dependence and registers them under their own names.

    Python finds a module's PyInit_<name> in whatever file its loader is given. So one file serves all, native state
    and NumPy's C API exist once, and the modules cimport each other as if each had a file of its own.
    """
    path = __file__
    package = sys.modules["pagedrt"]
    for noun in ("errors", "dtypes", "buffer", "device", "stream", "scratch", "plan", "call", "dlpack", "micro"):
        name = "pagedrt." + noun
        loader = ExtensionFileLoader(name, path)
        spec = ModuleSpec(name, loader, origin=path)
        spec.has_location = True
        module = loader.create_module(spec)
        for attribute, value in (("__spec__", spec), ("__loader__", loader), ("__package__", "pagedrt"),
                                 ("__file__", path)):
            setattr(module, attribute, value)
        sys.modules[name] = module
        loader.exec_module(module)
        setattr(package, noun, module)
