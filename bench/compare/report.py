"""What the records say: a table with ratios first, and plots."""

import math

from cells import CONTEXTS, all_cells

OURS = "pagedrt"
MODES = ("warm", "cold")
CELLS = {cell.name: cell for cell in all_cells()}


def seconds(record, mode, name):
    """A peer's time, or None."""
    found = record["modes"].get(mode, {}).get(name)
    return found["seconds"] if found else None


def ratio(record, mode, peer):
    """How many times faster pagedrt is than the peer."""
    ours, theirs = seconds(record, mode, OURS), seconds(record, mode, peer)
    return theirs / ours if ours and theirs else None


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def peers_of(records):
    """Everyone who was timed, in the order of first appearance."""
    names = [name for record in records for mode in MODES for name in record["modes"].get(mode, {})]
    return [name for name in dict.fromkeys(names) if name not in (OURS, "ceiling")]


def share_of_roof(record, mode):
    """pagedrt's time against the least that reading the pages and multiplying allow: (share, what limits)."""
    ours, read = seconds(record, mode, OURS), seconds(record, mode, "ceiling")
    if not ours or not read:
        return None
    multiply = record["multiplications"] / record["multiplications_per_second"]
    return (read / ours, "read") if read >= multiply else (multiply / ours, "multiply")


def ratios_table(records):
    """Geometric means over cells: a row a peer, a column a dtype and mode."""
    lines = ["## pagedrt's speed over each peer's (geometric mean over cells; above 1 pagedrt is faster)", ""]
    columns = [(mode, dtype) for mode in MODES for dtype in ("float32", "bfloat16", "float16")]
    lines += [
        "| peer | " + " | ".join(f"{dtype} {mode}" for mode, dtype in columns) + " |",
        "|---" * (len(columns) + 1) + "|",
    ]
    for peer in peers_of(records):
        fields = []
        for mode, dtype in columns:
            of_dtype = [record for record in records if CELLS[record["cell"]].dtype == dtype]
            found = [one for record in of_dtype if (one := ratio(record, mode, peer))]
            if found:
                fields.append(f"{geometric_mean(found):.2f} (least {min(found):.2f}, {len(found)} cells)")
            else:
                fields.append("-")
        lines.append(f"| {peer} | " + " | ".join(fields) + " |")
    return lines


def cells_table(records, mode):
    peers = peers_of(records)
    lines = [
        f"## {mode}: each peer's time over pagedrt's",
        "",
        "| cell | pagedrt, us | of the limit | " + " | ".join(peers) + " |",
        "|---" * (len(peers) + 3) + "|",
    ]
    for record in records:
        ours = seconds(record, mode, OURS)
        if not ours:
            continue
        share = share_of_roof(record, mode)
        limit = f"{share[0]:.0%} ({share[1]})" if share else "-"
        found = [ratio(record, mode, peer) for peer in peers]
        fields = " | ".join(f"{one:.2f}" if one else "-" for one in found)
        note = "" if record["quiet"] else " *"
        lines.append(f"| {record['cell']}{note} | {ours * 1e6:.1f} | {limit} | {fields} |")
    return lines


def notes(records):
    hosts = {tuple(record["host"].items()) for record in records}
    lines = ["## How", ""]
    lines += ["- " + ", ".join(f"{name} {value}" for name, value in host) for host in sorted(hosts, key=str)]
    times = sorted(record["time"] for record in records)
    lines.append(f"- {len(records)} of {len(CELLS)} cells, {times[0]} to {times[-1]}; page size 16")
    discarded = sum(record["discarded"] for record in records)
    total = discarded + sum(record["kept"] for record in records)
    lines.append(f"- {discarded} of {total} samples discarded: other processes used the cores meanwhile")
    loud = sum(not record["quiet"] for record in records)
    lines.append(f"- cells with fewer quiet samples than asked for (*): {loud}")
    reasons = sorted({f"{name}: {why}" for record in records for name, why in record["left_out"].items()})
    return lines + [f"- left out: {reason}" for reason in reasons]


def table(records):
    records = sorted(records, key=lambda record: list(CELLS).index(record["cell"]))
    parts = [ratios_table(records)]
    parts += [cells_table(records, mode) for mode in MODES]
    parts.append(notes(records))
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def write_report(records, folder):
    """table.md and plots in folder; prints the first part of the table."""
    text = table(records)
    (folder / "table.md").write_text(text)
    print(text.split("\n\n## warm")[0])
    written = [folder / "table.md"]
    try:
        import plots
    except ImportError as error:
        print(f"no plots: {error}; install bench/requirements.txt")
    else:
        written += plots.draw(records, folder)
    print("written: " + ", ".join(str(path) for path in written))


def curve(records, shape, dtype, mode, name):
    """(contexts, seconds) of a peer."""
    points = [
        (CELLS[record["cell"]].tokens, taken)
        for record in records
        if (CELLS[record["cell"]].shape, CELLS[record["cell"]].dtype) == (shape, dtype)
        and (taken := seconds(record, mode, name))
    ]
    points.sort()
    assert all(tokens in CONTEXTS for tokens, _ in points)
    return [tokens for tokens, _ in points], [taken for _, taken in points]
