"""The key/value cache: arenas of pages, the pool that hands pages out, and the table of one sequence."""

import numpy as np

NO_PAGE = 0xFFFFFFFF  # in a table, of a page not handed out: using it is an error


class PagePool:
    """Free pages of an arena, handed out in an order that a seed shuffles."""

    def __init__(self, capacity, seed=0):
        self.capacity = capacity
        self.free = np.random.default_rng(seed).permutation(capacity).tolist()

    @property
    def used(self):
        return self.capacity - len(self.free)

    def take(self):
        if not self.free:
            raise MemoryError(f"page pool: all {self.capacity} pages are in use")
        return self.free.pop()

    def give_back(self, pages):
        self.free.extend(pages)


class Cache:
    """One arena of pages for keys and one for values a layer; a page id means the same in all of them."""

    def __init__(self, device, config, dtype, *, page_size, capacity, seed=0):
        shape = (config.kv_heads, capacity, page_size, config.head_dim)
        self.device = device
        self.page_size = page_size
        self.keys = [device.empty(shape, dtype) for _ in range(config.layers)]
        self.values = [device.empty(shape, dtype) for _ in range(config.layers)]
        self.pool = PagePool(capacity, seed)


class Sequence:
    """One sequence's tokens in a cache: how many there are, and which pages hold them."""

    def __init__(self, cache):
        self.cache = cache
        self.table = cache.device.empty((cache.pool.capacity,), "uint32")
        self.table[:] = NO_PAGE
        self.pages = 0
        self.length = 0

    def append(self, tokens):
        """Room for so many more tokens; returns the first one's position."""
        start = self.length
        self.length += tokens
        while self.pages * self.cache.page_size < self.length:
            self.table[self.pages] = self.cache.pool.take()
            self.pages += 1
        return start

    def write(self, layer, start, keys, values):
        """Stores keys and values [tokens, kv_heads, head_dim] from position start on."""
        positions = np.arange(start, start + len(keys))
        pages, slots = self.table[positions // self.cache.page_size], positions % self.cache.page_size
        self.cache.keys[layer][:, pages, slots] = keys.swapaxes(0, 1)
        self.cache.values[layer][:, pages, slots] = values.swapaxes(0, 1)

    def gather(self, layer, length):
        """The first length tokens' keys and values, [kv_heads, length, head_dim], out of their pages."""
        used = self.table[: -(-length // self.cache.page_size)]
        arenas = self.cache.keys[layer], self.cache.values[layer]
        return [arena[:, used].reshape(len(arena), -1, arena.shape[-1])[:, :length] for arena in arenas]

    def close(self):
        """Gives the pages back to the pool."""
        self.cache.pool.give_back(self.table[: self.pages].tolist())
        self.table[:] = NO_PAGE
        self.pages = self.length = 0
