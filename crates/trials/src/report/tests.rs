//! The page.

use std::fs;

use super::*;
use crate::findings::tests::found;

#[test]
fn the_page_holds_the_data_and_needs_no_network() {
    let mut findings = found(3_000.0, 3);
    findings.notes = vec!["</script><!-- {{title}}".to_owned()];
    findings.target = "a \"<b>\" & more {{data}}".to_owned();
    let page = page(&findings).expect("plain data");
    assert!(page.starts_with("<!doctype html>"));
    let title = "<title>small on a &quot;&lt;b>&quot; &amp; more";
    assert!(page.contains(title), "{}", &page[..400]);
    let start = page.find("id=\"data\">").expect("data") + "id=\"data\">".len();
    let end = start + page[start..].find("</script>").expect("its end");
    let data: serde_json::Value = serde_json::from_str(&page[start..end]).expect("JSON");
    assert_eq!(data["notes"][0], "</script><!-- {{title}}");
    assert_eq!(data["target"], "a \"<b>\" & more {{data}}");
    assert_eq!(
        data["trials"].as_array().map(Vec::len),
        Some(findings.trials.len())
    );
    let rest = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!rest.contains("http:") && !rest.contains("https:"));
    for place in ["{{style}}", "{{scripts}}"] {
        assert!(!page.contains(place), "{place}");
    }
}

#[test]
fn the_page_replaces_another() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("search.html");
    replace(&path, "old").expect("writable");
    write(&found(3_000.0, 0), &path).expect("writable");
    let text = fs::read_to_string(&path).expect("there");
    assert!(text.starts_with("<!doctype html>"));
    let files = fs::read_dir(directory.path()).expect("there").count();
    assert_eq!(files, 1, "nothing else is left");
}
