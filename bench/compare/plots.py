"""Time against context by peer, share of the limit, and the roofline; PNG and SVG."""

import matplotlib
from cells import CONTEXTS, ITEMSIZE, SHAPES
from report import CELLS, MODES, OURS, curve, peers_of, seconds, share_of_roof

matplotlib.use("Agg")
from matplotlib import pyplot  # after the choice of a drawer without a screen

OURS_STYLE = {"color": "black", "linewidth": 2.5, "marker": "o", "zorder": 3}
CEILING_STYLE = {"color": "grey", "linestyle": "--"}
COLORS = {"float32": "tab:blue", "bfloat16": "tab:orange", "float16": "tab:green"}


def shape_name(shape):
    return "/".join(map(str, shape))


def draw(records, folder):
    figures = {f"time_{mode}": time_by_context(records, mode) for mode in MODES}
    figures |= {"limit": shares(records), "roofline": roofline(records)}
    written = []
    for name, figure in figures.items():
        for suffix in ("png", "svg"):
            path = folder / f"{name}.{suffix}"
            figure.savefig(path, dpi=120, bbox_inches="tight")
            written.append(path)
        pyplot.close(figure)
    return written


def time_by_context(records, mode):
    names = [OURS, *peers_of(records)]
    colors = dict(zip(names[1:], pyplot.get_cmap("tab10").colors, strict=False))
    figure, grid = pyplot.subplots(len(ITEMSIZE), len(SHAPES), figsize=(18, 11), sharex=True, squeeze=False)
    for row, dtype in zip(grid, ITEMSIZE, strict=True):
        for axes, shape in zip(row, SHAPES, strict=True):
            for name in [*names, "ceiling"]:
                contexts, taken = curve(records, shape_name(shape), dtype, mode, name)
                style = OURS_STYLE if name == OURS else CEILING_STYLE if name == "ceiling" else {"marker": "."}
                if name in colors:
                    style = style | {"color": colors[name]}
                if contexts:
                    label = "read of the same pages" if name == "ceiling" else name
                    axes.plot(contexts, [1e6 * one for one in taken], label=label, **style)
            axes.set(title=f"{shape_name(shape)} {dtype}", xscale="log", yscale="log", xticks=CONTEXTS)
            axes.set_xticklabels(map(str, CONTEXTS))
            axes.grid(alpha=0.3)
    for axes in grid[-1]:
        axes.set_xlabel("context, tokens")
    for row in grid:
        row[0].set_ylabel("microseconds a call")
    labels = {label: line for axes in grid.flat for line, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(labels.values(), labels.keys(), loc="lower center", ncol=6, bbox_to_anchor=(0.5, -0.04))
    figure.suptitle(f"Time of a call against context, {mode}: query heads / KV heads / head_dim", y=0.94)
    return figure


def shares(records):
    figure, grid = pyplot.subplots(1, len(MODES), figsize=(14, 5), sharey=True)
    for axes, mode in zip(grid, MODES, strict=True):
        for dtype, color in COLORS.items():
            for shape, marker in zip(SHAPES, "os^D", strict=True):
                points = sorted(
                    (CELLS[record["cell"]].tokens, share[0])
                    for record in records
                    if (CELLS[record["cell"]].shape, CELLS[record["cell"]].dtype) == (shape_name(shape), dtype)
                    and (share := share_of_roof(record, mode))
                )
                if points:
                    axes.plot(
                        *zip(*points, strict=True), color=color, marker=marker, label=f"{shape_name(shape)} {dtype}"
                    )
        axes.set(title=mode, xscale="log", xticks=CONTEXTS, xlabel="context, tokens", ylim=(0, 1.1))
        axes.set_xticklabels(map(str, CONTEXTS))
        axes.axhline(1, **CEILING_STYLE)
        axes.grid(alpha=0.3)
    grid[0].set_ylabel("part of the limit (reading the pages or multiplying)")
    handles, labels = grid[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncol=4, bbox_to_anchor=(0.5, -0.16))
    figure.suptitle("pagedrt's share of what the machine can do")
    return figure


def roofline(records):
    """Multiply-adds a second against multiply-adds a byte of K and V; the roof is each cell's own."""
    figure, axes = pyplot.subplots(figsize=(9, 6))
    for dtype, color in COLORS.items():
        of_dtype = [record for record in records if CELLS[record["cell"]].dtype == dtype]
        for mode, marker in zip(MODES, "ox", strict=True):
            points = [
                (record["multiplications"] / record["bytes"], record["multiplications"] / taken / 1e9)
                for record in of_dtype
                if (taken := seconds(record, mode, OURS))
            ]
            roofs = [
                (
                    record["multiplications"] / record["bytes"],
                    min(record["multiplications"] / read, record["multiplications_per_second"]) / 1e9,
                )
                for record in of_dtype
                if (read := seconds(record, mode, "ceiling"))
            ]
            if points:
                axes.scatter(*zip(*points, strict=True), color=color, marker=marker, label=f"{dtype} {mode}")
            if roofs:
                axes.scatter(*zip(*roofs, strict=True), color=color, marker="_", alpha=0.5)
    highest = max(record["multiplications_per_second"] for record in records) / 1e9
    axes.axhline(highest, **CEILING_STYLE, label="multiply-adds, measured")
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="multiply-adds a byte of K and V",
        ylabel="10^9 multiply-adds a second",
        title="pagedrt under its roof (bars: what reading the same pages allows)",
    )
    axes.grid(alpha=0.3, which="both")
    axes.legend()
    return figure
