import type { TaskDetails } from '../core/commands.ts'
import type { TaskRecord } from '../core/records.ts'
import type { Reader } from '../store/store.ts'

interface Wish {
  records: readonly TaskRecord[]
  resolve: (details: TaskDetails[]) => void
  reject: (error: unknown) => void
}

/** Reads of details that come together are one read: whoever claims single tasks, many at a time, needs them one by one. */
export class DetailsReading {
  readonly #reader: Reader
  readonly #wishes = new Map<number, Wish[]>()

  constructor(reader: Reader) {
    this.#reader = reader
  }

  /** In the order of the records. */
  of(workspaceId: number, records: readonly TaskRecord[]): Promise<TaskDetails[]> {
    return new Promise((resolve, reject) => {
      const wishes = this.#wishes.get(workspaceId)
      if (wishes) wishes.push({ records, resolve, reject })
      else {
        this.#wishes.set(workspaceId, [{ records, resolve, reject }])
        setImmediate(() => void this.#read(workspaceId))
      }
    })
  }

  async #read(workspaceId: number): Promise<void> {
    const wishes = this.#wishes.get(workspaceId)!
    this.#wishes.delete(workspaceId)
    try {
      const details = await this.#reader.detailsOf(
        workspaceId,
        wishes.flatMap(({ records }) => records),
      )
      let read = 0
      for (const { records, resolve } of wishes) {
        resolve(details.slice(read, read + records.length))
        read += records.length
      }
    } catch (error) {
      for (const { reject } of wishes) reject(error)
    }
  }
}
