//! The whole program against a pretended CTS build: executables that are shell scripts.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// Passes, fails, skips, crashes, hangs or writes its surroundings, by the sub-test's name.
const SUITE: &str = r#"#!/bin/sh
report() { printf '{ "cmd": "x", "args": "", "results": { "%s": "%s" } }' "$1" "$2" > "$CL_CONFORMANCE_RESULTS_FILENAME"; }
if [ "$1" = --list ]; then printf 'some chatter\n\tgood\n\tbad\n\tunclaimed\n\tbroken\n\tslow\n'; exit 0; fi
echo "Compute Device Name = pretended, Compute Device Vendor = v, Compute Device Version = OpenCL 3.0 x, CL C Version = y"
echo "driver: $(cat "$OCL_ICD_VENDORS"/*.icd) extra: $EXTRA"
for last; do :; done
case "$last" in
  good) report good pass ;;
  bad) echo "ERROR: wrong value at 3"; echo "FAILED test."; report bad fail; exit 1 ;;
  unclaimed) echo "unclaimed test not supported"; report unclaimed skip ;;
  broken) echo "about to go"; kill -SEGV $$ ;;
  slow) sleep 600 ;;
esac
"#;

/// Writes an executable script.
fn script(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A pretended build with the suites `commonfns` and `half`, and a pretended driver.
struct Fake {
    dir: TempDir,
}

impl Fake {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let suites = dir.path().join("test_conformance");
        script(&suites.join("commonfns/test_commonfns"), SUITE);
        script(&suites.join("half/test_half"), SUITE);
        fs::write(dir.path().join("libdriver.so"), "").unwrap();
        Self { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn harness(&self, args: &[&str]) -> Output {
        let program = env!("CARGO_BIN_EXE_cts-harness");
        Command::new(program)
            .current_dir(self.dir.path())
            .args(args)
            .output()
            .unwrap()
    }

    fn run(&self, args: &[&str]) -> Output {
        let fixed = [
            "run",
            "--cts",
            ".",
            "--driver",
            "libdriver.so",
            "--timeout",
            "2",
            "--jobs",
            "4",
        ];
        self.harness(&[&fixed, args].concat())
    }

    fn results(&self, out: &str) -> serde_json::Value {
        serde_json::from_str(&fs::read_to_string(self.path(out).join("results.json")).unwrap())
            .unwrap()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn every_outcome_is_found_and_reported() {
    let fake = Fake::new();
    let output = fake.run(&["--suites", "commonfns", "--out", "o", "--env", "EXTRA=more"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let results = fake.results("o");
    let found: Vec<_> = results["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| {
            format!(
                "{} {} {}",
                r["test"].as_str().unwrap(),
                r["outcome"].as_str().unwrap(),
                r["ended"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            "bad fail exit 1",
            "broken crash SIGSEGV",
            "good pass exit 0",
            "slow timeout killed after 2 s",
            "unclaimed skip exit 0"
        ]
    );
    assert_eq!(results["device"], "pretended, OpenCL 3.0 x");
    assert_eq!(results["complete"], true);
    let bad = &results["results"][0];
    assert_eq!(bad["reason"], "ERROR: wrong value at 3");
    let library = fake.path("libdriver.so").canonicalize().unwrap();
    let surroundings = format!("driver: {} extra: more", library.display());
    assert!(
        bad["output"].as_str().unwrap().contains(&surroundings),
        "{bad}"
    );
    let summary = fs::read_to_string(fake.path("o/summary.md")).unwrap();
    assert!(
        summary.contains("| commonfns | 5 | 1 | 1 | 1 | 1 | 1 |"),
        "{summary}"
    );
    assert!(
        fs::read_to_string(fake.path("o/report.html"))
            .unwrap()
            .contains("wrong value at 3")
    );
}

#[test]
fn recorded_expectations_are_held_against_later_runs() {
    let fake = Fake::new();
    let args = [
        "--suites",
        "commonfns",
        "--filter",
        "good",
        "--filter",
        "bad",
        "--out",
        "o",
        "--expectations",
        "e.txt",
    ];
    let recorded = fake.run(&[&args[..], &["--record"]].concat());
    assert_eq!(
        recorded.status.code(),
        Some(0),
        "{}",
        text(&recorded.stderr)
    );
    let file = fake.path("e.txt");
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        "commonfns/bad: fail  # ERROR: wrong value at 3\ncommonfns/good: pass\n"
    );
    assert_eq!(fake.run(&args).status.code(), Some(0));

    // Expecting more than there is: a regression, told at once and in the end.
    fs::write(
        &file,
        "commonfns/bad: pass\ncommonfns/good: pass\ncommonfns/good_old: pass\nhalf/x: pass\n",
    )
    .unwrap();
    let worse = fake.run(&args);
    assert_eq!(worse.status.code(), Some(1));
    assert!(text(&worse.stderr).contains("worse: commonfns/bad: expected pass, got fail (exit 1)"));
    let told = text(&worse.stdout);
    assert!(told.contains("worse  commonfns/bad: pass → fail"), "{told}");
    assert!(told.contains("missing  commonfns/good_old: pass"), "{told}");
    assert!(
        told.contains("1 worse, 0 better, 0 different, 0 new, 1 missing"),
        "{told}"
    );
    assert!(!told.contains("half/x"), "{told}");

    // Expecting less: an improvement.
    fs::write(
        &file,
        "commonfns/bad: crash\ncommonfns/good: fail  # long ago\n",
    )
    .unwrap();
    let better = fake.run(&args);
    assert_eq!(better.status.code(), Some(0));
    assert!(
        text(&better.stdout).contains("0 worse, 2 better"),
        "{}",
        text(&better.stdout)
    );
}

#[test]
fn two_runs_can_be_compared_and_reported_again() {
    let fake = Fake::new();
    assert_eq!(
        fake.run(&["--suites", "half", "--filter", "bad", "--out", "a"])
            .status
            .code(),
        Some(0)
    );
    let results = fs::read_to_string(fake.path("a/results.json")).unwrap();
    fs::write(fake.path("b.json"), results.replace("\"fail\"", "\"pass\"")).unwrap();
    let worse = fake.harness(&["compare", "b.json", "a/results.json"]);
    assert_eq!(worse.status.code(), Some(1));
    assert!(text(&worse.stdout).contains("worse  half/bad: pass → fail"));
    assert_eq!(
        fake.harness(&["compare", "a/results.json", "b.json"])
            .status
            .code(),
        Some(0)
    );

    let again = fake.harness(&["report", "b.json", "--out", "again"]);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
    assert!(
        fs::read_to_string(fake.path("again/summary.md"))
            .unwrap()
            .contains("| half | 1 | 1 |")
    );
}

#[test]
fn what_failed_can_be_run_again() {
    let fake = Fake::new();
    let all = ["--suites", "half", "--filter", "good", "--filter", "bad"];
    fake.run(&[&all[..], &["--out", "a"]].concat());
    let again = fake.run(&["--failed-in", "a/results.json", "--out", "b"]);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
    let results = fake.results("b");
    assert_eq!(results["results"].as_array().unwrap().len(), 1);
    assert_eq!(results["results"][0]["test"], "bad");
    assert_eq!(results["results"][0]["suite"], "half");
}

#[test]
fn suites_and_sub_tests_are_listed() {
    let fake = Fake::new();
    let listed = fake.harness(&["list", "--cts", "."]);
    assert_eq!(listed.status.code(), Some(0));
    let listed = text(&listed.stdout);
    assert_eq!(listed.lines().count(), 10);
    assert!(listed.lines().any(|l| l == "half/unclaimed"));
}

#[test]
fn what_the_harness_cannot_do_is_said() {
    let fake = Fake::new();
    let silent = "#!/bin/sh\nexit 3\n";
    script(&fake.path("test_conformance/api/test_api"), silent);
    for (args, expected) in [
        (&["--suites", "nope"][..], "no suite is called \"nope\""),
        (&["--suites", "svm"], "suite svm is not in this build"),
        (
            &["--suites", "commonfns", "--filter", "nothing"],
            "no sub-test of the suites chosen contains any of [\"nothing\"]",
        ),
        (&["--suites", "api"], "--list ended with exit 3 and 0 names"),
        (
            &["--suites", "commonfns", "--driver", "absent.so"],
            "no driver at absent.so",
        ),
    ] {
        let output = fake.run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(
            text(&output.stderr).contains(expected),
            "{args:?}: {}",
            text(&output.stderr)
        );
    }
    assert_eq!(
        fake.harness(&["list", "--cts", "absent"]).status.code(),
        Some(2)
    );
}
