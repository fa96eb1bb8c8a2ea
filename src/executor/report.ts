import type { RunStore } from '../kernel/store/run-store.ts'
import type { RunEnd } from '../kinds/run/record.ts'
import { type OverBudget, reportRun } from '../kinds/run/rules/report.ts'
import type { NewRunEvent } from '../kinds/run/rules/step.ts'
import type { TokenUsage } from '../kinds/run/rules/usage.ts'
import type { ModelTotals } from '../kinds/usage/record.ts'
import { PRICED_EVERY_MS, type Timed } from '../kinds/usage/rules/time.ts'
import type { Timers } from './timers.ts'

const WRITE_EVERY_MS = 500
const REPORT_USAGE_EVERY_MS = 5_000
/** The ledger has at most one row a second of a run. */
const BOOK_EVERY_MS = 1_000
/** Beyond this, further events of the run are dropped. */
const MOST_EVENTS = 10_000
const MOST_WAITING = 500

interface Flag {
  code: string
  detail: string
}

export interface ReportedRun {
  workspaceId: number
  runId: string
  agent: string
  task: RunEnd['task']
}

export interface Bills {
  /** What the usage so far costs, by model. */
  bill: (usage: TokenUsage) => Promise<Readonly<Record<string, ModelTotals>>>
  /** What its time costs. */
  time?: Timed | undefined
  /** What it has used is more than a budget has. */
  stop: (over: OverBudget) => void
}

/** Reports how a run proceeds, in batches. What is written survives the loss of the run. */
export class RunReport {
  readonly #store: RunStore
  readonly #run: ReportedRun
  readonly #billing: Bills
  readonly #warn: (error: unknown) => void
  #usage: TokenUsage | null = null
  #sessionId: string | null = null
  #status: { message: string; color: string } | null = null
  #flags: Flag[] = []
  #events: NewRunEvent[] = []
  #seq: number
  #isChanged = false
  #isUsageUntold = false
  #isUnbooked = false
  #isTimeUnbooked = false
  #bookedAt = Number.NEGATIVE_INFINITY
  #timeFrom: number
  /** The number of the last booking. */
  #booking: number
  #usageToldAt = Number.NEGATIVE_INFINITY
  readonly #timers: Timers
  #cancelWrite: (() => void) | null = null
  #writing: Promise<void> = Promise.resolve()

  constructor(
    store: RunStore,
    run: ReportedRun,
    billing: Bills,
    warn: (error: unknown) => void,
    timers: Timers,
    /** What another node has reported of the run already. */
    before: {
      lastSeq: number
      booking: number
      usage: TokenUsage | null
      sessionId: string | null
    } | null = null,
  ) {
    this.#seq = (before?.lastSeq ?? 0) + 1
    this.#booking = before?.booking ?? 0
    this.#billing = billing
    this.#usage = before?.usage ?? null
    this.#sessionId = before?.sessionId ?? null
    this.#timers = timers
    this.#timeFrom = timers.now()
    this.#store = store
    this.#run = run
    this.#warn = warn
  }

  get usage(): TokenUsage | null {
    return this.#usage
  }

  get sessionId(): string | null {
    return this.#sessionId
  }

  status(message: string, color: string): void {
    this.#status = { message, color }
    this.#changed()
    this.event({
      type: 'status',
      level: color === 'red' ? 'error' : color === 'yellow' ? 'warn' : 'info',
      color,
      message,
    })
  }

  used(usage: TokenUsage): void {
    this.#usage = usage
    this.#isUsageUntold = true
    this.#isUnbooked = true
    this.#changed()
  }

  flag(flag: Flag): void {
    this.#flags.push(flag)
    this.event({ type: 'error', level: 'warn', message: flag.detail, payload: { code: flag.code } })
  }

  /** Written at once: without it a lost run could not be resumed. */
  async session(sessionId: string): Promise<void> {
    if (sessionId === this.#sessionId) return
    this.#sessionId = sessionId
    this.#isChanged = true
    this.event({ type: 'structured', message: 'session', payload: { sessionId } })
    await this.write()
  }

  event(event: NewRunEvent): void {
    if (this.#seq + this.#events.length > MOST_EVENTS || this.#events.length >= MOST_WAITING) return
    this.#events.push(event)
    this.#changed()
  }

  /** Writes everything now. */
  write(): Promise<void> {
    this.#cancelWrite?.()
    this.#cancelWrite = null
    this.#writing = this.#writing.then(() => this.#send().catch(this.#warn))
    return this.#writing
  }

  /** Called while the run is active: time that costs is booked though its agent says nothing, since a budget may stop it. */
  tick(): void {
    if (this.#billing.time?.usdPerHour == null || this.#isTimeUnbooked) return
    if (this.#timers.now() - this.#timeFrom < PRICED_EVERY_MS) return
    this.#timeFrom = this.#timers.now()
    this.#isTimeUnbooked = true
    this.#changed()
  }

  #changed(): void {
    this.#isChanged = true
    this.#cancelWrite ??= this.#timers.after(WRITE_EVERY_MS, () => void this.write())
  }

  /** Not more often: an agent may report after every word. What comes later is reported with the end of the run. */
  #reportsUsage(): boolean {
    const now = this.#timers.now()
    if (!this.#isUsageUntold || now - this.#usageToldAt < REPORT_USAGE_EVERY_MS) return false
    this.#isUsageUntold = false
    this.#usageToldAt = now
    return true
  }

  /** Null: nothing is new, or too soon; then the rest waits for the next write. */
  async #nextBooking() {
    const now = this.#timers.now()
    if (!this.#isUnbooked && !this.#isTimeUnbooked) return null
    if (now - this.#bookedAt < BOOK_EVERY_MS) {
      this.#cancelWrite ??= this.#timers.after(BOOK_EVERY_MS, () => void this.write())
      this.#isChanged = true
      return null
    }
    const models = this.#isUnbooked && this.#usage ? await this.#billing.bill(this.#usage) : null
    this.#isUnbooked = false
    this.#isTimeUnbooked = false
    this.#bookedAt = now
    this.#booking += 1
    return { number: this.#booking, models, time: this.#billing.time }
  }

  async #send(): Promise<void> {
    const events = this.#events
    const firstSeq = this.#seq
    this.#events = []
    this.#seq += events.length
    if (!this.#isChanged && events.length === 0) return
    this.#isChanged = false
    const usage = this.#usage
    const flags = this.#flags
    const status = this.#status
    this.#flags = []
    this.#status = null
    const said = {
      usage: usage && {
        inputTokens: usage.inputTokens,
        outputTokens: usage.outputTokens,
        cachedInputTokens: usage.cachedInputTokens ?? null,
      },
      booking: await this.#nextBooking(),
      isUsageReported: this.#reportsUsage(),
      status,
      sessionId: this.#sessionId,
      flags,
      timeline: { firstSeq, events },
    }
    const over = await this.#store.transact(this.#run.workspaceId, reportRun(this.#run, said))
    if (over) this.#billing.stop(over)
  }
}
