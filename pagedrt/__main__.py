"""python -m pagedrt info | selftest | bench"""

import argparse
import sys

import pagedrt


def main():
    parser = argparse.ArgumentParser(prog="python -m pagedrt", description="Paged-attention decode on Metal devices.")
    parser.add_argument("--version", action="version", version=pagedrt.__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("info", help="print versions, device families, their properties and limits")
    command = commands.add_parser("selftest", help="run every kernel instance against a float64 reference")
    command.add_argument("--family", help="device family to run on; default: the best that works here")
    output = command.add_mutually_exclusive_group()
    output.add_argument(
        "--accuracy", action="store_true", help="report errors against their bounds, by dtype and inputs"
    )
    output.add_argument("--report", metavar="FILE", help="also write a JSON report to attach to an issue")
    command = commands.add_parser("bench", help="measure how fast a device decodes")
    command.add_argument("--family", help="device family to measure; default: the best that works here")
    kind = command.add_mutually_exclusive_group()
    kind.add_argument(
        "--micro", action="store_true", help="measure memory, dispatches, barriers and SIMD-groups instead"
    )
    kind.add_argument("--tune", action="store_true", help="find the best layouts and keep them for this device")
    command.add_argument("--seconds", type=float, help="about how long; default: 30, with --tune 300")
    command.add_argument("--json", metavar="FILE", help="write the figures here, to share; --tune: the table")
    command.add_argument("--shape", metavar="32/8/128", action="append", help="with --tune: query heads/KV heads/dim")
    options = parser.parse_args()
    if options.command == "bench":
        if options.seconds is None:
            options.seconds = 300 if options.tune else 30
        if not 0 <= options.seconds < float("inf"):
            parser.error(f"--seconds: got {options.seconds}, expected 0 or more")
        if options.shape and not options.tune:
            parser.error("--shape: goes with --tune")
    try:
        if options.command == "info":
            from pagedrt.info import print_info

            print_info()
            return 0
        if options.command == "bench":
            from pagedrt import bench, microbench, tune

            if options.json is not None:
                open(options.json, "a").close()  # before the time is spent
            if options.tune:
                return tune.run(options.family, options.seconds, options.json, options.shape)
            return (microbench if options.micro else bench).run(options.family, options.seconds, options.json)
        if options.accuracy:
            from pagedrt import accuracy

            return accuracy.run(options.family)
        return selftest(options.family, options.report)
    except pagedrt.Error as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2
    except OSError as error:  # of --json, --report
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{parser.prog}: interrupted", file=sys.stderr)
        return 130


def selftest(family, path):
    from pagedrt import selftest
    from pagedrt.report import Report

    report = Report(path) if path is not None else None
    try:
        return selftest.run(family, report)
    except pagedrt.Error as error:
        if report is not None:
            report.failed(error)
        raise


if __name__ == "__main__":
    sys.exit(main())
