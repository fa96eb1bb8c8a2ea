import type { Callbacks, Expected } from '../../../src/adapters/callbacks.ts'
import type { AdapterHooks, AdapterInvokeResult, AgentRunAdapter } from '../../../src/adapters/protocol.ts'
import { usageIn } from '../../../src/adapters/reported.ts'
import { sleep, type Timers } from '../../../src/executor/timers.ts'
import { takeCallback } from '../../../src/kinds/run/rules/callbacks.ts'
import type { CallbackMessage } from '../../../src/kinds/run/shapes/callbacks.ts'
import type { RunWorld } from './world.ts'

/** Agents on machines of their own, which accept their work and answer later. No node that dies takes one with it. */

const SILENCE_MS = 30_000

export const laterAgents = (world: RunWorld, callbacks: Callbacks, timers: Timers): AgentRunAdapter => ({
  type: 'later',
  protocolVersion: 'agent-run/v1',
  capabilities: { resumableSession: true, statusUpdates: true, logStreaming: true, tokenUsage: true },
  usesFolder: false,
  validateConfig: () => ({ ok: true }),
  credentialOf: () => 'the one account',
  async invoke({ runId }, hooks, signal) {
    const expected = await callbacks.expect(runId)
    world.later.ask(runId)
    // Its 202 is on its way.
    await sleep(timers, world.random.int(0, 200), signal)
    if (signal.aborted) return CANCELLED
    await hooks.event!('accepted', { state: { asked: runId } })
    return answerIn(expected, hooks, signal)
  },
  async resume({ runId }, hooks, signal) {
    world.later.resumed.add(runId)
    return answerIn(await callbacks.expect(runId), hooks, signal)
  },
})

const CANCELLED: AdapterInvokeResult = { outcome: 'cancelled', exitCode: null }

async function answerIn(
  expected: Expected,
  { usage }: AdapterHooks,
  signal: AbortSignal,
): Promise<AdapterInvokeResult> {
  for (;;) {
    const heard = await expected.next(SILENCE_MS, signal)
    if (heard?.kind === 'heartbeat') await usage!(usageIn(heard.usage)!)
    else if (heard?.kind === 'result') return { outcome: 'succeeded', exitCode: null, result: heard.result }
    else if (heard?.kind === 'failure') return { outcome: 'failed', exitCode: null, errorCode: 'api_error' }
    else if (heard === null && !signal.aborted)
      return { outcome: 'failed', exitCode: null, errorCode: 'timeout' }
    else return CANCELLED
  }
}

/** The agents themselves. */
export class LaterAgents {
  readonly #world: RunWorld
  readonly asked: string[] = []
  readonly resumed = new Set<string>()
  /** Runs whose answer was taken. */
  readonly answered = new Map<string, CallbackMessage['kind']>()

  constructor(world: RunWorld) {
    this.#world = world
  }

  ask(runId: string): void {
    this.asked.push(runId)
    void this.#work(runId).catch((error) => this.#world.fault(error, 'an agent that answers later'))
  }

  async #work(runId: string): Promise<void> {
    const { random, scheduler, calm } = this.#world
    for (let beats = random.int(0, 2); beats > 0; beats--) {
      await scheduler.sleep(random.int(0, 10_000), `${runId} works`)
      const usage = { inputTokens: random.int(1, 100), outputTokens: random.int(1, 100) }
      await this.#say(runId, { kind: 'heartbeat', usage })
    }
    await scheduler.sleep(random.int(0, 20_000), `${runId} works`)
    // Some never answer.
    if (!calm && random.chance(0.1)) return
    const fails = !calm && random.chance(0.2)
    const answer = fails
      ? ({ kind: 'failure', message: 'no' } as const)
      : ({ kind: 'result', result: runId } as const)
    const delivery = await this.#say(runId, answer)
    if (delivery === 'taken') this.answered.set(runId, answer.kind)
    // A second answer is never taken.
    if ((await this.#say(runId, answer)) === 'taken') this.#world.breaks('oneAnswer', runId)
  }

  async #say(runId: string, message: CallbackMessage) {
    const { outside, workspace, alive, random } = this.#world
    const delivery = await outside.store.transact(workspace, takeCallback(runId, message))
    // The hint may be lost.
    if (random.chance(0.7)) for (const { context } of alive) context.callbacks.wake(runId)
    return delivery
  }
}
