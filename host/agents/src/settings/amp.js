// Throughline's plugin for Amp: reports what happens in a thread, and shows the agent what is remembered.
// `throughline install --agent amp` writes this file and `throughline uninstall` removes it. Changes are overwritten.
import { spawn } from "node:child_process"

const COMMAND = []
// The seconds that each event may take. An event that is not listed is not reported.
const TIMEOUTS = {}

export default function (amp) {
  const root = amp.system?.workspaceRoot
  const cwd = root ? amp.helpers.filePathFromURI(root) : process.cwd()
  const threads = new Map() // by identifier: the thread of a person, and what it is told first, as a promise

  // Runs the program. Resolves to its answer, and to {} whatever goes wrong: memory must not disturb a thread.
  const report = (event, thread, more = {}) =>
    new Promise((resolve) => {
      if (!TIMEOUTS[event]) return resolve({})
      let out = ""
      try {
        const child = spawn(COMMAND[0], COMMAND.slice(1), { cwd, stdio: ["pipe", "pipe", "ignore"] })
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
        child.stdin.end(JSON.stringify({ hook_event_name: event, session_id: thread, cwd, ...more }))
      } catch {
        resolve({})
      }
    })

  // `root` is the thread that a person sees; `child` is set for the thread of a sub-agent below it.
  const look = async (id, ctx) => {
    const parent = await Promise.resolve(ctx?.thread?.parentThreadID?.()).catch(() => undefined)
    if (parent) return { root: parent, child: id }
    const { context } = await report("session.start", id, { source: "startup" })
    return { root: id, context }
  }
  const known = (event, ctx) => {
    const { id } = event.thread
    if (!threads.has(id)) threads.set(id, look(id, ctx))
    return threads.get(id)
  }
  const text = (content) =>
    typeof content === "string"
      ? content
      : (content ?? []).filter((it) => it.type === "text").map((it) => it.text).join("\n")

  amp.on("agent.start", async (event, ctx) => {
    const thread = await known(event, ctx)
    if (thread.child) return {}
    const { context } = await report("agent.start", thread.root, { prompt: event.message, prompt_id: event.id })
    const content = [thread.context, context].filter(Boolean).join("\n\n")
    // What a thread was told stays in it.
    delete thread.context
    return content ? { message: { content, display: true } } : {}
  })
  amp.on("tool.result", async (event, ctx) => {
    const { root, child } = await known(event, ctx)
    const call = { tool_name: event.tool, tool_use_id: event.toolUseID, tool_input: event.input, agent_id: child }
    const error = event.status === "done" ? undefined : (event.error ?? event.status)
    const outcome = { tool_output: event.output, tool_error: error }
    const { context } = await report("tool.result", root, { ...call, ...outcome })
    if (!context || typeof event.output !== "string") return
    return { status: event.status, error: event.error, output: `${event.output}\n\n${context}` }
  })
  amp.on("agent.end", async (event, ctx) => {
    const { root, child } = await known(event, ctx)
    const said = event.messages?.findLast((it) => it.role === "assistant" && text(it.content))
    await report("agent.end", root, { agent_id: child, last_message: said && text(said.content) })
    return {}
  })
  amp.onDispose?.(async () => {
    const all = await Promise.all(threads.values())
    await Promise.all(all.filter((it) => !it.child).map((it) => report("dispose", it.root)))
  })
}
