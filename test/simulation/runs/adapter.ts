import type { AdapterInvokeResult, AgentRunAdapter } from '../../../src/adapters/protocol.ts'
import { sleep, type Timers } from '../../../src/executor/timers.ts'
import type { Machine } from './machine.ts'
import type { RunWorld } from './world.ts'

/** Agents that do whatever the seed says. Each has a program on its machine, which outlives the node that started it. */
export const simulatedAgents = (world: RunWorld, machine: Machine, timers: Timers): AgentRunAdapter => ({
  type: 'scripted',
  protocolVersion: 'agent-run/v1',
  capabilities: { resumableSession: true, statusUpdates: true, logStreaming: true, tokenUsage: true },
  validateConfig: () => ({ ok: true }),
  credentialOf: () => 'the one account',
  async invoke({ runId, task, cwd }, { event, usage, log }, signal) {
    const { random } = world
    const ending = world.calm ? 'succeeds' : random.weighted(ENDINGS)
    const pid = machine.start()
    machine.programs.set(runId, { taskId: task?.id ?? null, generation: task?.generation ?? null })
    world.note(`${runId} starts: it ${ending}`)
    world.work(runId, task ?? null, machine.folders.get(cwd))
    try {
      await event!('process', { pid, startTime: machine.started.get(pid)!, bootId: machine.bootId })
      const tokens = { inputTokens: random.int(1, 1_000), outputTokens: random.int(0, 100) }
      if (random.chance(0.6)) await event!('session', { sessionId: `session ${random.int(1, 3)}` })
      if (random.chance(0.6)) await usage!(tokens)
      if (random.chance(0.3)) await log!({ stream: 'stdout', chunk: '{"said":1}\n' })
      const isDeaf = !world.calm && random.chance(0.05)
      const workMs = ending === 'hangs' ? 3_600_000 : random.int(0, world.calm ? 500 : 20_000)
      if (world.hasMoney)
        await spend(world, workMs, tokens, (soFar) => usage!(soFar), { timers, signal, isDeaf })
      else await sleep(timers, workMs, isDeaf ? undefined : signal)
      if (random.chance(0.3)) await event!('progress', { percent: random.int(0, 100) })
      if (signal.aborted) return { outcome: 'cancelled', exitCode: null, usage: tokens }
      const figures = random.chance(0.7) ? { usage: tokens, costUsd: `0.00${random.int(1, 9_999)}` } : {}
      return { ...ANSWERS[ending](world), ...figures }
    } finally {
      // Ends with its node only if the node has waited for it.
      machine.programs.delete(runId)
    }
  },
})

interface Tokens {
  inputTokens: number
  outputTokens: number
}

/** Works, and uses more and more: what it tells are totals, and now and then it tells the same again. */
async function spend(
  { random }: RunWorld,
  workMs: number,
  tokens: Tokens,
  tell: (soFar: Tokens) => void | Promise<void>,
  { timers, signal, isDeaf }: { timers: Timers; signal: AbortSignal; isDeaf: boolean },
): Promise<void> {
  for (let left = workMs; left > 0 && !signal.aborted; ) {
    const ms = Math.min(left, random.int(200, 4_000))
    await sleep(timers, ms, isDeaf ? undefined : signal)
    left -= ms
    tokens.outputTokens += random.int(0, 500)
    for (let i = random.int(1, 2); i > 0; i--) await tell({ ...tokens })
  }
}

const ENDINGS = {
  succeeds: 6,
  continues: 2,
  fails: 2,
  isLimited: 0.5,
  isBroken: 0.3,
  throws: 0.2,
  hangs: 0.4,
}

const ANSWERS: Record<keyof typeof ENDINGS, (world: RunWorld) => AdapterInvokeResult> = {
  succeeds: () => ({ outcome: 'succeeded', exitCode: 0, result: { done: true } }),
  continues: () => ({ outcome: 'succeeded', exitCode: 0, wantsMore: true }),
  fails: () => ({ outcome: 'failed', exitCode: 1 }),
  isLimited: ({ scheduler, random }) => ({
    ...{ outcome: 'failed', exitCode: 1, errorCode: 'rate_limited' },
    retryAt: random.chance(0.5) ? new Date(scheduler.now + random.int(0, 30_000)).toISOString() : null,
  }),
  isBroken: () => ({ outcome: 'failed', exitCode: 1, errorCode: 'not_logged_in' }),
  throws: () => {
    throw new Error('the adapter has a fault')
  },
  hangs: () => ({ outcome: 'failed', exitCode: null, errorCode: 'nonzero_exit' }),
}
