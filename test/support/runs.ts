import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { WebSocket } from 'ws'
import { type Call, scriptOf } from './clis/runs.ts'
import { type Json, openWorkspace, type Task } from './http-workspace.ts'
import { eventually } from './recovery.ts'
import { type ServerUnderTest, startServer } from './server.ts'

/** Agents that Baton runs, over HTTP: on the fake programs, or on any script. */

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers as a client would
export type Seen = any

/** Settings of an agent beside its program: `env` and `config` go to its adapter, the rest to the agent itself. */
export interface AgentSettings extends Json {
  env?: Record<string, string>
  config?: Json
}

/** A server that runs agents, for a file of tests; with this in its own environment. */
export function useFleets(env: Record<string, string> = {}) {
  let server: ServerUnderTest
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'baton-runs-'))
    server = await startServer({ PATH: process.env.PATH!, HOME: folder, ...env })
  })
  afterAll(async () => {
    await server.close()
    await rm(folder, { recursive: true, force: true })
  })
  return {
    served: () => server,
    folder: () => folder,
    fleet: (limits?: Json) => openFleet(server, folder, limits),
  }
}

/** A new workspace, and agents in it that Baton runs. */
export async function openFleet(server: Pick<ServerUnderTest, 'call'>, folder: string, limits?: Json) {
  const w = await openWorkspace(server, limits)
  const freshHome = () => mkdtemp(join(folder, 'home-'))

  async function put(slug: string, body: Json): Promise<Seen> {
    const answer = await w.call('PUT', `/agents/${slug}`, body)
    expect(answer.body).toMatchObject({ slug })
    return answer.body
  }

  /** An agent on a fake program that behaves as `mode` says. */
  async function onCli(
    program: string,
    slug: string,
    mode: string,
    { env, config, ...more }: AgentSettings = {},
  ) {
    const home = await freshHome()
    await put(slug, {
      adapterType: `${program}_local`,
      adapterConfig: {
        command: scriptOf(program),
        cwd: home,
        graceSec: 1,
        env: { FAKE_CLI_HOME: home, ...(mode !== '' && { FAKE_CLI: mode }), ...env },
        ...config,
      },
      ...more,
    })
    return { slug, home, calls: () => callsIn(home) }
  }

  /** An agent that is this script. */
  async function script(slug: string, source: string, { env, config, ...more }: AgentSettings = {}) {
    const home = await freshHome()
    await put(slug, {
      adapterType: 'process',
      adapterConfig: {
        command: process.execPath,
        args: ['--input-type=module', '--eval', source],
        cwd: home,
        graceSec: 1,
        env: env ?? {},
        ...config,
      },
      ...more,
    })
    return { slug, home }
  }

  /** The oldest first. */
  const runsOf = async (slug: string): Promise<Seen[]> =>
    (await w.call('GET', `/agents/${slug}/runs?limit=200&include=result`)).body.items.reverse()
  const run = async (id: string): Promise<Seen> => (await w.call('GET', `/runs/${id}`)).body
  const agent = async (slug: string): Promise<Seen> => (await w.call('GET', `/agents/${slug}`)).body
  const log = async (id: string, query = ''): Promise<Seen> =>
    (await w.call('GET', `/runs/${id}/log${query}`)).body

  return {
    ...w,
    put,
    script,
    freshHome,
    claude: (slug: string, mode = '', more?: AgentSettings) => onCli('claude', slug, mode, more),
    codex: (slug: string, mode = '', more?: AgentSettings) => onCli('codex', slug, mode, more),
    gemini: (slug: string, mode = '', more?: AgentSettings) => onCli('gemini', slug, mode, more),
    opencode: (slug: string, mode = '', more?: AgentSettings) => onCli('opencode', slug, mode, more),
    runsOf,
    run,
    agent,
    log,
    /** A task reserved for this agent. */
    assign: (slug: string, more: Json = {}): Promise<Seen> => w.make({ agent: slug, ...more }),
    wake: async (slug: string, more: Json = {}): Promise<Seen> =>
      (await w.post(`/agents/${slug}/wakeup`, more)).body.wakeup,
    wakeups: async (slug: string): Promise<Seen[]> =>
      (await w.call('GET', `/agents/${slug}/wakeups?limit=200&include=payload`)).body.items.reverse(),
    timeline: async (id: string): Promise<Seen[]> =>
      (await w.call('GET', `/runs/${id}/events?limit=200`)).body.items,
    /** The first so many runs of an agent, when they are over. */
    over: (slug: string, count = 1): Promise<Seen[]> =>
      eventually(async () => {
        const over = (await runsOf(slug)).filter(({ finishedAt }) => finishedAt !== null)
        return over.length >= count && over
      }),
    /** A run of the agent that has printed this. */
    saying: (slug: string, text: string): Promise<Seen> =>
      eventually(async () => {
        for (const one of await runsOf(slug))
          if (one.status === 'running' && (await log(one.id)).content.includes(text)) return run(one.id)
      }),
    isIn: (slug: string, state: string): Promise<Seen> =>
      eventually(async () => {
        const seen = await agent(slug)
        return seen.state === state && seen
      }),
    /** A whole pass of the coordinator, now. */
    pass: async () => expect((await w.post('/coordinator/recover')).status).toBe(200),
    taskIn: (task: Task, state: string): Promise<Seen> =>
      eventually(async () => {
        const seen = await w.read(task)
        return seen.state === state && seen
      }),
    resultsOf: async (task: Task): Promise<Seen[]> => (await w.read(task, '/results')).items,
  }
}
export type Fleet = Awaited<ReturnType<typeof openFleet>>

