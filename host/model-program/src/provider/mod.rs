//! The providers: one module for each protocol, and `exchange` with what they have in common.

mod anthropic;
mod command;
mod exchange;
mod gemini;
mod openai;
mod recorded;

use throughline_model_wire::{Completed, Failed, Provider, Request};

/// Asks the request's provider.
pub(crate) fn complete(request: &Request) -> Result<Completed, Failed> {
    match &request.provider {
        Provider::Openai { server } => openai::complete(server, request),
        Provider::Anthropic { server } => anthropic::complete(server, request),
        Provider::Gemini { server } => gemini::complete(server, request),
        Provider::Command { agent, program, model, folder } => {
            command::complete(*agent, program, model.as_deref(), folder.as_ref(), request)
        }
        Provider::Recorded { folder } => recorded::complete(folder.as_ref(), request),
    }
}
