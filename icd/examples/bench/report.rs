//! Tables of ratios, and the same as JSON.

use serde_json::{Map, Value, json};

use brolga_icd_testing::drivers::Candidate;

/// One group of measurements.
pub struct Section {
    pub title: &'static str,
    /// Whether the rows are of one kind, so that a mean of their ratios means something.
    pub averaged: bool,
    pub rows: Vec<String>,
    /// What to say of the first driver's times, for each row or none.
    pub notes: Vec<Option<String>>,
}

/// Prints, for each measurement, the first driver's time and how many times as long each other
/// driver took: above 1 the first is ahead.
pub fn print(sections: &[Section], candidates: &[Candidate]) {
    let Some((first, others)) = candidates.split_first() else {
        return;
    };
    for section in sections {
        print!("\n{:<24}{:>14}", section.title, first.driver.label);
        for other in others {
            print!("{:>16}", other.driver.label);
        }
        println!();
        let mut logarithms = vec![Vec::new(); others.len()];
        for (n, row) in section.rows.iter().enumerate() {
            let base = first.result(row);
            print!(
                "{row:<24}{:>14}",
                base.map_or_else(|| failed(first, row), |t| show(t.best))
            );
            for (other, logs) in others.iter().zip(&mut logarithms) {
                let cell = match (base, other.result(row)) {
                    (Some(base), Some(time)) => {
                        let ratio = time.best / base.best;
                        logs.push(ratio.ln());
                        format!("{ratio:.2}x")
                    }
                    (None, Some(time)) => show(time.best),
                    (_, None) => failed(other, row),
                };
                print!("{cell:>16}");
            }
            match section.notes.get(n) {
                Some(Some(note)) => println!("   {note}"),
                _ => println!(),
            }
        }
        if section.averaged && logarithms.iter().any(|l| !l.is_empty()) {
            print!("{:<24}{:>14}", "geometric mean", "");
            for logs in &logarithms {
                let mean = (logs.iter().sum::<f64>() / logs.len().max(1) as f64).exp();
                print!(
                    "{:>16}",
                    if logs.is_empty() {
                        "-".to_owned()
                    } else {
                        format!("{mean:.2}x")
                    }
                );
            }
            println!();
        }
    }
    println!(
        "\nFirst column: best time. Others: best time divided by the first column's; above 1 the first driver is faster."
    );
}

fn failed(candidate: &Candidate, row: &str) -> String {
    if candidate.failures.contains_key(row) {
        "FAILED".to_owned()
    } else {
        "-".to_owned()
    }
}

fn show(seconds: f64) -> String {
    match seconds {
        s if s < 1e-7 => format!("{:.3} ns", s * 1e9),
        s if s < 1e-3 => format!("{:.2} us", s * 1e6),
        s if s < 1.0 => format!("{:.3} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

pub fn json(sections: &[Section], candidates: &[Candidate]) -> Value {
    let drivers: Vec<Value> = candidates
        .iter()
        .map(|candidate| {
            let mut results = Map::new();
            for row in sections.iter().flat_map(|s| &s.rows) {
                let result = match (candidate.result(row), candidate.failures.get(row)) {
                    (Some(times), _) => json!({ "best_s": times.best, "median_s": times.median }),
                    (None, Some(error)) => json!({ "error": error }),
                    (None, None) => Value::Null,
                };
                results.insert(row.clone(), result);
            }
            json!({
                "label": candidate.driver.label,
                "library": candidate.driver.library,
                "environment": candidate.driver.environment,
                "info": candidate.info,
                "results": results,
            })
        })
        .collect();
    json!({ "drivers": drivers })
}
