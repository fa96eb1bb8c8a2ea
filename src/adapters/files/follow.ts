import { Tail } from './tail.ts'

/** Follows the files that a program writes while it runs. They are looked at again and again: to be told of changes is not reliable. */

const EVERY_MS = 400
/** A program writes one file of its session, and one for each subagent. */
const MOST_FILES = 100
/** What is read of a file at a time while the program runs, and when it has ended. */
const AT_A_TIME_BYTES = 4 * 1024 * 1024
const AT_THE_END_BYTES = 64 * 1024 * 1024
/** A file system that does not answer must not keep a run from its begin or its end. */
const LONGEST_WAIT_MS = 5_000

export interface FollowTimers {
  /** Returns what cancels it. */
  after(ms: number, act: () => void): () => void
}

const realTimers: FollowTimers = {
  after(ms, act) {
    const timer = setTimeout(act, ms)
    return () => clearTimeout(timer)
  },
}

interface ToFollow {
  /** The files as far as they are known by now. It does not throw. */
  find: () => Promise<readonly string[]>
  /** A line that stood there before the run. */
  before: (line: string) => void
  take: (line: string) => void
  /** All that was there has been taken, for now. */
  looked: () => void
}

export class Following {
  readonly #files: ToFollow
  readonly #timers: FollowTimers
  readonly #tails = new Map<string, Tail>()
  #cancel: (() => void) | null = null
  #looking: Promise<void> = Promise.resolve()
  #isOver = false
  #isClosed = false

  constructor(files: ToFollow, timers: FollowTimers = realTimers) {
    this.#files = files
    this.#timers = timers
  }

  /** Before the program runs. What a session that is resumed has by then is not of this run. */
  async begin(isResumed: boolean): Promise<void> {
    if (isResumed) await this.#inTime(this.#skip())
    this.#lookLater()
  }

  /** After the program has ended: all that it has written is read. */
  async end(): Promise<void> {
    this.#isOver = true
    this.#cancel?.()
    await this.#inTime(this.#looking.then(() => this.#look(AT_THE_END_BYTES)))
    this.#isClosed = true
  }

  async #skip(): Promise<void> {
    for (const tail of await this.#new()) await tail.skip(this.#files.before)
  }

  #lookLater(): void {
    if (this.#isOver) return
    this.#cancel = this.#timers.after(EVERY_MS, () => {
      this.#looking = this.#look(AT_A_TIME_BYTES).finally(() => this.#lookLater())
    })
  }

  async #look(mostBytes: number): Promise<void> {
    await this.#new()
    for (const tail of this.#tails.values()) await tail.read(this.#take, mostBytes)
    if (!this.#isClosed) this.#files.looked()
  }

  #take = (line: string): void => {
    if (!this.#isClosed) this.#files.take(line)
  }

  #inTime(done: Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#timers.after(LONGEST_WAIT_MS, resolve)
      void done.finally(() => {
        cancel()
        resolve()
      })
    })
  }

  async #new(): Promise<Tail[]> {
    const added: Tail[] = []
    for (const path of await this.#files.find()) {
      if (this.#tails.has(path) || this.#tails.size >= MOST_FILES) continue
      const tail = new Tail(path)
      this.#tails.set(path, tail)
      added.push(tail)
    }
    return added
  }
}

/** Reads the files of a run that was lost. */
export async function readLeft(paths: readonly string[], take: (line: string) => void): Promise<void> {
  for (const path of paths.slice(0, MOST_FILES)) await new Tail(path).skip(take)
}
