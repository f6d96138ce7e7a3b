"""How a call is laid over a device: its kernels, splits, heads a SIMD-group, SIMD-groups a threadgroup.

Pure functions of shape, context, device and its tuning table, never of other calls, of threads or of what is free, so
that results do not depend on those. `python -m pagedrt bench --tune` makes tables; without one the baselines hold.
"""

from typing import NamedTuple

TWO_PASS_CONTEXT = 1024  # tokens from which the context is split
TWO_PASS_HEAD_DIM = 256  # the largest with a partial kernel
HEAD_DIM_STEP = 32  # what every head_dim with a partial kernel is a multiple of
TWO_PASS_GROUP_FACTOR = 32  # query heads a KV head
MAX_BLOCKS = 1024
HEADS = (1, 2, 4, 8)  # a SIMD-group
THREADGROUP_MEMORY = 32768  # bytes
LANE_ROWS = 1024  # that a lane of the partial kernel may add up without compensation

# On cores a split costs a pass over its partials and saves no launch: as few blocks as give every core this many
# threadgroups, so that all end together, and none of fewer tokens than this.
CPU_THREADGROUPS = 4
CPU_BLOCK_TOKENS = 128


class Choice(NamedTuple):
    """One layout; heads and simdgroups, of the one-pass or partial kernel, are 0 where the runtime picks them."""

    path: str  # "one_pass" or "two_pass"
    blocks: int  # splits of the context; 0 in one pass
    heads: int = 0  # query heads a SIMD-group
    simdgroups: int = 0  # SIMD-groups a threadgroup


ONE_PASS = Choice("one_pass", 0)


def can_two_pass(head_dim, group_factor):
    """True where the two-pass path has kernels; group_factor is query heads a KV head."""
    return head_dim <= TWO_PASS_HEAD_DIM and head_dim % HEAD_DIM_STEP == 0 and group_factor <= TWO_PASS_GROUP_FACTOR


def use_two_pass(context_tokens, *, head_dim, group_factor):
    """True where the context is split; group_factor is query heads a KV head."""
    return context_tokens >= TWO_PASS_CONTEXT and can_two_pass(head_dim, group_factor)


def partial_blocks(context_tokens, group_factor, kv_heads):
    """Splits of the context on a GPU: the baseline for Apple GPUs that nobody has tuned for."""
    if context_tokens <= 1024 or group_factor <= 4:
        base = 64
    elif context_tokens <= 8192:
        base = 128
    elif context_tokens <= 32768:
        base = 256
    elif context_tokens <= 65536:
        base = 512
    else:
        base = 1024
    return min(base * -(-8 // kv_heads), MAX_BLOCKS)


def cpu_blocks(context_tokens, kv_heads, cores):
    """Splits of the context on cores."""
    blocks = -(-CPU_THREADGROUPS * cores // kv_heads)
    return max(min(blocks, context_tokens // CPU_BLOCK_TOKENS, MAX_BLOCKS), 1)


def baseline(family, head_dim, group_factor, kv_heads, context_tokens, cores):
    """The choice where no tuning table has one."""
    if not use_two_pass(context_tokens, head_dim=head_dim, group_factor=group_factor):
        return ONE_PASS
    if family == "cpu":
        return Choice("two_pass", cpu_blocks(context_tokens, kv_heads, cores))
    return Choice("two_pass", partial_blocks(context_tokens, group_factor, kv_heads))


def pick(family, dtype, head_dim, group_factor, kv_heads, context_tokens, cores, table=None):
    """The Choice for one call.

    dtype: its name. cores: of the machine that the device belongs to, whatever a call may use of them.
    table: {(family, dtype, head_dim, group_factor, kv_heads, cores): ascending [(largest context, Choice), ...]}, as
    pagedrt.tuning reads it; shapes, cores and contexts that it does not cover get the baseline.
    """
    for last, choice in (table or {}).get((family, dtype, head_dim, group_factor, kv_heads, cores), ()):
        if context_tokens <= last:
            return choice
    return baseline(family, head_dim, group_factor, kv_heads, context_tokens, cores)


def splits(family, dtype, head_dim, group_factor, kv_heads, max_context_tokens, cores, table=None):
    """pick() of every context up to max_context_tokens: ascending (largest context, Choice) pairs."""
    pairs = []

    def add(last, choice):
        if pairs and pairs[-1][1] == choice:
            pairs.pop()
        pairs.append((last, choice))

    start = 1
    for last, choice in (table or {}).get((family, dtype, head_dim, group_factor, kv_heads, cores), ()):
        if start <= max_context_tokens:
            add(min(last, max_context_tokens), choice)
            start = last + 1

    def at(context_tokens):
        return baseline(family, head_dim, group_factor, kv_heads, context_tokens, cores)

    # The baseline's blocks never fall as the context grows, so bisection finds where each step ends.
    while start <= max_context_tokens:
        choice = at(start)
        last, beyond = start, max_context_tokens + 1
        while beyond - last > 1:
            middle = (last + beyond) // 2
            if at(middle) == choice:
                last = middle
            else:
                beyond = middle
        add(last, choice)
        start = last + 1
    return pairs


def threadgroup_memory(choice, *, simd_width, dtype, head_dim):
    """Bytes that a threadgroup of the one-pass or partial kernel needs: native/runtime/geometry.m."""
    if simd_width == 1:
        return 16
    two_pass = choice.path == "two_pass"
    if head_dim % HEAD_DIM_STEP or head_dim > TWO_PASS_HEAD_DIM:
        elements = 512 // simd_width  # the kernel for any head_dim
    elif head_dim & (head_dim - 1):
        elements = head_dim // 16
    else:
        elements = head_dim // min(head_dim * (4 if dtype == "float32" else 2) // 16, simd_width)
    settled = simd_width * elements * (1 if two_pass else 2)
    nbytes = choice.simdgroups * 4 * (choice.heads * max(settled, head_dim + 2) + 1)
    return -(-nbytes // 16) * 16


def legal(choice, *, simd_width, max_threads, dtype, head_dim, group_factor, context_tokens):
    """True where the runtime takes the choice, and its results keep their bound, for contexts up to context_tokens.

    simd_width and max_threads are those of device.info; a pipeline of many registers may allow fewer threads.
    """
    path, blocks, heads, simdgroups = choice
    if path == "two_pass":
        if not (1 <= blocks <= MAX_BLOCKS and can_two_pass(head_dim, group_factor)):
            return False
        if simd_width > 1 and simdgroups and -(-context_tokens // blocks) > LANE_ROWS * simdgroups:
            return False
    elif path != "one_pass" or blocks != 0:
        return False
    if heads == 0 or simdgroups == 0:
        return heads == simdgroups
    return (
        heads in HEADS
        and heads // 2 < group_factor
        and 1 <= simdgroups <= max_threads // simd_width
        and threadgroup_memory(choice, simd_width=simd_width, dtype=dtype, head_dim=head_dim) <= THREADGROUP_MEMORY
    )
