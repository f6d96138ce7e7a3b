"""What a Mach-O file says of itself, read with lief; and its signature, which a Mac checks page by page."""

import hashlib
import struct
from functools import cached_property

import lief

lief.logging.disable()

DYNAMIC_LOOKUP = -2
CODE_DIRECTORY = 0xFADE0C02
AD_HOC = 2
SHA256 = (32, 2)  # bytes of a hash, and its kind


class MachO:
    """A file that holds one architecture."""

    def __init__(self, data):
        self.data = bytes(data)
        self.file = lief.MachO.parse(list(self.data))  # what lief gives lives as long as this
        self.slices = list(self.file)
        self.binary = self.slices[0]

    def commands(self, name):
        return [one for one in self.binary.commands if one.command.name == name]

    @cached_property
    def libraries(self):
        return [one.name for one in self.commands("LOAD_DYLIB")]

    @cached_property
    def imports(self):
        """Symbol: the library it is bound to, or DYNAMIC_LOOKUP."""
        bindings = {symbol.name: symbol.binding_info for symbol in self.binary.imported_symbols}
        return {name: one.library.name if one.has_library else one.library_ordinal for name, one in bindings.items()}

    @cached_property
    def exports(self):
        return {symbol.name for symbol in self.binary.exported_symbols}

    @cached_property
    def selectors(self):
        """What __objc_selrefs points to."""
        references, names = self.binary.get_section("__objc_selrefs"), self.binary.get_section("__objc_methname")
        text, base = bytes(names.content), names.virtual_address
        pointers = struct.unpack(f"<{references.size // 8}Q", bytes(references.content))
        return {text[pointer - base : text.index(b"\0", pointer - base)].decode() for pointer in pointers}

    def signature_problems(self):
        """arm64 macOS runs no page whose hash the signature does not hold."""
        if self.binary.code_signature is None:
            return ["no signature"]
        end = self.binary.code_signature.data_offset
        _, _, count = struct.unpack_from(">3I", self.data, end)
        blobs = [end + struct.unpack_from(">2I", self.data, end + 12 + 8 * i)[1] for i in range(count)]
        at = next(blob for blob in blobs if struct.unpack_from(">I", self.data, blob)[0] == CODE_DIRECTORY)
        flags, hashes, _, _, slots, limit = struct.unpack_from(">6I", self.data, at + 12)
        *kind, _, page_bits = struct.unpack_from("4B", self.data, at + 36)
        page = 1 << page_bits
        if (flags & AD_HOC, tuple(kind), limit, slots) != (AD_HOC, SHA256, end, -(-end // page)):
            return ["not an ad-hoc SHA-256 signature of all that stands before it"]
        held = [self.data[at + hashes + 32 * i : at + hashes + 32 * i + 32] for i in range(slots)]
        pages = [self.data[i * page : min((i + 1) * page, end)] for i in range(slots)]
        return [f"page {i} has another hash" for i in range(slots) if hashlib.sha256(pages[i]).digest() != held[i]]
