use super::*;

fn read(text: &str) -> Result<Bill, BadBill> {
    Bill::read(text.as_bytes())
}

fn cost(bill: &Bill, machine: &str) -> f64 {
    bill.machines[machine].total().cost.as_f64()
}

#[test]
fn the_four_forms_are_told_apart_and_only_machines_are_read() {
    let cur = read(
        "line_item_resource_id,line_item_usage_start_date,line_item_usage_end_date,line_item_unblended_cost,line_item_usage_amount,line_item_line_item_type,line_item_usage_type,resource_tags\n\
         i-0abc,2026-01-01T00:00:00Z,2026-01-01T01:00:00Z,0.5,1,Usage,SpotUsage:m7i.large,\"{\"\"user_fleet_name\"\":\"\"web\"\"}\"\n\
         i-0abc,2026-01-01T01:00:00Z,2026-01-01T02:00:00Z,0.25,0.5,Usage,SpotUsage:m7i.large,\n\
         i-0abc,2026-01-01T01:00:00Z,2026-01-01T02:00:00Z,7.0,99,Usage,DataTransfer-Out-Bytes,\n\
         vol-1,2026-01-01T01:00:00Z,2026-01-01T02:00:00Z,7.0,99,Usage,EBS:VolumeUsage.gp3,\n\
         i-0abc,2026-01-01T01:00:00Z,2026-01-01T02:00:00Z,7.0,99,Tax,BoxUsage,\n",
    )
    .expect("a bill");
    assert_eq!((cur.form, cur.rows, cur.machine_rows, cur.grain), (Form::AwsCur, 5, 2, HOUR));
    assert_eq!(cost(&cur, "i-0abc"), 0.75);
    assert_eq!(cur.machines["i-0abc"].total().ms, Some(5_400_000));
    assert_eq!(cur.machines["i-0abc"].fleet.as_deref(), Some("web"));

    let gcp = read(
        "resource.name,resource.global_name,usage_start_time,usage_end_time,cost,credits.amount,cost_type,sku.description,labels\n\
         n,//compute.googleapis.com/projects/p/zones/z/instances/77,2026-01-01 00:00:00 UTC,2026-01-01 01:00:00 UTC,0.3,-0.1,regular,Spot Preemptible N2 Instance Core,\"[{\"\"key\"\":\"\"fleet-name\"\",\"\"value\"\":\"\"web\"\"}]\"\n\
         n,//compute.googleapis.com/projects/p/zones/z/instances/77,2026-01-01 00:00:00 UTC,2026-01-01 01:00:00 UTC,0.2,,regular,Spot Preemptible N2 Instance Ram,\n\
         n,//compute.googleapis.com/projects/p/zones/z/instances/77,2026-01-01 00:00:00 UTC,2026-01-01 01:00:00 UTC,9,,regular,Storage PD Capacity,\n",
    )
    .expect("a bill");
    assert_eq!((gcp.form, gcp.machine_rows), (Form::Gcp, 2));
    assert_eq!(cost(&gcp, "77"), 0.4);
    assert_eq!(gcp.machines["77"].fleet.as_deref(), Some("web"));

    let azure = read(
        "\u{feff}Date,ResourceId,MeterCategory,Quantity,UnitOfMeasure,CostInBillingCurrency,ChargeType,Tags\n\
         01/02/2026,/subscriptions/s/resourcegroups/g/providers/microsoft.compute/virtualmachines/Fleet-A,Virtual Machines,24,1 Hour,12.0,Usage,\"\"\"fleet:name\"\": \"\"web\"\",\"\"a\"\": \"\"b\"\"\"\n\
         01/02/2026,/subscriptions/s/x/disks/d,Storage,1,1 Month,3,Usage,\n",
    )
    .expect("a bill");
    assert_eq!((azure.form, azure.grain, azure.machine_rows), (Form::Azure, DAY, 1));
    assert_eq!(cost(&azure, "fleet-a"), 12.0);
    assert_eq!(azure.from, 1_767_312_000_000);
    assert_eq!(azure.machines["fleet-a"].fleet.as_deref(), Some("web"));

    let focus = read(
        "ResourceId,ChargePeriodStart,ChargePeriodEnd,EffectiveCost,ConsumedQuantity,ConsumedUnit,ChargeCategory,ServiceCategory,Tags\n\
         i-1,2026-01-01T00:00:00.000Z,2026-01-01T01:00:00.000Z,1.5,1.0,Hours,Usage,Compute,\"{\"\"fleet\"\":\"\"web\"\"}\"\n\
         i-1,2026-01-01T00:00:00.000Z,2026-01-01T01:00:00.000Z,9,1.0,GB,Usage,Networking,\n",
    )
    .expect("a bill");
    assert_eq!((focus.form, focus.machine_rows), (Form::Focus, 1));
    assert_eq!(focus.machines["i-1"].fleet.as_deref(), Some("web"));
}

