"""python -m pagedrt info | selftest"""

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
    command.add_argument(
        "--accuracy", action="store_true", help="report errors against their bounds, by dtype and inputs"
    )
    options = parser.parse_args()
    try:
        if options.command == "info":
            from pagedrt.info import print_info

            print_info()
            return 0
        if options.accuracy:
            from pagedrt import accuracy

            return accuracy.run(options.family)
        from pagedrt import selftest

        return selftest.run(options.family)
    except pagedrt.Error as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
