import { rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { FreeSpace, type LogLimits } from './limits.ts'
import { type LogEntry, LogUnavailable } from './protocol.ts'
import { RawLog } from './raw-log.ts'
import { checkedRef, logRefOf } from './refs.ts'

/** The logs in a folder that this process writes. */
export class RawLogs {
  readonly folder: string
  readonly #limits: LogLimits
  readonly #space: FreeSpace
  readonly #written = new Map<string, RawLog>()

  constructor(folder: string, limits: LogLimits) {
    this.folder = folder
    this.#limits = limits
    this.#space = new FreeSpace(folder, limits)
  }

  /** The path of all files of a log without their endings. */
  pathOf(logRef: string): string {
    return join(this.folder, checkedRef(logRef))
  }

  async begin(run: { workspaceId: string; agentId: string; runId: string }): Promise<string> {
    const logRef = logRefOf(run)
    await this.#log(logRef).create()
    return logRef
  }

  async append(logRef: string, entries: readonly LogEntry[]): Promise<void> {
    const log = this.#log(logRef)
    try {
      await log.append(entries)
    } catch (error) {
      if (error instanceof LogUnavailable && !log.isClosed) this.forget(logRef)
      throw error
    }
  }

  /** Accepts no more entries. Null when there is no such log. */
  async close(logRef: string) {
    const closed = await this.#log(logRef).close()
    if (!closed) this.forget(logRef)
    return closed
  }

  open(logRef: string, isFinal: boolean) {
    // Reading a log does not add it to the map.
    return (this.#written.get(logRef) ?? this.#logAt(logRef)).open(isFinal)
  }

  /** Nothing more will be written to it. */
  forget(logRef: string): void {
    this.#written.delete(logRef)
  }

  async remove(logRef: string, endings: readonly string[]): Promise<void> {
    this.forget(logRef)
    const path = this.pathOf(logRef)
    for (const ending of endings) await rm(path + ending, { force: true })
    // Folders that hold other logs stay.
    for (const folder of [dirname(path), dirname(dirname(path))]) await rmdir(folder).catch(() => undefined)
  }

  #log(logRef: string): RawLog {
    let log = this.#written.get(logRef)
    if (!log) {
      log = this.#logAt(logRef)
      this.#written.set(logRef, log)
    }
    return log
  }

  #logAt(logRef: string): RawLog {
    return new RawLog(this.pathOf(logRef), this.#limits, this.#space)
  }
}