/** How often, and with what, a fake program was called. */
export function callsIn(home: string): Call[] {
  const file = join(home, 'calls.jsonl')
  if (!existsSync(file)) return []
  // Whole lines: the program may be about to write the last one.
  return readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}

/** The number that a script wrote into a file of its folder, once it is there. */
export const numberIn = (home: string, name: string): Promise<number> =>
  eventually(async () => {
    const file = join(home, name)
    return existsSync(file) && Number(readFileSync(file, 'utf8'))
  })

/** A client on a WebSocket, and everything it received. */
export async function listen(api: string, key: string, query = '') {
  const ws = new WebSocket(`${api.replace('http', 'ws')}/events/ws${query}`, {
    headers: { authorization: `Bearer ${key}` },
  })
  const events: Seen[] = []
  const outputs: Seen[] = []
  const replies: Seen[] = []
  ws.on('message', (data) => {
    const frame = JSON.parse(data.toString())
    if (frame.events) events.push(...frame.events)
    if (frame.output) outputs.push(frame.output)
    if (frame.following || frame.refused) replies.push(frame)
  })
  await once(ws, 'open')
  const hears = (type: string, about: Json = {}): Promise<Seen> =>
    eventually(async () =>
      events.find(
        (event) =>
          event.type === type &&
          Object.entries(about).every(([name, value]) => (event.payload[name] ?? event[name]) === value),
      ),
    )
  const text = (runId: string, stream: string) =>
    outputs
      .filter((one) => one.runId === runId && one.stream === stream)
      .map(({ chunk }) => chunk)
      .join('')
  /** Sends a message, and returns the reply to it. */
  const asks = async (message: unknown): Promise<Seen> => {
    const before = replies.length
    ws.send(JSON.stringify(message))
    return eventually(async () => replies[before])
  }
  return {
    events,
    outputs,
    hears,
    asks,
    text,
    leave: async () => {
      const closed = once(ws, 'close')
      ws.close()
      await closed
    },
  }
}

/** Each source is one line or more of an agent's script. */
export const scripts = {
  /** Prints that it has started, and runs until it is ended. */
  stays: `console.log('up'); setInterval(() => {}, 60_000)`,
  /** A grandchild of it has a session of its own and lost its parent: neither its group nor the process tree leads to it. */
  withGrandchild: `
    import { spawn } from 'node:child_process'
    import { once } from 'node:events'
    import { writeFileSync } from 'node:fs'
    const between = [
      'const { spawn } = require("node:child_process")',
      'const lasts = "setInterval(() => {}, 60_000)"',
      'const child = spawn(process.execPath, ["-e", lasts], { detached: true, stdio: "ignore" })',
      'require("node:fs").writeFileSync("grandchild.pid", String(child.pid))',
      'child.unref()',
    ]
    await once(spawn(process.execPath, ['-e', between.join(';')], { stdio: 'ignore' }), 'exit')
    writeFileSync('own.pid', String(process.pid))
    console.log('up')
    setInterval(() => {}, 60_000)`,
  /** Its input, as its result. */
  echoes: `
    let prompt = ''
    for await (const chunk of process.stdin.setEncoding('utf8')) prompt += chunk
    console.log(JSON.stringify({ result: { prompt }, summary: 'echoed' }))`,
}
