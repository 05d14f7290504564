//! The page: the run and its differences as JSON inside `page.html`, which draws them.

use serde::Serialize;

use super::{circumstances, tallies, totals};
use crate::compare::Comparison;
use crate::expectations::Expectations;
use crate::results::{Outcome, Run};

const PAGE: &str = include_str!("page.html");
/// Where in the page the data goes.
const PLACE: &str = "/*DATA*/null";

/// What the page draws.
#[derive(Serialize)]
struct Data<'a> {
    driver: &'a str,
    device: Option<&'a str>,
    started: u64,
    totals: String,
    circumstances: String,
    outcomes: [&'static str; 5],
    suites: Vec<SuiteRow<'a>>,
    /// Summary of the differences, where there was something to compare with.
    compared: Option<String>,
    tests: Vec<TestRow<'a>>,
}

#[derive(Serialize)]
struct SuiteRow<'a> {
    name: &'a str,
    /// In the order of `outcomes`.
    counts: [usize; 5],
    seconds: f64,
}

#[derive(Serialize)]
struct TestRow<'a> {
    name: String,
    outcome: &'static str,
    seconds: f64,
    ended: &'a str,
    /// The recorded cause, or else the reason found in the output.
    cause: &'a str,
    output: &'a str,
    /// `worse`, `better`, ...; empty when as expected.
    change: &'static str,
    before: String,
}

/// Writes the page.
pub fn html(run: &Run, comparison: Option<&Comparison>, expectations: &Expectations) -> String {
    let data = Data {
        driver: &run.driver,
        device: run.device.as_deref(),
        started: run.started,
        totals: totals(run),
        circumstances: circumstances(run),
        outcomes: Outcome::ALL.map(Outcome::name),
        suites: tallies(run)
            .into_iter()
            .map(|(name, tally)| SuiteRow {
                name,
                counts: Outcome::ALL.map(|o| tally.count(o)),
                seconds: tally.seconds,
            })
            .collect(),
        compared: comparison.map(Comparison::summary),
        tests: test_rows(run, comparison, expectations),
    };
    let json = serde_json::to_string(&data).expect("the page's data is plain");
    // Inside a script element, only "</" and "<!--" could end or change it.
    PAGE.replace(PLACE, &json.replace('<', "\\u003c"))
}

fn test_rows<'a>(
    run: &'a Run,
    comparison: Option<&Comparison>,
    expectations: &'a Expectations,
) -> Vec<TestRow<'a>> {
    let differences = comparison.map(Comparison::rows).unwrap_or_default();
    let change_of = |name: &str| differences.iter().find(|(_, n, _)| n == name);
    let mut rows: Vec<_> = run
        .results
        .iter()
        .map(|result| {
            let name = result.name();
            let expected = expectations.get(&name);
            let recorded = expected.map_or("", |e| e.cause.as_str());
            let name = name.to_string();
            let change = change_of(&name);
            TestRow {
                outcome: result.outcome.name(),
                seconds: result.seconds,
                ended: &result.ended,
                cause: if recorded.is_empty() || result.outcome == Outcome::Pass {
                    &result.reason
                } else {
                    recorded
                },
                output: &result.output,
                change: change.map_or("", |(kind, _, _)| kind),
                before: expected
                    .filter(|_| change.is_some())
                    .map_or(String::new(), |e| e.outcome.to_string()),
                name,
            }
        })
        .collect();
    let missing = comparison
        .iter()
        .flat_map(|c| &c.missing)
        .map(|(name, outcome)| TestRow {
            name: name.to_string(),
            outcome: "missing",
            seconds: 0.0,
            ended: "not run",
            cause: "",
            output: "",
            change: "missing",
            before: outcome.to_string(),
        });
    rows.extend(missing);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::TestResult;

    #[test]
    fn the_page_holds_the_data_and_cannot_be_broken_out_of() {
        let run = Run {
            driver: "libx.so".into(),
            device: None,
            started: 0,
            seconds: 1.0,
            timeout: 1.0,
            jobs: 1,
            wimpy: false,
            suites: vec!["basic".into()],
            filters: Vec::new(),
            complete: true,
            results: vec![TestResult {
                suite: "basic".into(),
                test: "a".into(),
                outcome: Outcome::Fail,
                seconds: 0.5,
                ended: "exit 1".into(),
                reason: String::new(),
                output: "</script><b>".into(),
            }],
        };
        let expectations = Expectations::parse("basic/a: pass\nbasic/b: skip\n").unwrap();
        let comparison = Comparison::between(&expectations.outcomes(), &run.outcomes(), |_| true);
        let page = html(&run, Some(&comparison), &expectations);
        assert!(!page.contains(PLACE));
        assert!(!page.contains("</script><b>"));
        let start = page.find("const data = ").unwrap() + "const data = ".len();
        let json = page[start..].lines().next().unwrap().trim_end_matches(';');
        let data: serde_json::Value = serde_json::from_str(json).unwrap();
        assert_eq!(data["tests"][0]["output"], "</script><b>");
        assert_eq!(data["tests"][0]["change"], "worse");
        assert_eq!(data["tests"][0]["before"], "pass");
        assert_eq!(data["tests"][1]["outcome"], "missing");
        assert_eq!(
            data["suites"][0]["counts"],
            serde_json::json!([0, 0, 1, 0, 0])
        );
    }
}
