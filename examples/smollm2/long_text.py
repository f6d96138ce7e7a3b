"""A long text of any length, written by rule, with one fact in its middle to ask about."""

FACT = "The name of the keeper's cat is Marmalade."

WEATHER = ["fog until noon", "a hard wind from the north", "clear sky", "rain before dawn", "snow on the cliffs"]
WORK = ["polished the lens", "painted the railing", "mended a net", "counted the oil cans", "swept the stairs"]
SIGHTS = [
    "a grey seal below the rocks",
    "two ships far out",
    "a flock of terns",
    "nothing but waves",
    "a small red boat",
]


def write(tokens, count):
    """A lighthouse's log of just over so many tokens; count(line) is how many one line has."""
    lines = []
    total = count(FACT + "\n")
    while total < tokens:
        lines.append(entry(len(lines) + 1))
        total += count(lines[-1] + "\n")
    lines.insert(len(lines) // 2, FACT)
    return "\n".join(lines)


def entry(day):
    weather, work, sight = WEATHER[day % 5], WORK[day // 2 % 5], SIGHTS[day // 3 % 5]
    return f"Day {day}. There was {weather}. The keeper {work} and saw {sight}."
