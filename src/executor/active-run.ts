import type { AdapterHooks } from '../adapters/protocol.ts'
import { Refused } from '../core/errors.ts'
import { type KnownSecrets, redactDeep, redactText } from '../core/redaction.ts'
import type { HolderRequest } from '../core/replies.ts'
import { renewAfterMs } from '../core/retry.ts'
import { plainJson, plainText, plainUsage } from '../core/runs/answers.ts'
import type { Stop } from '../core/runs/ending.ts'
import { elapsed, type Heard, heard, type WatchdogReport, type WatchdogState } from '../core/runs/watchdog.ts'
import { renewTask, reportProgress } from '../flow/claims.ts'
import type { ProcessIdentity } from '../store/server-store.ts'
import type { ExecutorContext } from './context.ts'
import { asAgent, type Held } from './holding.ts'
import type { RunOutput } from './output.ts'
import type { RunReport } from './report.ts'
import type { RequestsFile } from './requests-file.ts'

const NOTHING_ASKED = '[]'

/** A run that is going on here: what its agent tells is written down, its claim is kept, and it can be stopped. */
export class ActiveRun {
  readonly runId: string
  readonly workspaceId: number
  readonly agent: string
  readonly #context: ExecutorContext
  readonly #aborting = new AbortController()
  #held: Held | null = null
  #renewAt = Number.POSITIVE_INFINITY
  #isRenewing = false
  #suspectedAt: number | null = null
  #requests = NOTHING_ASKED
  #requestsFile: RequestsFile | null = null
  #isClosed = false
  #watch: WatchdogState | null = null
  #report: RunReport | null = null
  #stop: Stop | null = null

  constructor(context: ExecutorContext, run: { runId: string; workspaceId: number; agent: string }) {
    this.#context = context
    this.runId = run.runId
    this.workspaceId = run.workspaceId
    this.agent = run.agent
  }

  get signal(): AbortSignal {
    return this.#aborting.signal
  }

  get stopped(): Stop | null {
    return this.#stop
  }