#[test]
fn what_is_no_bill_says_why() {
    let check = |text: &str, expect: &str| {
        assert_eq!(read(text).expect_err("no bill").to_string(), expect, "{text}");
    };
    check("a,b\n1,2\n", "its columns are those of no bill that is known: a, b");
    check(
        "ChargePeriodStart,BilledCost\n",
        "this is FOCUS, and it has no column that names machines (export it with resources)",
    );
    check(
        "ResourceId,ChargePeriodStart,BilledCost\ni-1,2026-01-01T00:00:00Z,x\n",
        "line 2: `x` is no number",
    );
    check(
        "ResourceId,ChargePeriodStart,BilledCost\ni-1,yesterday,1\n",
        "line 2: `yesterday` is no time",
    );
    check("", "its columns are those of no bill that is known: ");
    assert!(read("\u{0}\u{0},\"\n").is_err());
}

#[test]
fn a_bad_row_is_named_by_the_line_that_an_editor_shows() {
    let check = |text: &str, line: u64| match read(text) {
        Err(BadBill::Row { line: found, .. }) => assert_eq!(found, line, "{text:?}"),
        other => panic!("{other:?} of {text:?}"),
    };
    let head = "ResourceId,ChargePeriodStart,BilledCost";
    let good = "i-1,2026-01-01T00:00:00Z,1";
    let bad = "i-2,2026-01-01T00:00:00Z,x";
    check(&format!("{head}\n{bad}\n"), 2);
    check(&format!("{head}\n\n\n{bad}\n"), 4);
    check(&format!("\n\n{head}\n{good}\n\n{bad}"), 6);
    check(&format!("{head}\r\n{good}\r\n{bad}\r\n"), 3);
    check(&format!("{head}\r\n\r\n{good}\r\n\r\n{bad}\r\n"), 5);
    // A name that goes over two lines is one row.
    check(&format!("{head}\n\"i\n1\",2026-01-01T00:00:00Z,1\n\n{bad}\n"), 5);
    // Further on than a reader reads at once.
    let many = format!("{good}\n\n").repeat(5_000);
    check(&format!("{head}\n{many}{bad}\n"), 10_002);
}

#[test]
fn what_a_commitment_cost_is_not_compared() {
    let text = "ResourceId,ChargePeriodStart,EffectiveCost,BilledCost,CommitmentDiscountStatus\n\
                i-1,2026-01-01T00:00:00Z,0.6,0,Used\n\
                i-1,2026-01-01T01:00:00Z,1,1,\n\
                fleet/f/aws/r/t,2026-01-01T01:00:00Z,0.6,0,Unused\n";
    let bill = read(text).expect("a bill");
    assert_eq!((bill.rows, bill.machine_rows), (3, 2));
    assert_eq!(bill.machines["i-1"].total().cost, NanoUsd(1_000_000_000));
}

#[test]
fn amounts_are_exact() {
    let check = |text: &str, nano: i128| assert_eq!(amount(text), Ok(NanoUsd(nano)), "{text}");
    check("0.1", 100_000_000);
    check("-0.0000000015", -2);
    check("12", 12_000_000_000);
    check(".5", 500_000_000);
    check("1e-3", 1_000_000);
    check("", 0);
    for bad in ["1.2.3", "$1", "1,5", "-", ".", "99999999999999999999"] {
        assert!(amount(bad).is_err(), "{bad}");
    }
}
