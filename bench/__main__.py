"""Run the benchmarks named on the command line, or all of them, and write ``bench/results.json``."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from bench.measure import Row
from faithgauge.registry import Table

BENCHES: Table[object] = Table(
    "bench",
    {
        "training": "bench.training:rows",
        "side_by_side": "bench.side_by_side:rows",
        "encoding": "bench.encoding:rows",
        "engine": "bench.engine:rows",
        "integrated_gradient": "bench.integrated_gradient:rows",
        "perturbing": "bench.perturbing:rows",
        "agreement": "bench.agreement:rows",
        "masking": "bench.masking:rows",
        "attacks": "bench.attacks:rows",
        "flow": "bench.flow:rows",
        "transformer": "bench.transformer:rows",
        "adversary": "bench.adversary:rows",
    },
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"among {', '.join(BENCHES)}; all by default"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    arguments = parser.parse_args()
    rows: list[Row] = []
    for name in arguments.names or BENCHES:
        for row in BENCHES[name]():  # type: ignore[operator]
            rows.append(row)
            print(row.line(), file=sys.stderr if arguments.json else sys.stdout, flush=True)
    document = json.dumps([row.document() for row in rows], indent=1)
    Path(__file__).with_name("results.json").write_text(document + "\n")
    if arguments.json:
        print(document)


if __name__ == "__main__":
    main()
