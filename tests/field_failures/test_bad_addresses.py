"""Symptoms seen in other attention kernels: pages, tables and pools that make a kernel read the wrong place."""

import mmap

import numpy as np
import pytest

import pagedrt
from helpers import cells, child, oracle, softmetal
from helpers.cells import Cell
from helpers.device_arrays import Call


def sparse(shape, dtype):
    """Mapped memory that takes room only where it is written."""
    dtype = np.dtype(dtype)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
    return np.frombuffer(mmap.mmap(-1, int(np.prod(shape)) * dtype.itemsize, flags=flags), dtype).reshape(shape)


@pytest.mark.parametrize("edge", [2**31, 2**32])
def test_pools_past_2_to_the_31_and_32_elements_are_read_at_the_right_page(device, edge):
    """page * stride in 32 bits wraps: a crash, or another sequence's keys."""
    cell = Cell("float16", 64, 1, 2, 64, 16)
    inputs = cells.make(cell)
    page = 16 * 64
    capacity = edge // page + 4
    far = capacity - 1 - np.arange(4, dtype=np.uint32)
    for name in ("key_pages", "value_pages"):
        pages = sparse((1, capacity, 16, 64), np.float16)
        pages[0, far.astype(np.int64) * page % edge // page] = 9  # where a wrapped offset leads
        pages[0, far] = getattr(inputs, name)[0, inputs.page_table]
        setattr(inputs, name, pages)
    inputs.page_table = far
    oracle.check(cells.run(device, cell, inputs), cells.expected(cell, inputs))


def test_page_ids_beyond_65535_reach_their_page(device):
    """A 16-bit page id, or a 32-bit byte offset, gives zeros, NaN or a fault."""
    ids = np.array([65535, 65536, 65537, 69999, 131071, 131072, 5], np.uint32)
    rng = np.random.default_rng(1)
    pages = [np.full((1, 131100, 1, 32), np.nan, np.float16) for _ in range(2)]
    for array in pages:
        array[0, ids] = rng.standard_normal((len(ids), 1, 32))
    queries = rng.standard_normal((1, 2, 1, 32)).astype(np.float16)
    inputs = cells.Inputs(queries, *pages, ids, np.array([len(ids)], np.uint32), 0.2, None)
    cell = Cell("float16", 32, 1, 2, len(ids), 1)
    oracle.check(cells.run(device, cell, inputs), cells.expected(cell, inputs))


@pytest.mark.parametrize("tokens", [50, 1100], ids=["one-pass", "two-pass"])
@pytest.mark.parametrize("streamed", [False, True], ids=["waits", "stream"])
def test_a_bad_page_id_is_an_error_and_never_read_as_page_zero(device, tokens, streamed):
    """Mapping bad ids to some page hides them: wrong logits, and another request's data."""
    call = Call(device, Cell("float32", 32, 1, 2, tokens, 16))
    call.arrays[3][2] = call.arrays[1].shape[1]
    stream = device.stream() if streamed else None
    with pytest.raises(pagedrt.InvalidInputError, match=r"page_table\[2\]"):
        pagedrt.paged_attention(*call.arrays, **call.keywords, device=device, stream=stream, out=call.out)
        stream.synchronize()
    assert call.untouched()


def test_no_array_is_read_past_its_last_byte():
    """Each array ends where memory ends: a tile that runs past the table, the tail or the token count faults."""
    program = """
        import ctypes, mmap
        import numpy as np
        import pagedrt
        from helpers import cells, oracle
        from helpers.cells import Cell

        PAGE, NO_ACCESS = mmap.PAGESIZE, 0
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mprotect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int


        def before_a_wall(array):
            size = -(-array.nbytes // PAGE) * PAGE
            raw = np.frombuffer(mmap.mmap(-1, size + PAGE), np.uint8)
            assert libc.mprotect(raw.ctypes.data + size, PAGE, NO_ACCESS) == 0
            view = raw[size - array.nbytes : size].view(array.dtype).reshape(array.shape)
            view[...] = array
            return view


        for cell in (
            Cell("float32", 64, 2, 2, 50, 16), Cell("float16", 100, 1, 3, 77, 8), Cell("bfloat16", 32, 2, 4, 1100, 16),
            Cell("float16", 256, 1, 8, 2049, 16), Cell("float32", 1, 1, 1, 1, 1), Cell("bfloat16", 33, 1, 5, 31, 4),
        ):
            inputs = cells.make(cell)
            # The last page in use is the pool's last, too.
            capacity = len(inputs.page_table)
            for name in ("key_pages", "value_pages"):
                setattr(inputs, name, getattr(inputs, name)[:, inputs.page_table])
            inputs.page_table = np.arange(capacity, dtype=np.uint32)
            walled = cells.Inputs(*map(before_a_wall, inputs.arrays), inputs.scale, None)
            with pagedrt.Device("cpu") as device:
                out = device.empty(inputs.queries.shape, cell.dtype)
                before = device.stats["copies"]
                cells.run(device, cell, walled, out=out)
                assert device.stats["copies"] == before, "copied, so nothing was proven"
            oracle.check(out, cells.expected(cell, inputs))
        print("well")
    """
    assert child.run(program) == "well\n"


@pytest.mark.parametrize("offset", [0, 2, 64, 1000, 4094])
def test_memory_at_any_offset_in_a_page_is_used_or_copied_rightly(device, offset):
    """No-copy buffers want whole pages: elsewhere they come back nil, or one page long."""
    cell = Cell("float16", 64, 2, 2, 100, 16)
    inputs = cells.make(cell)

    def shifted(array):
        room = np.zeros(array.nbytes + 8192, np.uint8)
        start = -room.ctypes.data % 4096 + offset // array.itemsize * array.itemsize
        view = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
        view[...] = array
        return view

    moved = cells.Inputs(*map(shifted, inputs.arrays), inputs.scale, inputs.used)
    room = np.full(inputs.queries.nbytes + 8192, 0x5A, np.uint8)
    out = room[4096 + offset : 4096 + offset + inputs.queries.nbytes].view(np.float16).reshape(inputs.queries.shape)
    oracle.check(cells.run(device, cell, moved, out=out), cells.expected(cell, inputs))
    assert (room[: 4096 + offset] == 0x5A).all()
    assert (room[4096 + offset + out.nbytes :] == 0x5A).all()


def test_a_buffer_beyond_the_devices_limit_is_refused_and_not_cut_short():
    """A length in 32 bits, or a nil buffer that nobody checks, gives garbage."""
    with softmetal.limited_device(1 << 16) as device:
        cell = Cell("float32", 64, 1, 1, 300, 16)
        inputs = cells.make(cell)
        assert inputs.key_pages.nbytes > 1 << 16
        for use in (
            lambda: device.empty(inputs.key_pages.shape, "float32"),
            lambda: device.asarray(inputs.key_pages),
            lambda: cells.run(device, cell, inputs),
        ):
            with pytest.raises(pagedrt.InvalidInputError, match="65536 bytes"):
                use()
        cells.check(device, Cell("float32", 64, 1, 1, 200, 16))
