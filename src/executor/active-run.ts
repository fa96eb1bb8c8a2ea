import type { AdapterHooks } from '../adapters/protocol.ts'
import type { HolderRequest } from '../kinds/replies.ts'
import { plainJson, plainText, plainUsage } from '../kinds/run/rules/answers.ts'
import { agentCalled, processSpawned } from '../kinds/run/rules/appends.ts'
import { acceptWork } from '../kinds/run/rules/callbacks.ts'
import type { Stop } from '../kinds/run/rules/ending.ts'
import type { ProcessIdentity } from '../kinds/run/rules/step.ts'
import {
  elapsed,
  type Heard,
  heard,
  type WatchdogReport,
  type WatchdogState,
} from '../kinds/run/rules/watchdog.ts'
import { renewTask, reportProgress } from '../kinds/task/acts/claims.ts'
import { renewAfterMs } from '../kinds/task/rules/retry.ts'
import { Refused } from '../pure/errors.ts'
import { type KnownSecrets, redactDeep, redactText } from '../pure/secrets/redaction.ts'
import type { TracedRun } from '../pure/trace.ts'
import { AddedTasks } from './added-tasks.ts'
import type { ExecutorContext } from './context.ts'
import { asAgent, type Held, lengthenLease } from './holding.ts'
import type { RunOutput } from './output.ts'
import type { RunReport } from './report.ts'
import { type RequestsFile, type RequestToProgram, warningOf } from './requests-file.ts'
import type { RunSecrets } from './run-secrets.ts'
import { callOf } from './told.ts'

const NO_REQUESTS = '[]'

/** A run in progress on this node. Records what its agent reports, renews its claim, and can stop it. */
export class ActiveRun {
  readonly runId: string
  readonly workspaceId: number
  readonly agent: string
  readonly added: AddedTasks
  readonly #context: ExecutorContext
  readonly #aborting = new AbortController()
  #held: Held | null = null
  #renewAt = Number.POSITIVE_INFINITY
  #isRenewing = false
  #asked = ''
  #requests = NO_REQUESTS
  #requestsFile: RequestsFile | null = null
  #isClosed = false
  #watch: WatchdogState | null = null
  #report: RunReport | null = null
  #stop: Stop | null = null
  #timesOutAt = Number.POSITIVE_INFINITY
  /** The last progress of its task that was taken for a sign of life, by the database's clock. */
  #progressAt = 0
  #isAskingForProgress = false
  #isSilenceConfirmed = false
  #isAccepted = false
  #isLeft = false
  #trace: TracedRun | null = null

  constructor(context: ExecutorContext, run: { runId: string; workspaceId: number; agent: string }) {
    this.#context = context
    this.runId = run.runId
    this.workspaceId = run.workspaceId
    this.agent = run.agent
    this.added = new AddedTasks(context, run)
  }

  get signal(): AbortSignal {
    return this.#aborting.signal
  }

  get stopped(): Stop | null {
    return this.#stop
  }

  /** Its agent has the work and answers by callbacks: the run can go on with another node. */
  get isAccepted(): boolean {
    return this.#isAccepted
  }

  /** Another node continues it: this one must not end it. */
  get isLeft(): boolean {
    return this.#isLeft
  }

  leave(): void {
    this.#isLeft = true
    this.#context.callbacks.leave(this.runId)
  }

  /** Only the first reason counts. */
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

  setClaim(held: Held): void {
    this.#held = held
    this.#renewAt = this.#context.timers.now() + renewAfterMs(held.leaseMs, this.#context.timers.random())
  }

  /** The claim was last renewed by another node. */
  takeOver(held: Held | null): void {
    this.#isAccepted = true
    if (!held) return
    this.setClaim(held)
    this.#renewSoon()
  }

  timesOutIn(ms: number): void {
    this.#timesOutAt = this.#context.timers.now() + ms
  }

