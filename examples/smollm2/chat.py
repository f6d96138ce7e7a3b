"""The command line: one prompt in, one reply out, and what it took."""

import argparse
import sys
from time import perf_counter

from tqdm import tqdm

import pagedrt
from smollm2 import generate, long_text, weights
from smollm2.attention import DenseCheck, PagedAttention
from smollm2.model import Model
from smollm2.pages import Cache, Sequence
from smollm2.tokenizer import TextStream, Tokenizer

PAGE_SIZE = 16
SHORTEST_CONTEXT = 1500
CHECKED_STEPS = {0, 4, 16}  # of the reply; of the prompt, the last token of each chunk


def main(arguments=None):
    parser = command_line()
    options = parser.parse_args(arguments)
    refuse_unused(parser, options)
    try:
        path = weights.find()
    except weights.WeightsMissing as missing:
        print(missing, file=sys.stderr)
        return 1
    print(f"loading {path.name}", file=sys.stderr)
    loaded = weights.load(path)
    tokenizer = Tokenizer(loaded.vocabulary)
    prompt = tokenizer.chat(message(options, tokenizer))
    if len(prompt) + options.max_tokens > loaded.config.context_tokens:
        parser.error(
            f"got a prompt of {len(prompt)} tokens and --max-tokens {options.max_tokens}, "
            f"expected at most {loaded.config.context_tokens} together"
        )
    try:
        with pagedrt.Device() as device:
            Chat(device, loaded, tokenizer, options.kv).run(prompt, picker(options), options.max_tokens)
    except KeyboardInterrupt:
        return 130
    return 0


def command_line():
    parser = argparse.ArgumentParser(
        prog="python examples/smollm2", description="SmolLM2-135M-Instruct, decoded through paged attention."
    )
    parser.add_argument("prompt", type=text, help="what to say to the model")
    parser.add_argument("--max-tokens", type=count, default=128, metavar="N", help="longest reply (default: 128)")
    parser.add_argument(
        "--context",
        type=count,
        metavar="N",
        help=f"put a lighthouse's log of N tokens (from {SHORTEST_CONTEXT}) before the prompt; "
        "it says what the keeper's cat is called",
    )
    parser.add_argument(
        "--kv",
        choices=["float32", "float16", "bfloat16"],
        default="float32",
        help="type of the key/value cache and of queries (default: float32)",
    )
    parser.add_argument(
        "--temperature", type=positive, metavar="T", help="sample instead of taking the likeliest token"
    )
    parser.add_argument("--top-p", type=probability, metavar="P", help="with --temperature: sample from this much (1)")
    parser.add_argument("--seed", type=int, metavar="S", help="with --temperature: of the samples (default: 0)")
    return parser


def refuse_unused(parser, options):
    if options.context is not None and options.context < SHORTEST_CONTEXT:
        parser.error(f"argument --context: got {options.context}, expected at least {SHORTEST_CONTEXT}")
    for name in ("top_p", "seed"):
        if getattr(options, name) is not None and options.temperature is None:
            parser.error(f"argument --{name.replace('_', '-')}: only used with --temperature")
    if options.seed is not None and options.seed < 0:
        parser.error(f"argument --seed: got {options.seed}, expected 0 or more")


def text(argument):
    try:
        argument.encode()
    except UnicodeEncodeError as error:
        raise argparse.ArgumentTypeError("expected UTF-8") from error
    return argument


def count(argument):
    if not argument.isdecimal() or int(argument) == 0:
        raise argparse.ArgumentTypeError(f"got {argument!r}, expected a positive integer")
    return int(argument)


def positive(argument):
    return number(argument, float("inf"), "a positive number")


def probability(argument):
    return number(argument, 1, "a number above 0, at most 1")


def number(argument, most, expected):
    try:
        value = float(argument)
    except ValueError:
        value = 0.0
    if not 0 < value <= most or value == float("inf"):
        raise argparse.ArgumentTypeError(f"got {argument!r}, expected {expected}")
    return value


def message(options, tokenizer):
    if options.context is None:
        return options.prompt
    log = long_text.write(options.context, lambda line: len(tokenizer.encode(line)))
    return f"{log}\n\n{options.prompt}"


def picker(options):
    if options.temperature is None:
        return generate.greedy
    return generate.Sampler(options.temperature, options.top_p or 1.0, options.seed or 0)


class Chat:
    """One model on one device with one sequence: reads a prompt, streams the reply to stdout, reports to stderr."""

    def __init__(self, device, loaded, tokenizer, dtype):
        config = loaded.config
        self.device = device
        self.tokenizer = tokenizer
        self.cache = Cache(device, config, dtype, page_size=PAGE_SIZE, capacity=-(-config.context_tokens // PAGE_SIZE))
        self.attention = PagedAttention(device, config, self.cache, rows=256)
        self.model = Model(loaded, self.attention, chunk=256)
        self.sequence = Sequence(self.cache)
        self.check = DenseCheck()
        self.steps = 0

    def run(self, prompt, pick, most):
        begin = self.clock()
        with tqdm(total=len(prompt), desc="reading", unit=" tokens", file=sys.stderr) as bar:
            self.attention.check = self.check
            logits = self.model.read(prompt, self.sequence, bar.update)
        read = self.clock()
        tokens = 0
        stream = TextStream(self.tokenizer)
        sys.stdout.reconfigure(errors="replace")
        for token in generate.reply(
            self.model, self.sequence, logits, pick, end=self.tokenizer.end, most=most, before=self.before_step
        ):
            tokens += 1
            print(stream.push(token), end="", flush=True)
        print(stream.flush(), flush=True)
        report = [
            phase("prompt", len(prompt), len(prompt), begin, read),
            phase("reply", tokens, self.steps, read, self.clock()),
            *self.facts(),
        ]
        print("", *report, sep="\n", file=sys.stderr)

    def before_step(self, step):
        self.steps = step + 1
        self.attention.check = self.check if step in CHECKED_STEPS else None

    def clock(self):
        """Seconds so far, in all and in attention; the check's are left out."""
        return perf_counter() - self.check.seconds, self.attention.seconds

    def facts(self):
        pool, stats, info, check = self.cache.pool, self.device.stats, self.device.info, self.check
        return [
            f"pages   {pool.used} of {pool.capacity} in each of {len(self.cache.keys)} layers, "
            f"{PAGE_SIZE} tokens each, in shuffled order, {self.cache.keys[0].dtype}",
            f"path    {stats['one_pass']} one-pass calls, {stats['two_pass']} two-pass calls",
            f"check   {check.calls} calls against dense float64 attention: largest difference "
            f"{check.difference:.1e}, largest output {check.largest_output:.1f}",
            f"device  {info['family']} {info['instruction_set']}, {info['worker_threads']} threads",
        ]


def phase(name, tokens, steps, begin, end):
    seconds, attention = (later - earlier for earlier, later in zip(begin, end, strict=True))
    return (
        f"{name:7} {tokens} tokens, {steps / seconds:.1f} tokens/s, {attention / seconds:.0%} of the time in attention"
    )
