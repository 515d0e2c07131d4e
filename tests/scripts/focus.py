"""Checks a FOCUS file of `fleet cost report -o focus` with the FOCUS validator.

usage: focus.py VALIDATOR-PYTHON FILE.csv

The validator exits with 0 whatever it finds, and guesses types of CSV columns: an account id of digits is
an integer to it. So the file becomes Parquet with typed columns, and the results are read, not the exit
code. Prints one line of JSON; exit code 1 if rules fail that a row can keep.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

DECIMALS = {
    "BilledCost", "CommitmentDiscountQuantity", "ConsumedQuantity", "ContractedCost",
    "ContractedUnitPrice", "EffectiveCost", "ListCost", "ListUnitPrice",
    "PricingCurrencyContractedUnitPrice", "PricingCurrencyEffectiveCost",
    "PricingCurrencyListUnitPrice", "PricingQuantity", "x_OnDemandUnitPrice",
}
TIMES = {"BillingPeriodEnd", "BillingPeriodStart", "ChargePeriodEnd", "ChargePeriodStart"}

# No row can keep these: the validator's own conditions contradict each other. InvoiceId must be null and
# must not be null, both unconditionally.
IMPOSSIBLE = {"InvoiceId-C-004-C", "InvoiceId-C-005-C"}

CRITERIA = ",".join([
    "AVAILABILITY_ZONE_SUPPORTED", "ACCOUNT_NAMING_SUPPORTED", "MULTIPLE_PRICING_CATEGORIES_SUPPORTED",
    "PUBLIC_PRICE_LIST_SUPPORTED", "USAGE_MEASUREMENT_SUPPORTED", "UNIT_PRICING_SUPPORTED",
    "SUB_ACCOUNT_SUPPORTED", "BILLING_BASED_ON_PROVISIONED_RESOURCES_SUPPORTED",
    "RESOURCE_TYPE_ASSIGNMENT_SUPPORTED", "REGION_SUPPORTED", "TAGGING_SUPPORTED",
    "NEGOTIATED_PRICING_SUPPORTED", "PRICING_BILLING_CURRENCY_DIFFERENCES_SUPPORTED",
])

TO_PARQUET = """
import csv, sys
import pyarrow as pa, pyarrow.parquet as pq
decimals, times = set(sys.argv[3].split(",")), set(sys.argv[4].split(","))
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
columns = {}
for name in rows[0]:
    cells = [row[name] if row[name] != "" else None for row in rows]
    if name in decimals:
        columns[name] = pa.array([None if c is None else float(c) for c in cells], pa.float64())
    else:
        columns[name] = pa.array(cells, pa.string())
pq.write_table(pa.table(columns), sys.argv[2])
print(len(rows), len([n for n in columns if not n.startswith("x_")]))
"""


def main() -> int:
    python, file = pathlib.Path(sys.argv[1]).absolute(), pathlib.Path(sys.argv[2]).absolute()
    with tempfile.TemporaryDirectory() as folder:
        parquet = pathlib.Path(folder) / "usage.parquet"
        made = subprocess.run(
            [python, "-c", TO_PARQUET, file, parquet, ",".join(DECIMALS), ",".join(TIMES)],
            check=True, capture_output=True, text=True,
        )
        rows, columns = map(int, made.stdout.split())
        where = subprocess.run(
            [python, "-c", "import focus_validator,os;print(os.path.dirname(os.path.dirname(focus_validator.__file__)))"],
            check=True, capture_output=True, text=True,
        ).stdout.strip()
        # The package looks for a list of currencies by a relative path.
        told = subprocess.run(
            [python, "-m", "focus_validator.main", "--data-file", parquet, "--validate-version", "1.2",
             "--focus-dataset", "CostAndUsage", "--applicability-criteria", CRITERIA,
             "--block-download", "--output-type", "console"],
            capture_output=True, text=True, cwd=where,
        )
    text = told.stdout + told.stderr
    totals = {}
    for line in text.splitlines():
        found = re.findall(r"(Total|Pass|Fail|Skipped):\s*(\d+)", line)
        if len(found) >= 3:
            totals = {name.lower(): int(number) for name, number in found}
    failed = sorted(set(re.findall(r"❌\s*([A-Za-z]+-[A-Z]-\d+-[A-Z])", text)))
    bad = [rule for rule in failed if rule not in IMPOSSIBLE]
    if not totals:
        print(text[-4000:], file=sys.stderr)
    print(json.dumps({"rows": rows, "columns": columns, "totals": totals, "failed": failed, "bad": bad}))
    unexplained = totals.get("fail", 0) != len(failed)
    return 1 if bad or not totals or unexplained or totals["pass"] == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