  /** The run is over, and so are the requests to its agent. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#requestsFile?.remove()
  }

  /** Called by the executor four times a second. */
  tick(): void {
    this.#report?.tick()
    if (this.#watch) this.#judge(elapsed(this.#watch, this.#context.timers.now()))
    if (this.#held && this.#context.timers.now() >= this.#renewAt && !this.#isRenewing) {
      this.#isRenewing = true
      void this.#renew(this.#held).finally(() => {
        this.#isRenewing = false
      })
    }
  }

  /** Null: nothing is traced. */
  traceAs(trace: TracedRun | null): void {
    this.#trace = trace
  }

  writeRequestsTo(file: RequestsFile | null): void {
    this.#requestsFile = file
  }

  /**
   * The task is suspected to hang since this time, or a person said something then. Renews at once: the reply carries the requests
   * to the agent.
   */
  ask({ suspectedAt, toldAt }: { suspectedAt: number | null; toldAt: number | null }): void {
    const asked = `${suspectedAt} ${toldAt}`
    if (asked === this.#asked) return
    this.#asked = asked
    this.#renewSoon()
  }

  #renewSoon(): void {
    // The result may be submitted already; then there is no claim to renew.
    if (this.#renewAt !== Number.POSITIVE_INFINITY) this.#renewAt = this.#context.timers.now()
  }

  /** Forwards requests to the agent, in a file for programs. Replies to callbacks have them, too. */
  async #forwardRequests(requests: readonly RequestToProgram[]): Promise<void> {
    const serialized = JSON.stringify(requests)
    if (serialized === this.#requests || this.#isClosed) return
    const known = new Set(
      (JSON.parse(this.#requests) as RequestToProgram[]).map((one) => JSON.stringify(one)),
    )
    this.#requests = serialized
    for (const { type, ...payload } of requests.filter((one) => !known.has(JSON.stringify(one))))
      this.#report?.event({ type: 'structured', level: 'warn', message: `request: ${type}`, payload })
    await this.#requestsFile?.write(requests).catch((error) => {
      this.#context.log.warn(
        { err: error, runId: this.runId },
        'requests could not be forwarded to the agent',
      )
    })
  }

  async #renew(held: Held): Promise<void> {
    const { uuid, session, generation, leaseMs } = held
    const requestedAt = this.#context.timers.now()
    try {
      const caller = asAgent(this.workspaceId, this.agent)
      const answer = await renewTask(this.#context.kernel, caller, uuid, { session, generation })
      this.#renewAt = requestedAt + renewAfterMs(leaseMs, this.#context.timers.random())
      const messages = answer.messages.map((one) => ({ type: 'message', ...one }) as const)
      const requests = answer.requests as HolderRequest[]
      await this.#forwardRequests([...requests, ...messages, ...warningOf(answer.budget)])
    } catch (error) {
      // The database is unreachable: try again. The lease outlasts a few attempts.
      this.#renewAt = this.#context.timers.now() + 1_000
      if (!(error instanceof Refused)) return
      const isSubmitted = await this.#isSubmitted(held).catch(() => null)
      if (isSubmitted) this.#renewAt = Number.POSITIVE_INFINITY
      else if (isSubmitted === false)
        this.stop({ code: 'claim_lost', reason: `The claim was lost (${error.code}).`, byPerson: false })
    }
  }

  /** The agent's own program may have ended the claim and still write its last output. */
  async #isSubmitted({ taskId, generation }: Held): Promise<boolean> {
    const [task] = await this.#context.kernel.store.tasksById(this.workspaceId, [taskId])
    if (task?.record.generation !== generation) return false
    const { resultHash, state, continuation } = task.record
    return (
      resultHash !== null || state === 'awaiting_human' || continuation?.goesOn?.generation === generation + 1
    )
  }

  /** Everything the adapter reports passes here; secrets are redacted. */
  hooks(output: RunOutput, report: RunReport, secrets: RunSecrets, watch: WatchdogState): AdapterHooks {
    this.#report = report
    this.#watch = watch
    return {
      status: async ({ message, color = 'neutral' }) =>
        report.status(redactText(plainText(message), await secrets.current()).slice(0, 500), color),
      log: async ({ stream, chunk }) => {
        this.#observe({ kind: 'output' })
        await output.take(stream, chunk)
      },
      usage: async (reported) => {
        const usage = plainUsage(reported)
        if (!usage) return
        report.used(usage)
      },
      event: async (type, reported) => {
        if (type === 'invocation') return this.#called(reported, await secrets.current())
        const payload = plainJson(reported) as Record<string, unknown>
        await this.#event(plainText(type), redactDeep(payload, await secrets.current()), report)
      },
    }
  }

  async #event(type: string, payload: Record<string, unknown>, report: RunReport): Promise<void> {
    switch (type) {
      case 'process':
        await this.#context.kernel.step(
          { workspaceId: this.workspaceId },
          processSpawned(this.runId, payload as unknown as ProcessIdentity),
        )
        report.event({ type: 'lifecycle', level: 'info', message: 'spawned', payload })
        return this.#observe({ kind: 'output' })
      case 'accepted':
        return this.#accept(payload.state as Record<string, unknown>, report)
      case 'session':
        if (typeof payload.sessionId === 'string') await report.session(payload.sessionId)
        return
      case 'progress':
        return this.#progress({
          percent: payload.percent as number | undefined,
          step: payload.step as string | undefined,
        })
      case 'task':
        return this.#addTask(payload, report)
      case 'checkpoint':
        return this.#progress({ checkpointData: payload.data })
      case 'call':
        this.#traceCall(payload)
        return this.#observe({
          kind: 'call',
          signature: String(payload.signature),
          isError: payload.isError === true,
        })
      case 'activity':
        return this.#observe({ kind: 'activity' })
      // Being alive is not progress.
      case 'heartbeat':
        return this.#observe({ kind: 'output' })
      default:
        report.event({ type: 'structured', message: type, payload })
    }
  }

  /** Of a call only its tool is sent: its arguments may hold secrets. */
  #traceCall({ signature, isError, tookMs }: Record<string, unknown>): void {
    const { traces } = this.#context
    if (!traces || !this.#trace) return
    const endedAt = Date.now()
    traces.toolCalled(this.#trace, {
      tool: String(signature).split(' ', 1)[0]!.slice(0, 100),
      ...{ isError: isError === true, endedAt },
      startedAt: typeof tookMs === 'number' ? endedAt - tookMs : endedAt,
    })
  }

  /** How its agent is called, on record before it is. */
  async #called(reported: unknown, secrets: KnownSecrets): Promise<void> {
    const call = callOf(reported, secrets)
    if (call)
      await this.#context.kernel.step({ workspaceId: this.workspaceId }, agentCalled(this.runId, call))
  }

  /** On record before anything else: from here on the run survives this node. */
  async #accept(state: Record<string, unknown>, report: RunReport): Promise<void> {
    const { kernel, timers } = this.#context
    const withinMs = Math.max(0, this.#timesOutAt - timers.now())
    const accepted = acceptWork(this.runId, { state, withinMs })
    this.#isAccepted = await kernel.step({ workspaceId: this.workspaceId }, accepted)
    report.event({ type: 'lifecycle', level: 'info', message: 'accepted' })
    // The claim must last while no node renews it.
    if (this.#held) this.setClaim(await lengthenLease(kernel, this.workspaceId, this.#held, withinMs))
  }

  /** What the agent reports becomes the progress of its task, if it has one. An invalid report is refused, nothing more. */
  async #progress(reported: {
    percent?: number | undefined
    step?: string | undefined
    checkpointData?: unknown
  }): Promise<void> {
    this.#observe({ kind: 'activity' })
    if (!this.#held) return
    const { uuid, session, generation } = this.#held
    const caller = asAgent(this.workspaceId, this.agent)
    const body = { session, generation, ...reported } as Parameters<typeof reportProgress>[3]
    try {
      const { task } = await reportProgress(this.#context.kernel, caller, uuid, body, null)
      this.#progressAt = Date.parse(task.updatedAt)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      this.#report?.event({ type: 'error', level: 'warn', message: `progress was refused: ${error.code}` })
    }
    // This may answer a pending request; a renewal returns the requests that remain.
    if (this.#requests !== NO_REQUESTS) this.#renewSoon()
  }

  async #addTask(reported: Record<string, unknown>, report: RunReport): Promise<void> {
    this.#observe({ kind: 'activity' })
    const why = await this.added.add(this.#held, reported)
    if (why !== null)
      report.event({ type: 'error', level: 'warn', message: `the task was not added: ${why}` })
  }

  #observe(event: Heard): void {
    this.#isSilenceConfirmed = false
    if (this.#watch) this.#judge(heard(this.#watch, event, this.#context.timers.now()))
  }

  #judge({ watch, flag, stop }: WatchdogReport): void {
    if (flag?.code === 'stalled' && this.#held && !this.#isSilenceConfirmed) {
      this.#askForProgress(this.#held)
      return
    }
    this.#watch = watch
    if (flag) this.#report?.flag(flag)
    if (stop && flag) this.stop({ code: flag.code, reason: flag.detail, byPerson: false })
  }

  /** Before a silent run is stopped: its program may have reported progress with the token of the run, past this node. */
  #askForProgress({ taskId, generation }: Held): void {
    if (this.#isAskingForProgress) return
    this.#isAskingForProgress = true
    const heardAt = this.#watch?.heardAt
    const asked = this.#context.kernel.store.recordsById(this.workspaceId, [taskId]).then(([record]) => {
      if (this.#watch?.heardAt !== heardAt) return
      const at = record?.generation === generation ? (record.timers?.progressAt ?? 0) : 0
      if (at <= this.#progressAt) this.#isSilenceConfirmed = true
      else {
        this.#progressAt = at
        this.#observe({ kind: 'activity' })
      }
    })
    // The database is unreachable: the next tick asks again.
    void asked
      .catch(() => undefined)
      .finally(() => {
        this.#isAskingForProgress = false
      })
  }
}
