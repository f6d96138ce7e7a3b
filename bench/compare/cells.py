"""The cells that are compared: a shape, a context and a dtype."""

from dataclasses import dataclass

PAGE_SIZE = 16
SHAPES = ((32, 8, 128), (32, 32, 128), (16, 2, 64), (8, 1, 256))  # query heads, KV heads, head_dim
CONTEXTS = (128, 1024, 8192, 32768)
ITEMSIZE = {"float32": 4, "bfloat16": 2, "float16": 2}
COLD_BYTES = 512 << 20  # of distinct caches, far beyond any cache of the CPU
COLD_CACHES = 256  # as many as suffice where each is small


@dataclass(frozen=True)
class Cell:
    query_heads: int
    kv_heads: int
    head_dim: int
    tokens: int
    dtype: str

    @property
    def shape(self):
        return f"{self.query_heads}/{self.kv_heads}/{self.head_dim}"

    @property
    def name(self):
        return f"{self.shape} {self.tokens} {self.dtype}"

    @property
    def group(self):
        return self.query_heads // self.kv_heads

    @property
    def scale(self):
        return self.head_dim**-0.5

    @property
    def bytes(self):
        """Of K and V."""
        return 2 * self.kv_heads * self.tokens * self.head_dim * ITEMSIZE[self.dtype]

    @property
    def multiplications(self):
        """Multiply-adds of both products."""
        return 2 * self.query_heads * self.tokens * self.head_dim

    @property
    def cold_caches(self):
        """1 where a single one is cold already."""
        return min(COLD_CACHES, -(-COLD_BYTES // self.bytes))


def all_cells():
    """Small contexts first, so that a run that is cut short has seen every shape and dtype."""
    return [Cell(*shape, tokens, dtype) for tokens in CONTEXTS for shape in SHAPES for dtype in ITEMSIZE]
