//! A server of the Model Context Protocol with one tool, `echo`, on standard input and output: what the real client is given
//! in tests where a tool of a server is to be used.

use std::io::{BufRead as _, Write as _};

use serde_json::{Value, json};

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let Ok(request) = serde_json::from_str::<Value>(&line?) else { continue };
        // A notification wants no answer.
        let Some(id) = request.get("id") else { continue };
        let result = match request["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": request["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "memtest", "version": "1"},
            }),
            Some("tools/list") => json!({"tools": [{
                "name": "echo",
                "description": "Says it again",
                "inputSchema": {"type": "object", "properties": {"q": {"type": "string"}}},
            }]}),
            Some("tools/call") => {
                json!({"content": [{"type": "text", "text": format!("echo: {}", request["params"]["arguments"]["q"])}]})
            }
            _ => json!({}),
        };
        writeln!(out, "{}", json!({"jsonrpc": "2.0", "id": id, "result": result}))?;
        out.flush()?;
    }
    Ok(())
}
