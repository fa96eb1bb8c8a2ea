import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { tooBusy } from '../../../pure/errors.ts'
import type { MissionPlan } from '../../mission/plan/mission-plan.ts'
import { checkPlan, type PlanKind, type PlanReading, readPlan } from '../../mission/plan/read.ts'
import { refusedPlan } from '../../mission/plan/refusal.ts'
import type { PlanToRead } from './plan-worker.ts'

/**
 * Reads plans that others wrote. To read ten thousand tasks takes seconds, and as long as the event loop does that, the server
 * answers nobody. So a long plan is read by a thread of its own, which also has memory of its own.
 */

/** What is shorter is read at once, in less than a tenth of a second. */
const LONG = 16 * 1024
/** On an idle machine ten thousand tasks take a tenth of that, or less. */
const LONGEST_READ_MS = 120_000
const LONGEST_WAIT_MS = 60_000
const WORKER_HEAP_MB = 1_000

/** A plan from YAML 1.2 or JSON, or all its problems. */
export async function readGivenPlan<K extends PlanKind>(text: string, kind?: K): Promise<PlanReading<K>> {
  if (text.length <= LONG) return readPlan(text, kind)
  return (await reader.read({ text, kind, isValue: false })) as PlanReading<K>
}

/** A mission's plan as a value of a request, or as text in YAML or JSON. Refused with all its problems. */
export async function givenMissionPlan(given: unknown): Promise<MissionPlan> {
  const reading =
    typeof given === 'string' ? await readGivenPlan(given, 'mission') : await checkGivenPlan(given)
  if (!reading.ok) throw refusedPlan(reading.problems)
  return reading.plan
}

async function checkGivenPlan(value: unknown): Promise<PlanReading<'mission'>> {
  const text = JSON.stringify(value) ?? 'null'
  if (text.length <= LONG) return checkPlan(value, 'mission')
  return (await reader.read({ text, kind: 'mission', isValue: true })) as PlanReading<'mission'>
}

/** Compiled, beside this file; or beside the folder of the one file that the whole server is joined into. */
const WORKER = join(
  dirname(fileURLToPath(import.meta.url)).replace(
    /([/\\])dist[/\\]server$/,
    '$1dist$1src$1kinds$1project$1acts',
  ),
  'plan-worker.js',
)

interface Waiting {
  plan: PlanToRead
  done(reading: PlanReading): void
  refuse(error: unknown): void
  timer: NodeJS.Timeout
}

/** One plan at a time, in order of arrival. */
class PlanReader {
  #worker: Worker | null = null
  #current: Waiting | null = null
  readonly #waiting = new Set<Waiting>()

  read(plan: PlanToRead): Promise<PlanReading> {
    return new Promise((done, refuse) => {
      const giveUp = () => {
        this.#waiting.delete(waiting)
        refuse(tooBusy())
      }
      const waiting: Waiting = { plan, done, refuse, timer: setTimeout(giveUp, LONGEST_WAIT_MS) }
      this.#waiting.add(waiting)
      this.#next()
    })
  }

  #next(): void {
    const [next] = this.#waiting
    if (this.#current || !next) return
    this.#waiting.delete(next)
    clearTimeout(next.timer)
    this.#current = next
    next.timer = setTimeout(() => this.#stop(tooMuch('takes more than two minutes to read')), LONGEST_READ_MS)
    this.#worker ??= this.#start()
    this.#worker.postMessage(next.plan)
  }

  #start(): Worker {
    const worker = new Worker(WORKER, {
      // Options of the process are not for this thread, and it needs nothing of its environment.
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: WORKER_HEAP_MB },
    })
    // It keeps no process from ending.
    worker.unref()
    worker.on('message', (reading: PlanReading) => {
      const current = this.#end()
      current?.done(reading)
      this.#next()
    })
    worker.on('error', (error: NodeJS.ErrnoException) => {
      const isTooLarge = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      if (worker === this.#worker) this.#stop(isTooLarge ? tooMuch('needs too much memory to read') : error)
    })
    return worker
  }

  /** The thread cannot be interrupted: it ends, and the next plan gets a new one. */
  #stop(why: unknown): void {
    this.#worker?.terminate()
    this.#worker = null
    this.#end()?.refuse(why)
    this.#next()
  }

  #end(): Waiting | null {
    const current = this.#current
    clearTimeout(current?.timer)
    this.#current = null
    return current
  }
}

const tooMuch = (what: string) =>
  refusedPlan([{ line: 1, column: 1, path: '', at: '', message: `the plan ${what}` }])

const reader = new PlanReader()
