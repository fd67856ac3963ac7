// Throughline's extension for pi: reports what happens in a session, and shows the agent what is remembered.
// `throughline install --agent pi` writes this file and `throughline uninstall` removes it. Changes are overwritten.
import { spawn } from "node:child_process"

const COMMAND = []
// The seconds that each event may take. An event that is not listed is not reported.
const TIMEOUTS = {}

export default function (pi) {
  let untold // what the model is told beside the next prompt, as a promise

  // Runs the program. Resolves to its answer, and to {} whatever goes wrong: memory must not disturb a session.
  const report = (event, ctx, more = {}) =>
    new Promise((resolve) => {
      // A session that pi does not keep is not remembered either.
      if (!TIMEOUTS[event] || !ctx.sessionManager.getSessionFile()) return resolve({})
      let out = ""
      try {
        const child = spawn(COMMAND[0], COMMAND.slice(1), { cwd: ctx.cwd, stdio: ["pipe", "pipe", "ignore"] })
        const timer = setTimeout(() => (child.kill(), resolve({})), TIMEOUTS[event] * 1000)
        const done = (answer) => (clearTimeout(timer), resolve(answer))
        child.on("error", () => done({}))
        child.stdin.on("error", () => {})
        child.stdout.on("data", (data) => (out += data))
        child.on("close", () => {
          try {
            done(JSON.parse(out))
          } catch {
            done({})
          }
        })
        const session = { session_id: ctx.sessionManager.getSessionId(), cwd: ctx.cwd, model: ctx.model?.id }
        child.stdin.end(JSON.stringify({ hook_event_name: event, ...session, ...more }))
      } catch {
        resolve({})
      }
    })

  const start = async (ctx, source) => {
    const answer = await report("session_start", ctx, { source })
    if (answer.systemMessage && ctx.hasUI) ctx.ui.notify(answer.systemMessage, "info")
    return answer.context
  }
  const text = (content) =>
    typeof content === "string"
      ? content
      : (content ?? []).filter((it) => it.type === "text").map((it) => it.text).join("\n")

  pi.on("session_start", (event, ctx) => {
    // After a reload, the session goes on with what it was told.
    if (event.reason === "reload") return
    const isNew = event.reason === "new" || !ctx.sessionManager.getEntries().some((it) => it.type === "message")
    untold = start(ctx, isNew ? "startup" : "resume")
  })
  pi.on("before_agent_start", async (event, ctx) => {
    if (!event.prompt) return
    const first = await untold
    untold = undefined
    const { context } = await report("before_agent_start", ctx, { prompt: event.prompt })
    const content = [first, context].filter(Boolean).join("\n\n")
    if (content) return { message: { customType: "throughline", content, display: false } }
  })
  pi.on("tool_result", async (event, ctx) => {
    const call = { tool_name: event.toolName, tool_use_id: event.toolCallId, tool_input: event.input }
    const outcome = { [event.isError ? "tool_error" : "tool_output"]: text(event.content) }
    const { context } = await report("tool_result", ctx, { ...call, ...outcome })
    // Without the structured content, changing the content would drop it.
    const { content, structuredContent } = event
    if (context) return { content: [...content, { type: "text", text: context }], structuredContent }
  })
  pi.on("agent_end", async (event, ctx) => {
    const said = event.messages.findLast((it) => it.role === "assistant" && text(it.content))
    await report("agent_end", ctx, { last_message: said && text(said.content) })
  })
  pi.on("session_before_compact", async (event, ctx) => {
    await report("session_before_compact", ctx, { trigger: event.reason })
  })
  pi.on("session_compact", async (event, ctx) => {
    await report("session_compact", ctx, { summary: event.compactionEntry?.summary })
    untold = start(ctx, "compact")
  })
  pi.on("session_shutdown", async (event, ctx) => {
    if (event.reason === "reload") return
    await untold
    await report("session_shutdown", ctx, { reason: event.reason })
  })
}
