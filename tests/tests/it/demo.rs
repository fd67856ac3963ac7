//! What the documents show of `throughline demo` is what it prints.

#[test]
fn the_documents_show_the_demonstration_as_it_is() {
    for (file, wanted) in tests::picture::of_demo().expect("the demonstration runs") {
        let committed = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(
            committed == wanted,
            "{} is stale: run `cargo build -p throughline && cargo run -p tests --bin picture` and commit what it writes",
            file.display()
        );
    }
}
