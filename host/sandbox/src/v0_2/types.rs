//! What the generated bindings require of the contract's `types` interface, based on [`throughline_model::contract`]'s types. The
//! interface has no functions, so there is nothing to link.

pub use throughline_model::contract::*;

/// The interface has no functions.
pub trait Host {}
impl<T: ?Sized> Host for T {}

/// The interface has no functions.
pub trait HostWithStore<T> {}
impl<D: ?Sized, T> HostWithStore<T> for D {}

/// Links nothing.
pub fn add_to_linker<T, D>(
    _linker: &mut wasmtime::component::Linker<T>,
    _host: fn(&mut T) -> D::Data<'_>,
) -> wasmtime::Result<()>
where
    D: wasmtime::component::HasData,
    T: 'static,
{
    Ok(())
}
