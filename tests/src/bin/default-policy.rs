//! Builds the default policy's component and puts it where it is committed: `cargo default-policy`.

fn main() -> anyhow::Result<()> {
    let component = tests::component::build()?;
    let digest = tests::component::install(&component)?;
    println!("policies/default/policy.wasm: {} bytes, SHA-256 {digest}", component.len());
    Ok(())
}
