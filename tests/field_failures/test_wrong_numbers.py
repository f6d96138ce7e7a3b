"""Symptoms seen in other attention kernels: numbers that are wrong, or that depend on what they should not."""

import numpy as np
import pytest

from helpers import cells, oracle
from helpers.cells import Cell
from helpers.device_arrays import Call

BOTH_PATHS = pytest.mark.parametrize("tokens", [50, 1100], ids=["one-pass", "two-pass"])


def check(device, cell, inputs, **more):
    out = cells.run(device, cell, inputs, **more)
    return oracle.check(out, cells.expected(cell, inputs), str(cell)), out


@pytest.mark.parametrize("tokens", [1, 15, 17, 33])
def test_tail_slots_holding_nan_do_not_reach_the_output(any_device, tokens):
    """0 * NaN is NaN: what lies past the length must not be loaded at all."""
    cell = Cell("float16", 64, 2, 2, tokens, 16)
    inputs = cells.make(cell)
    assert np.isnan(inputs.value_pages[:, inputs.page_table[-1], tokens % 16 :]).all()
    _, out = check(any_device, cell, inputs)
    assert np.isfinite(out).all()


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@BOTH_PATHS
def test_scores_far_below_minus_50000_are_not_taken_for_masked_ones(device, tokens, dtype):
    """A finite number as mask, say -5e4, loses to valid scores below it: the output is then 0."""
    cell = Cell(dtype, 64, 2, 2, tokens, 16)
    inputs = cells.make(cell)
    inputs.queries[...] = 100
    inputs.key_pages[...] = np.where(np.isnan(inputs.key_pages), inputs.key_pages, inputs.key_pages.dtype.type(-125))
    inputs.scale = 0.125
    expected = cells.expected(cell, inputs)
    assert (expected.lse < -9e4).all()
    _, out = check(device, cell, inputs)
    assert (out != 0).mean() > 0.9


@BOTH_PATHS
def test_a_row_of_minus_infinity_scores_gives_zeros_and_not_nan(device, tokens):
    cell = Cell("float32", 64, 2, 2, tokens, 16)
    inputs = cells.make(cell)
    inputs.queries[...] = np.abs(inputs.queries) + 0.01
    inputs.key_pages[0, inputs.used] = -np.inf
    _, out = check(device, cell, inputs)
    assert (out[0, :2] == 0).all()
    assert (out[0, 2:] != 0).any()


@BOTH_PATHS
def test_partly_masked_keys_agree_with_the_reference(device, tokens):
    check(device, cell := Cell("float32", 64, 2, 4, tokens, 16, fill="hidden_keys"), cells.make(cell))


@pytest.mark.parametrize("tokens", [50, 1100, 5000])
def test_an_empty_context_overwrites_stale_nan_in_the_output(any_device, tokens):
    """A kernel that returns early leaves what was there for whoever reads next."""
    if any_device.family == "simulator" and tokens > 1100:
        tokens = 20
    cell = Cell("float32", 32, 1, 2, tokens, 16, dependency=0)
    inputs = cells.make(cell)
    out = np.full_like(inputs.queries, np.nan)
    cells.run(any_device, cell, inputs, out=out)
    assert (out == 0).all()


@pytest.mark.parametrize("valid", [1, 2, 33, 511, 513])
def test_splits_without_tokens_do_not_spoil_those_with(device, valid):
    """Bound 5000 tokens, valid a few: most splits are empty and must weigh nothing."""
    cell = Cell("bfloat16", 64, 1, 4, 5000, 16, dependency=valid)
    check(device, cell, cells.make(cell), out=np.full_like(cells.make(cell).queries, np.nan))


@pytest.mark.parametrize("fill", ["constant", "normal"])
@pytest.mark.parametrize(
    "tokens", [31, 32, 33, 255, 256, 257, 511, 513, 1023, 1024, 1025, 1535, 1536, 1537, 2047, 2048, 2049, 4095, 4097]
)
def test_denominators_are_right_at_lengths_around_every_tile_and_split(device, tokens, fill):
    """A bound that one path checks and another forgets lets stray keys into the denominator."""
    cell = Cell("float32", 64, 2, 2, tokens, 16, fill=fill)
    check(device, cell, cells.make(cell))