  /** Once: the first reason counts. */
  stop(stop: Stop): void {
    if (this.#stop) return
    this.#stop = stop
    this.#report?.event({
      type: 'lifecycle',
      level: 'warn',
      message: `stopping: ${stop.reason}`,
      payload: { code: stop.code },
    })
    this.#aborting.abort()
  }

  holds(held: Held): void {
    this.#held = held
    this.#renewAt = performance.now() + renewAfterMs(held.leaseMs, Math.random())
  }

  /** It is over, and so is what was asked of it. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#context.requests.delete(this.runId)
    await this.#requestsFile?.remove()
  }

  /** What the executor does for it every second. */
  tick(): void {
    if (this.#watch) this.#judge(elapsed(this.#watch, performance.now()))
    if (this.#held && performance.now() >= this.#renewAt && !this.#isRenewing) {
      this.#isRenewing = true
      void this.#renew(this.#held).finally(() => {
        this.#isRenewing = false
      })
    }
  }

  passesRequestsOnTo(file: RequestsFile | null): void {
    this.#requestsFile = file
  }

  /** Since then its task is suspected to hang. What is asked of its agent is in the answer to a renewal, which comes at once. */
  suspect(since: number): void {
    if (since === this.#suspectedAt) return
    this.#suspectedAt = since
    this.#renewSoon()
  }

  #renewSoon(): void {
    // Its work may be handed in already: then there is no claim to renew.
    if (this.#renewAt !== Number.POSITIVE_INFINITY) this.#renewAt = performance.now()
  }

  /** To whoever can hear it: callbacks are answered with it, and programs find it in a file. */
  async #passOn(requests: readonly HolderRequest[]): Promise<void> {
    const asked = JSON.stringify(requests)
    if (asked === this.#requests || this.#isClosed) return
    this.#requests = asked
    this.#context.requests.set(this.runId, requests)
    for (const { type, ...payload } of requests)
      this.#report?.event({ type: 'structured', level: 'warn', message: `asked: ${type}`, payload })
    await this.#requestsFile?.write(requests).catch((error) => {
      this.#context.log.warn({ err: error, runId: this.runId }, 'requests could not be passed on')
    })
  }

  async #renew(held: Held): Promise<void> {
    const { taskId, session, generation, leaseMs } = held
    const asked = performance.now()
    try {
      const caller = asAgent(this.workspaceId, this.agent)
      const answer = await renewTask(this.#context.kernel, caller, taskId, { session, generation })
      this.#renewAt = asked + renewAfterMs(leaseMs, Math.random())
      await this.#passOn(answer.requests as HolderRequest[])
    } catch (error) {
      // The database is away; it is tried again, and the lease outlasts a few tries.
      this.#renewAt = performance.now() + 1_000
      if (!(error instanceof Refused)) return
      const isHandedIn = await this.#isHandedIn(held).catch(() => null)
      if (isHandedIn) this.#renewAt = Number.POSITIVE_INFINITY
      else if (isHandedIn === false)
        this.stop({ code: 'claim_lost', reason: `Its claim is gone (${error.code}).`, byPerson: false })
    }
  }

  /** Its own program may have ended its claim, and have a few words left. */
  async #isHandedIn({ innerId, generation }: Held): Promise<boolean> {
    const [task] = await this.#context.kernel.store.tasksById(this.workspaceId, [innerId])
    return task?.record.generation === generation && task.record.resultHash !== null
  }

  /** What the adapter tells goes through here, without secrets. */
  hooks(output: RunOutput, report: RunReport, secrets: KnownSecrets, watch: WatchdogState): AdapterHooks {
    this.#report = report
    this.#watch = watch
    return {
      status: async ({ message, color = 'neutral' }) =>
        report.status(redactText(plainText(message), secrets).slice(0, 500), color),
      log: async ({ stream, chunk }) => {
        this.#hear({ kind: 'output' })
        await output.take(stream, chunk)
      },
      usage: async (said) => {
        const usage = plainUsage(said)
        if (usage) report.used(usage)
      },
      event: async (type, said) => {
        const payload = plainJson(said) as Record<string, unknown>
        await this.#event(plainText(type), redactDeep(payload, secrets), report)
      },
    }
  }

  async #event(type: string, payload: Record<string, unknown>, report: RunReport): Promise<void> {
    switch (type) {
      case 'process':
        await this.#context.kernel.store.runs.recordProcess(
          this.workspaceId,
          this.runId,
          payload as unknown as ProcessIdentity,
        )
        report.event({ type: 'lifecycle', level: 'info', message: 'spawned', payload })
        return
      case 'session':
        if (typeof payload.sessionId === 'string') await report.session(payload.sessionId)
        return
      case 'progress':
        return this.#progress({
          percent: payload.percent as number | undefined,
          step: payload.step as string | undefined,
        })
      case 'checkpoint':
        return this.#progress({ checkpointData: payload.data })
      case 'call':
        return this.#hear({
          kind: 'call',
          signature: String(payload.signature),
          isError: payload.isError === true,
        })
      case 'activity':
        return this.#hear({ kind: 'activity' })
      // Alive, which is no progress.
      case 'heartbeat':
        return this.#hear({ kind: 'output' })
      default:
        report.event({ type: 'structured', message: type, payload })
    }
  }

  /** What its agent says of itself is the task's progress, if it is about one. Nonsense costs it nothing but that. */
  async #progress(said: {
    percent?: number | undefined
    step?: string | undefined
    checkpointData?: unknown
  }): Promise<void> {
    this.#hear({ kind: 'activity' })
    if (!this.#held) return
    const { taskId, session, generation } = this.#held
    const caller = asAgent(this.workspaceId, this.agent)
    await reportProgress(
      this.#context.kernel,
      caller,
      taskId,
      { session, generation, ...said } as Parameters<typeof reportProgress>[3],
      null,
    ).catch((error) => {
      if (!(error instanceof Refused)) throw error
      this.#report?.event({ type: 'error', level: 'warn', message: `progress was refused: ${error.code}` })
    })
    // An answer to what it was asked: how that stands from now on, a renewal tells.
    if (this.#requests !== NOTHING_ASKED) this.#renewSoon()
  }

  #hear(event: Heard): void {
    if (this.#watch) this.#judge(heard(this.#watch, event, performance.now()))
  }

  #judge({ watch, flag, stop }: WatchdogReport): void {
    this.#watch = watch
    if (flag) this.#report?.flag(flag)
    if (stop && flag) this.stop({ code: flag.code, reason: flag.detail, byPerson: false })
  }
}
