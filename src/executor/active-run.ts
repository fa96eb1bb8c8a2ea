import type { AdapterHooks } from '../adapters/protocol.ts'
import { Refused } from '../core/errors.ts'
import { type KnownSecrets, redactDeep, redactText } from '../core/redaction.ts'
import { renewAfterMs } from '../core/retry.ts'
import { plainJson, plainText, plainUsage } from '../core/runs/answers.ts'
import type { Stop } from '../core/runs/ending.ts'
import { elapsed, type Heard, heard, type Watch, type Watched } from '../core/runs/watchdog.ts'
import { renewTask, reportProgress } from '../flow/claims.ts'
import { type ProcessIdentity, recordProcess } from '../store/postgres/runs.ts'
import { asAgent, type Held } from './holding.ts'
import type { RunOutput } from './output.ts'
import type { RunReport } from './report.ts'
import type { Workshop } from './workshop.ts'

/** A run that is going on here: what its agent tells is written down, its claim is kept, and it can be stopped. */
export class ActiveRun {
  readonly runId: string
  readonly workspaceId: number
  readonly agent: string
  readonly #workshop: Workshop
  readonly #aborting = new AbortController()
  #held: Held | null = null
  #renewAt = Number.POSITIVE_INFINITY
  #isRenewing = false
  #watch: Watch | null = null
  #report: RunReport | null = null
  #stop: Stop | null = null

  constructor(workshop: Workshop, run: { runId: string; workspaceId: number; agent: string }) {
    this.#workshop = workshop
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

  async #renew(held: Held): Promise<void> {
    const { taskId, session, generation, leaseMs } = held
    const asked = performance.now()
    try {
      const caller = asAgent(this.workspaceId, this.agent)
      await renewTask(this.#workshop.kernel, caller, taskId, { session, generation })
      this.#renewAt = asked + renewAfterMs(leaseMs, Math.random())
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
    const [task] = await this.#workshop.kernel.store.tasksById(this.workspaceId, [innerId])
    return task?.record.generation === generation && task.record.resultHash !== null
  }

  /** What the adapter tells goes through here, without secrets. */
  hooks(output: RunOutput, report: RunReport, secrets: KnownSecrets, watch: Watch): AdapterHooks {
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
        await recordProcess(
          this.#workshop.kernel.store,
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
      this.#workshop.kernel,
      caller,
      taskId,
      { session, generation, ...said } as Parameters<typeof reportProgress>[3],
      null,
    ).catch((error) => {
      if (!(error instanceof Refused)) throw error
      this.#report?.event({ type: 'error', level: 'warn', message: `progress was refused: ${error.code}` })
    })
  }

  #hear(event: Heard): void {
    if (this.#watch) this.#judge(heard(this.#watch, event, performance.now()))
  }

  #judge({ watch, flag, stop }: Watched): void {
    this.#watch = watch
    if (flag) this.#report?.flag(flag)
    if (stop && flag) this.stop({ code: flag.code, reason: flag.detail, byPerson: false })
  }
}
