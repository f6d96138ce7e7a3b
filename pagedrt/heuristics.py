"""Which kernels a call takes: the one-pass kernel, or partial over a number of splits and then reduce.

Pure functions of shape and context, never of threads or of what is free, so that results do not depend on those.
"""

TWO_PASS_CONTEXT = 1024  # tokens from which the context is split
TWO_PASS_HEAD_DIM = 256  # the largest with a partial kernel
HEAD_DIM_STEP = 32  # what every head_dim with a partial kernel is a multiple of
TWO_PASS_GROUP_FACTOR = 32  # query heads a KV head
MAX_BLOCKS = 1024

# On cores a split costs a pass over its partials, not a launch: a block has this many tokens, and there are
# as few blocks as keep this many threadgroups for the cores to share.
CPU_BLOCK_TOKENS = 512
CPU_MAX_BLOCKS = 64
CPU_THREADGROUPS = 8


def use_two_pass(context_tokens, *, head_dim, group_factor):
    """True where the context is split; group_factor is query heads a KV head."""
    return (
        context_tokens >= TWO_PASS_CONTEXT
        and head_dim <= TWO_PASS_HEAD_DIM
        and head_dim % HEAD_DIM_STEP == 0
        and group_factor <= TWO_PASS_GROUP_FACTOR
    )


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


def cpu_blocks(context_tokens, kv_heads):
    """Splits of the context on cores."""
    blocks = min(-(-context_tokens // CPU_BLOCK_TOKENS), CPU_MAX_BLOCKS)
    return max(blocks, -(-CPU_THREADGROUPS // kv_heads))


def blocks(family, context_tokens, *, query_heads, kv_heads, head_dim):
    """Splits of one call's context; 0 takes the one-pass kernel. query_heads is a multiple of kv_heads."""
    group_factor = query_heads // kv_heads
    if not use_two_pass(context_tokens, head_dim=head_dim, group_factor=group_factor):
        return 0
    if family == "cpu":
        return cpu_blocks(context_tokens, kv_heads)
    return partial_blocks(context_tokens, group_factor, kv_heads)


def splits(family, max_context_tokens, *, query_heads, kv_heads, head_dim):
    """blocks() of every context up to max_context_tokens: ascending (largest context, blocks) pairs."""

    def at(context_tokens):
        return blocks(family, context_tokens, query_heads=query_heads, kv_heads=kv_heads, head_dim=head_dim)

    # blocks() never falls as the context grows, so bisection finds where each step ends.
    pairs = []
    start = 1
    while start <= max_context_tokens:
        count = at(start)
        last, beyond = start, max_context_tokens + 1
        while beyond - last > 1:
            middle = (last + beyond) // 2
            if at(middle) == count:
                last = middle
            else:
                beyond = middle
        pairs.append((last, count))
        start = last + 1
    return pairs
