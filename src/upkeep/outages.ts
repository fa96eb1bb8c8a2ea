import type { ServerKernel } from '../door/server-kernel.ts'
import { StoreUnavailable } from '../kernel/store/store.ts'
import { aboutNode, ofInstance, raiseOne } from '../kinds/alert/acts/raise.ts'
import { causeOf, type Severity } from '../kinds/alert/causes.ts'
import { moment } from '../pure/words.ts'

/** What is sent while there is no database to write it to. */
export interface MessageFromMemory {
  alert: 'database_away'
  severity: Severity
  title: string
  detail: string
  at: number
}
export type SendFromMemory = (message: MessageFromMemory) => Promise<void>

const CAUSE = 'database_away'

/** Long outages of the database, as this node sees them: told at once from memory, and written down when it is back. */
export class Outages {
  readonly #kernel: ServerKernel
  readonly #node: string
  readonly #send: SendFromMemory
  readonly #log: { error(about: object, message: string): void }
  #since: number | null = null
  /** Those that are over, and not written yet. */
  #unwritten: { since: number; until: number }[] = []

  constructor(
    kernel: ServerKernel,
    node: string,
    log: { error(about: object, message: string): void },
    send: SendFromMemory = async () => undefined,
  ) {
    this.#kernel = kernel
    this.#node = node
    this.#log = log
    this.#send = send
  }

  /** It has lasted for long. Nobody waits for those who are told: the database is tried again meanwhile. */
  isLong(since: number): void {
    if (this.#since !== null) return
    this.#since = since
    this.#log.error({ since: new Date(since) }, 'the database has been unreachable for five minutes')
    const { severity, words: title } = causeOf(CAUSE)
    const detail = `${this.#node} has not reached it since ${moment(since)}`
    this.#send({ ...{ alert: CAUSE, severity, title, detail }, at: Date.now() }).catch((err: unknown) =>
      this.#log.error({ err }, 'nobody could be told that the database is unreachable'),
    )
  }

  /** The database answers. Called after each round: it does nothing unless an outage was long. */
  async isOver(): Promise<void> {
    if (this.#since !== null) {
      this.#unwritten.push({ since: this.#since, until: Date.now() })
      this.#since = null
    }
    while (this.#unwritten[0]) {
      const { since, until } = this.#unwritten[0]
      const minutes = Math.round((until - since) / 60_000)
      const detail = `${this.#node} did not reach it from ${moment(since)}, for ${minutes} minutes`
      try {
        await raiseOne(ofInstance(this.#kernel), aboutNode(CAUSE, this.#node, detail))
      } catch (error) {
        // Away again: it stays in the list.
        if (error instanceof StoreUnavailable) return
        throw error
      }
      this.#unwritten.shift()
    }
  }
}
