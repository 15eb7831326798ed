//! What the build script tells of the sources.

use std::fs;

use super::build_script::fingerprint;

#[test]
fn other_sources_have_another_fingerprint() {
    let place = tempfile::tempdir().expect("a directory");
    let at = |name: &str| place.path().join(name);
    fs::create_dir_all(at("src/deep")).expect("made");
    let write = |name: &str, text: &str| fs::write(at(name), text).expect("written");
    write("Cargo.toml", "");
    write("src/deep/a.rs", "ab");
    write("src/deep/b.rs", "c");
    write("notes", "of none of the paths");
    let now = || fingerprint(&[at("Cargo.toml"), at("src")]);
    let before = now();
    assert_eq!(before.len(), 16, "{before}");

    let mut seen = vec![before.clone()];
    let mut is_new = |what: &str| {
        let now = now();
        assert!(!seen.contains(&now), "{what}");
        seen.push(now);
    };
    write("src/deep/a.rs", "a");
    is_new("a shorter file");
    write("src/deep/b.rs", "bc");
    is_new("a letter that went into the next file");
    write("src/untracked.rs", "");
    is_new("one more file, an empty one");
    fs::rename(at("src/untracked.rs"), at("src/c.rs")).expect("renamed");
    is_new("another name");

    fs::remove_file(at("src/c.rs")).expect("removed");
    write("src/deep/a.rs", "ab");
    write("src/deep/b.rs", "c");
    write("notes", "others");
    assert_eq!(now(), before, "the same sources again");
}
