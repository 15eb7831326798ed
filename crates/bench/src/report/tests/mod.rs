mod labels;
mod standing;
mod table;
mod tenths;
mod written;

use super::testing::single_spaced;
use super::*;
use crate::run::{Launcher, RunPlan, Silent, run};
use crate::workload::{Rate, load_workload};

fn results(arms: &[&str], rounds: u32) -> Results {
    let out = tempfile::tempdir().unwrap();
    let mut plan = plan(arms, out.path());
    plan.rounds = rounds;
    run(&plan, &mut Silent).unwrap()
}

fn plan(arms: &[&str], out: &std::path::Path) -> RunPlan {
    let mut workload = load_workload("mixed-sessions")
        .unwrap()
        .sized(Some(1000), 1.0)
        .unwrap();
    for session in &mut workload.sessions {
        session.rate = if session.name == "quiet" {
            Rate::Constant { per_second: 1e5 }
        } else {
            Rate::Closed
        };
    }
    let arms = arms.iter().map(|name| name.parse().unwrap()).collect();
    let mut plan = RunPlan::new(workload, arms, out.to_path_buf()).unwrap();
    plan.launcher = Launcher::InProcess;
    plan
}

/// What a page is drawn from.
fn data_of(page: &str) -> serde_json::Value {
    let start = page.find("id=\"data\">").unwrap() + "id=\"data\">".len();
    let end = start + page[start..].find("</script>").unwrap();
    serde_json::from_str(&page[start..end]).unwrap()
}

#[test]
fn columns_are_aligned() {
    let mut grid = grid::Grid::new(&["arm", "s", ""]);
    grid.row(["a".into(), "1.0".into(), "x".into()]);
    grid.row(["long-name".into(), "100 ±2".into(), "yy".into()]);
    let text = grid.left_from(2).to_string();
    assert_eq!(
        text,
        "  arm              s\n  a              1.0   x\n  long-name   100 ±2   yy\n"
    );
}

#[test]
fn numbers_read_well() {
    assert_eq!(words::count(2_000_000), "2,000,000");
    assert_eq!(words::micros(1500.0), "1.50 ms");
    assert_eq!(words::mebibytes(f64::from(2 << 20)), "2 MiB");
    assert_eq!(words::mebibytes(f64::from(256 << 10)), "256 KiB");
    let figure = crate::judge::Figure::of([10.0, 12.0, 13.0]).unwrap();
    assert_eq!(words::figure(&figure), "12.0 ±1.5");
    assert_eq!(words::figure_with(&figure, 3), "12.000 ±1.500");
    assert_eq!(words::micros_figure(&figure), "12.0 ±1.5 µs");
    let slow = crate::judge::Figure::of([900.0, 1100.0, 9100.0]).unwrap();
    assert_eq!(words::micros_figure(&slow), "1.10 ±4.10 ms");
    let single = crate::judge::Figure::of([f64::from(3 << 19)]).unwrap();
    assert_eq!(words::bytes_figure(&single), "1.50 MiB");
    let none = crate::judge::Figure::of([0.0, 0.0]).unwrap();
    assert_eq!(words::bytes_figure(&none), "0.00 ±0.00 MiB");
}
