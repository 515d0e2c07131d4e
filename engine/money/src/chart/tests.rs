use super::*;

/// Every tag is closed, in order. Text holds no bare `<` or `&`.
fn well_formed(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = svg;
    while let Some(at) = rest.find('<') {
        let end = at + rest[at..].find('>').expect("a tag ends");
        let tag = &rest[at + 1..end];
        let name = |tag: &'_ str| tag.split([' ', '/']).next().unwrap_or("").len();
        match tag.strip_prefix('/') {
            Some(closed) => assert_eq!(open.pop(), Some(closed), "in {svg}"),
            None if tag.ends_with('/') => {}
            None => open.push(&tag[..name(tag)]),
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty(), "{open:?} is open");
    let bare = svg.match_indices('&').filter(|(at, _)| {
        !["&lt;", "&gt;", "&amp;", "&quot;"].iter().any(|name| svg[*at..].starts_with(name))
    });
    assert_eq!(bare.count(), 0);
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
}

fn group(label: &str, values: &[Option<f64>]) -> Group {
    Group { label: label.into(), values: values.to_vec(), said: None }
}

#[test]
fn scales_end_above_their_values_at_round_numbers() {
    let check = |most: f64, end: f64, ticks: &[&str]| {
        let scale = Scale::up_to(most);
        assert!((scale.end() - end).abs() < 1e-9 * end, "{most}: {scale:?}");
        let labels: Vec<String> = scale.ticks().map(|tick| scale.label(tick)).collect();
        assert_eq!(labels, ticks, "{most}");
    };
    check(10.0, 10.0, &["0", "2", "4", "6", "8", "10"]);
    check(11.0, 12.5, &["0.0", "2.5", "5.0", "7.5", "10.0", "12.5"]);
    check(0.3, 0.3, &["0.0", "0.1", "0.2", "0.3"]);
    check(98_765.0, 100_000.0, &["0", "20,000", "40,000", "60,000", "80,000", "100,000"]);
    for nonsense in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(Scale::up_to(nonsense), Scale::up_to(1.0));
    }
    let mut most = 1e-9;
    while most < 1e12 {
        let scale = Scale::up_to(most);
        assert!(
            scale.end() >= most * (1.0 - 1e-6) && scale.end() <= most * 2.6,
            "{most}: {scale:?}"
        );
        assert!((2..=11).contains(&scale.ticks().count()), "{most}: {scale:?}");
        most *= 1.37;
    }
}

#[test]
fn bars_are_as_long_as_their_values() {
    let chart = Bars {
        title: "a <b> & \"c\"".into(),
        unit: ("$", ""),
        series: vec!["compute".into(), "disk".into()],
        groups: vec![
            group("one", &[Some(50.0), Some(50.0)]),
            group("two", &[Some(25.0), None]),
            group("three", &[None, Some(f64::NAN)]),
        ],
        stacked: true,
        ..Bars::default()
    };
    let stacked = bars(&chart);
    well_formed(&stacked);
    assert!(stacked.contains("a &lt;b&gt; &amp; &quot;c&quot;"));
    // 420 wide, up to 100: 210 for 50, 105 for 25.
    assert_eq!(stacked.matches("width=\"210.0\"").count(), 2, "{stacked}");
    assert_eq!(stacked.matches("width=\"105.0\"").count(), 1, "{stacked}");
    assert!(stacked.contains(">$100.00<") && stacked.contains(">unknown<"), "{stacked}");
    let side = bars(&Bars { stacked: false, ..chart });
    well_formed(&side);
    assert_eq!(side.matches("width=\"420.0\"").count(), 2, "{side}");
    assert!(side.contains(">$25.00, unknown<"), "{side}");
    well_formed(&bars(&Bars::default()));
}

#[test]
fn lines_have_gaps_where_nothing_is_known() {
    let line = |steps| Line {
        name: "spend".into(),
        values: vec![Some(1.0), Some(2.0), None, Some(4.0), Some(f64::INFINITY)],
        steps,
    };
    let chart = Lines {
        title: "spend".into(),
        moments: (1..=5).map(|day| format!("day {day}")).collect(),
        lines: vec![line(false), line(true)],
        limit: Some(("budget".into(), 5.0)),
        ..Lines::default()
    };
    let drawn = lines(&chart);
    well_formed(&drawn);
    assert_eq!(drawn.matches("<path").count(), 4, "{drawn}");
    assert_eq!(drawn.matches("<path").count(), drawn.matches("h0").count());
    assert!(drawn.contains("stroke-dasharray") && drawn.contains(">day 1<"), "{drawn}");
    assert_eq!(drawn, lines(&chart), "the same data is the same file");
    well_formed(&lines(&Lines::default()));
}

#[test]
fn names_along_a_line_chart_keep_inside_and_apart() {
    let line = |name: &str| Line { name: name.into(), values: vec![Some(0.2); 3], steps: false };
    let drawn = lines(&Lines {
        moments: (1..=3).map(|day| format!("2026-01-0{day}")).collect(),
        lines: vec![line("web"), line("train")],
        unit: ("$", ""),
        ..Lines::default()
    });
    // Where a text stands, by what it says.
    let at = |said: &str, axis: &str| -> f64 {
        let end = drawn.find(&format!(">{said}<")).expect(said);
        let tag = &drawn[drawn[..end].rfind("<text").expect("a text")..end];
        let value = tag.split(&format!(" {axis}=\"")).nth(1).expect(tag);
        value.split('"').next().and_then(|number| number.parse().ok()).expect(tag)
    };
    let last = at("2026-01-03", "x") + width("2026-01-03") / 2.0;
    assert!(last <= 760.0 - 8.0, "{last}: {drawn}");
    let gap = at("$0.20", "y") - at("web", "y");
    assert!(gap >= LINE, "{gap}: {drawn}");
}

#[test]
fn terminals_get_bars_in_eighths() {
    let check = |share: f64, blocks: &str, ascii: &str| {
        assert_eq!(bar(share, 4, Glyphs::Blocks), blocks, "{share}");
        assert_eq!(bar(share, 4, Glyphs::Ascii), ascii, "{share}");
    };
    check(0.0, "", "");
    check(0.001, "▏", "#");
    check(0.5, "██", "##");
    check(0.53, "██▏", "##");
    check(1.0, "████", "####");
    check(7.0, "████", "####");
    check(f64::NAN, "", "");
    let values = [Some(0.0), None, Some(5.0), Some(10.0)];
    assert_eq!(sparkline(&values, Glyphs::Blocks), "▁ ▅█");
    assert_eq!(sparkline(&values, Glyphs::Ascii), "_ -#");
    assert_eq!(sparkline(&[], Glyphs::Blocks), "");
}
