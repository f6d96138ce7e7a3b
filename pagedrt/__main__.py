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
    command.add_argument(
        "--micro", action="store_true", help="measure memory, dispatches, barriers and SIMD-groups instead"
    )
    command.add_argument("--seconds", type=float, default=30, help="about how long; default: 30")
    command.add_argument("--json", metavar="FILE", help="write the figures here, to share")
    options = parser.parse_args()
    if options.command == "bench" and not 0 <= options.seconds < float("inf"):
        parser.error(f"--seconds: got {options.seconds}, expected 0 or more")
    try:
        if options.command == "info":
            from pagedrt.info import print_info

            print_info()
            return 0
        if options.command == "bench":
            from pagedrt import bench, microbench

            if options.json is not None:
                open(options.json, "a").close()  # before the time is spent
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
