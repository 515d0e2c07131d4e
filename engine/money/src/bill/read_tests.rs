use super::*;
use crate::bill::NanoUsd;

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
fn a_row_that_is_cut_off_or_shifted_is_refused() {
    let head = "ResourceId,ChargePeriodStart,BilledCost,Tags";
    let check = |rows: &str, expect: &str| {
        let bad = read(&format!("{head}\n{rows}")).expect_err("no bill");
        assert_eq!(bad.to_string(), expect, "{rows:?}");
        assert!(bad.hint().contains("export it again"), "{rows:?}");
    };
    check("i-1,2026-01-01T00:00:00Z\n", "line 2: it has 2 cells, and the header has 4");
    check("i-1,2026-01-01T00:00:00Z,1,\n\n,,\n", "line 4: it has 3 cells, and the header has 4");
    check("i-1,2026-01-01T00:00:00Z,1,a,b\n", "line 2: it has 5 cells, and the header has 4");
    let blank = "\n   \ni-1,2026-01-01T00:00:00Z,1,\n \t\r\n\r\ni-1,2026-01-01T01:00:00Z,1,,\n\n";
    let bill = read(&format!("{head}\n{blank}")).expect("a bill");
    assert_eq!((bill.rows, bill.machine_rows), (2, 2));
}

#[test]
fn a_bill_in_another_currency_is_refused() {
    let check = |head: &str, row: &str| {
        for (code, good) in
            [("USD", true), ("usd", true), ("", true), ("EUR", false), ("JPY", false)]
        {
            let got = read(&format!("{head}\n{}\n", row.replace("USD", code)));
            match good {
                true => assert_eq!(got.map(|bill| bill.machine_rows), Ok(1), "{head} {code}"),
                false => {
                    let bad = got.expect_err("no bill");
                    let expect = format!("line 2: its cost is in {code}, not in USD");
                    assert_eq!(bad.to_string(), expect, "{head}");
                    assert!(bad.hint().contains("export the bill in USD"));
                }
            }
        }
    };
    check(
        "ResourceId,ChargePeriodStart,BilledCost,BillingCurrency",
        "i-1,2026-01-01T00:00:00Z,1,USD",
    );
    let cur = "line_item_resource_id,line_item_usage_start_date,line_item_unblended_cost";
    check(&format!("{cur},line_item_currency_code"), "i-1,2026-01-01T00:00:00Z,1,USD");
    check(&format!("{cur},pricing_currency"), "i-1,2026-01-01T00:00:00Z,1,USD");
    // What a price list is in is not what is paid in.
    check(
        &format!("{cur},pricing_currency,line_item_currency_code"),
        "i-1,2026-01-01T00:00:00Z,1,CNY,USD",
    );
    check("resource.name,usage_start_time,cost,currency", "n,2026-01-01 00:00:00 UTC,1,USD");
    for name in ["BillingCurrency", "billingCurrency", "BillingCurrencyCode", "Currency"] {
        let head = format!("Date,ResourceId,MeterCategory,CostInBillingCurrency,{name}");
        check(&head, "01/02/2026,/s/vm,Virtual Machines,1,USD");
    }
}

#[test]
fn a_cost_that_no_machine_comes_to_is_refused() {
    for cost in ["1e300", "-1e300", "NaN", "inf", "99999999999999999999"] {
        let bill =
            format!("ResourceId,ChargePeriodStart,BilledCost\ni-1,2026-01-01T00:00:00Z,{cost}\n");
        let bad = read(&bill).expect_err("no bill");
        let expect = format!("line 2: `{cost}` is more than any machine comes to");
        assert_eq!(bad.to_string(), expect);
        assert!(bad.hint().contains("columns of the header"));
    }
    let head = "ResourceId,ChargePeriodStart,BilledCost,ConsumedQuantity,ConsumedUnit";
    let bill = format!("{head}\ni-1,2026-01-01T00:00:00Z,1,1e30,Hours\n");
    assert!(matches!(read(&bill), Err(BadBill::Row { line: 2, why: BadRow::TooLarge(_) })));
}

#[test]
fn a_form_or_the_names_of_providers_tell_the_clouds() {
    let check = |text: &str, clouds: &[Cloud]| {
        let found: Vec<Cloud> = read(text).expect("a bill").clouds.into_iter().collect();
        assert_eq!(found, clouds, "{text}");
    };
    check(
        "line_item_resource_id,line_item_usage_start_date,line_item_unblended_cost\n",
        &[Cloud::Aws],
    );
    check("resource.name,usage_start_time,cost\n", &[Cloud::Gcp]);
    check("Date,ResourceId,MeterCategory,Cost\n", &[Cloud::Azure]);
    let focus = |provider: &str| {
        format!(
            "ResourceId,ChargePeriodStart,BilledCost,ServiceCategory,{}\n",
            provider.replace(' ', "\n,2026-01-01T00:00:00Z,1,Storage,")
        )
    };
    check(&focus("ProviderName"), &Cloud::ALL);
    check(&focus("Other"), &Cloud::ALL);
    check(&focus("ProviderName AWS"), &[Cloud::Aws]);
    check(&focus("ServiceProviderName Microsoft Google"), &[Cloud::Gcp, Cloud::Azure]);
    check(&focus("PublisherName Lambda"), &[Cloud::Lambda]);
    check(&focus("ProviderName Somebody"), &[]);
}