@pytest.mark.parametrize("slope", [-80, 80])
def test_splits_of_very_different_weight_merge_by_their_log_sum_exp(device, slope):
    """Scores climb or fall by 80 from first to last token: each split's maximum and sum differ by powers of e."""
    cell = Cell("float32", 64, 1, 2, 4096, 16)
    inputs = cells.make(cell)
    at = np.arange(cell.tokens)
    inputs.queries[...] = 1
    inputs.key_pages[0, inputs.page_table[at // 16], at % 16] = (slope * at / cell.tokens / 8)[:, None]
    check(device, cell, inputs)


@pytest.mark.parametrize("tokens", [32767, 32769, 65537, 100_000])
def test_contexts_past_32768_and_65536_tokens(device, tokens):
    """A 16-bit token index wraps."""
    cell = Cell("float16", 32, 1, 1, tokens, 16)
    check(device, cell, cells.make(cell))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_split_results_round_once_like_unsplit_ones(device, dtype):
    """Partials kept in the storage type get a third to a half of the outputs wrong by their last bit."""
    shares = [
        check(device, cell, cells.make(cell))[0]
        for cell in (Cell(dtype, 128, 4, 8, 4096, 16), Cell(dtype, 64, 8, 8, 3000, 16), Cell(dtype, 96, 4, 4, 2500, 8))
    ]
    assert np.mean(shares) > 0.99


def test_large_values_do_not_overflow_in_a_float16_split(device):
    """An unnormalised sum of 512 values of 30000 is past float16's largest number."""
    cell = Cell("float16", 64, 2, 2, 4096, 16)
    inputs = cells.make(cell)
    inputs.key_pages[:, inputs.used] = 0.25
    inputs.value_pages[:, inputs.used] = 30000
    _, out = check(device, cell, inputs)
    assert (out == 30000).all()


@pytest.mark.parametrize("group_factor", [1, 2, 3, 4, 5, 8, 16])
@pytest.mark.parametrize("head_dim", [32, 80])
def test_every_number_of_heads_that_a_simd_group_serves_gives_the_reference(any_device, head_dim, group_factor):
    """A variant behind a function constant that no test runs ships broken."""
    cell = Cell("float32", head_dim, 2, group_factor, 40, 16)
    check(any_device, cell, cells.make(cell))


@pytest.mark.parametrize("tokens", [70, 1100])
def test_no_token_counts_twice_or_not_at_all_across_splits(device, tokens):
    """Equal keys, and one token alone has a value: the mean tells how often it was counted, whichever it is."""
    call = Call(device, Cell("float32", 32, 1, 1, tokens, 16))
    _, key_pages, value_pages, page_table, _ = call.arrays
    key_pages[0, call.inputs.used] = 0
    value_pages[0, call.inputs.used] = 0
    with call.plan() as plan:
        for token in range(tokens):
            place = 0, page_table[token // 16], token % 16
            value_pages[place] = tokens
            plan.run(*call.arrays, tokens, call.out)
            value_pages[place] = 0
            assert np.abs(call.out - 1).max() < 1e-5, f"token {token}"


@pytest.mark.parametrize("blocks", [2, 3, 5, 7, 31, 33, 64])
def test_any_number_of_splits_keeps_the_tail(device, blocks):
    """A split count that is no multiple of the SIMD width loses the last splits in the reduction."""
    cell = Cell("float16", 32, 8, 1, 512 * max(blocks, 2) - 3, 16)
    check(device, cell, cells.make(cell))


@BOTH_PATHS
def test_results_do_not_depend_on_what_else_is_in_flight(device, tokens):
    """One sequence gave other tokens by its batch-mates, as the split was chosen from the batch."""
    cell = Cell("float16", 64, 2, 4, tokens, 16)
    call, others = Call(device, cell), [Call(device, Cell("float16", 64, 2, 4, n, 16)) for n in (1, 17, 900, 3000)]
    alone = cells.run(device, cell, call.inputs)
    for mates in ([], others[:1], others * 5):
        with device.stream() as stream, call.plan(max_context_tokens=4000) as plan:
            for mate in mates:
                plan.run(*mate.arrays, mate.cell.context_tokens, mate.out, stream)
            plan.run(*call.arrays, tokens, call.out, stream)
            for mate in mates:
                plan.run(*mate.arrays, mate.cell.context_tokens, mate.out, stream)
        assert np.array_equal(call.out.view(np.uint16), alone.view(np.uint16))


def test_bfloat16_keeps_its_bits_on_the_way_in_and_out(device):
    """bfloat16 has no buffer format: it must travel as it is, not as float32 or as bytes of another meaning."""
    every = np.arange(1 << 16, dtype=np.uint16).view(oracle.DTYPES["bfloat16"])
    for copy in (None, True):
        assert np.array_equal(device.asarray(every, copy=copy).view(np.uint16), every.view(np.uint16))
    finite = every[np.isfinite(every.astype(np.float32))]
    page_table, dependency = np.zeros(1, np.uint32), np.ones(1, np.uint32)
    for value_pages in np.resize(finite, (-(-finite.size // 512), 1, 1, 1, 512)):
        # One token weighs 1, so that the output is its value.
        queries = np.zeros_like(value_pages)
        inputs = cells.Inputs(queries, value_pages, value_pages, page_table, dependency, 1.0, None)
        out = cells.run(device, Cell("bfloat16", 512, 1, 1, 1, 1), inputs)
        assert np.array_equal(out, value_pages)
