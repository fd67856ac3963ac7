// Throughline's plugin for opencode: reports what happens in a session, and shows the agent what is remembered.
// `throughline install --agent opencode` writes this file and `throughline uninstall` removes it. Changes are overwritten.
import { spawn } from "node:child_process"

const COMMAND = []
// The seconds that each event may take. An event that is not listed is not reported.
const TIMEOUTS = {}

export const Throughline = async ({ client, directory }) => {
  const sessions = new Map() // by identifier: what is known of the session, as a promise
  const failed = new Set() // calls whose failure was reported

  // Runs the program. Resolves to its answer, and to {} whatever goes wrong: memory must not disturb a session.
  const report = (event, session, more = {}) =>
    new Promise((resolve) => {
      if (!TIMEOUTS[event]) return resolve({})
      let out = ""
      try {
        const child = spawn(COMMAND[0], COMMAND.slice(1), { cwd: directory, stdio: ["pipe", "pipe", "ignore"] })
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
        child.stdin.end(JSON.stringify({ hook_event_name: event, session_id: session, cwd: directory, ...more }))
      } catch {
        resolve({})
      }
    })

  const start = async (id, source) => {
    const answer = await report("session.created", id, { source })
    if (answer.systemMessage)
      client.tui.showToast({ body: { message: answer.systemMessage, variant: "info" } }).catch(() => {})
    return answer.context
  }
  // `root` is the session that a person sees; `child` is set for the session of a sub-agent below it.
  const look = async (id) => {
    const found = await client.session.get({ path: { id } }).catch(() => undefined)
    const parent = found?.data?.parentID
    if (parent) return { root: (await known(parent)).root, child: id }
    // Also for a session that is continued: what the system prompt had is not kept with the session.
    return { root: id, context: await start(id, "startup") }
  }
  const known = (id) => {
    if (!sessions.has(id)) sessions.set(id, look(id))
    return sessions.get(id)
  }
  const text = (parts) => parts.filter((it) => it.type === "text" && !it.synthetic).map((it) => it.text).join("\n")
  const lastMessage = async (id) => {
    const found = await client.session.messages({ path: { id } }).catch(() => undefined)
    const last = found?.data?.findLast((it) => it.info.role === "assistant" && text(it.parts))
    return last && text(last.parts)
  }
  const used = async (session, call) => {
    const { root, child } = await known(session)
    return report("tool.execute.after", root, { agent_id: child, ...call })
  }

  return {
    "chat.message": async (input, output) => {
      const { root, child } = await known(input.sessionID)
      const prompt = text(output.parts)
      if (child || !prompt) return
      const more = { prompt, prompt_id: output.message.id, model: output.message.model?.modelID }
      const { context } = await report("chat.message", root, more)
      const last = output.parts.at(-1)
      // The identifier sorts behind that of the part before.
      if (context) output.parts.push({ ...last, id: `${last.id}t`, type: "text", text: context, synthetic: true })
    },
    "experimental.chat.system.transform": async (input, output) => {
      if (!input.sessionID) return
      const { context } = await known(input.sessionID)
      if (context) output.system.push(context)
    },
    "tool.execute.after": async (input, output) => {
      const call = { tool_name: input.tool, tool_use_id: input.callID, tool_input: input.args }
      const code = output.metadata?.exit ?? 0
      const { context } = await used(input.sessionID, { ...call, tool_output: output.output, exit_code: code })
      if (context && typeof output.output === "string") output.output += `\n\n${context}`
    },
    "experimental.session.compacting": async (input) => {
      const { root, child } = await known(input.sessionID)
      if (!child) await report("experimental.session.compacting", root)
    },
    event: async ({ event }) => {
      const { sessionID: id, part } = event.properties ?? {}
      if (event.type === "session.compacted") {
        const { root, child } = await known(id)
        if (child) return
        await report("session.compacted", root, { summary: await lastMessage(id) })
        sessions.set(id, start(id, "compact").then((context) => ({ root, context })))
      } else if (event.type === "session.idle") {
        const { root, child } = await known(id)
        await report("session.idle", root, { agent_id: child, last_message: await lastMessage(id) })
      } else if (event.type === "message.part.updated" && part?.type === "tool" && part.state.status === "error") {
        if (failed.has(part.callID)) return
        failed.add(part.callID)
        const call = { tool_name: part.tool, tool_use_id: part.callID, tool_input: part.state.input }
        await used(part.sessionID, { ...call, tool_error: part.state.error })
      }
    },
    dispose: async () => {
      const all = await Promise.all(sessions.values())
      await Promise.all(all.filter((it) => !it.child).map((it) => report("dispose", it.root)))
    },
  }
}
