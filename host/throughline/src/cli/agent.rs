//! Parses the name of an agent on the command line.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use throughline_agents::protocol::name::Agent;
use throughline_agents::settings::Client;
use throughline_agents::settings::agents::title;

/// Returns the parser of `--agent`. The help and the error of an unknown name list all agents.
pub(super) fn parser() -> impl TypedValueParser<Value = Agent> {
    let names = Agent::ALL.map(|agent| PossibleValue::new(agent.name()).help(title(agent)));
    PossibleValuesParser::new(names).try_map(|name| Agent::of(&name).ok_or("there is no such agent"))
}

/// Returns the parser of `--agent` where a program counts that has only the MCP server too.
pub(super) fn client_parser() -> impl TypedValueParser<Value = Client> {
    let names: Vec<PossibleValue> =
        Client::all().map(|client| PossibleValue::new(client.name()).help(client.title())).collect();
    PossibleValuesParser::new(names).try_map(|name| Client::of(&name).ok_or("there is no such agent"))
}
