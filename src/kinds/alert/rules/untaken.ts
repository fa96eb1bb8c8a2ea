/** Which tasks people are told about because nobody takes them. Of all that wait for the same, one stands for the others. */

/** A queued task that nobody takes, or that will count as such. */
export interface Untaken {
  readonly id: number
  readonly uuid: string
  readonly version: number
  /** What it waits for: tasks of one group wait for the same. */
  readonly group: string
  readonly reason: string
  /** From when on it counts. */
  readonly at: number
  /** True at once, and often for a moment only, as when tasks are made before their agents. */
  readonly isSudden: boolean
}

/** A task that people were told about. */
export interface MarkedTask {
  readonly id: number
  readonly uuid: string
  readonly version: number
  readonly group: string
  /** Why nobody takes it, and what people were told. */
  readonly reason: string
  readonly told: string | null
  /** Its mission is open for it, or it has none. */
  readonly isOpen: boolean
}

export interface MarkChanges {
  raise: Pick<Untaken, 'id' | 'uuid' | 'version' | 'reason'>[]
  clear: Pick<MarkedTask, 'id' | 'uuid'>[]
  /** When time alone raises the next one. */
  nextAt: number | null
}

/** An alert stays with its task while anything of its group counts: what a person reads is not replaced by its neighbour. */
export function markChanges(
  untaken: readonly Untaken[],
  raised: readonly MarkedTask[],
  now: number,
  graceMs: number,
): MarkChanges {
  const counting = untaken.filter(({ at }) => at <= now)
  // Sets: each of ten thousand tasks may wait for something else.
  const ids = new Set(counting.map(({ id }) => id))
  const groups = new Set(counting.map(({ group }) => group))
  const stays = ({ id, group, isOpen }: MarkedTask) => ids.has(id) || (isOpen && groups.has(group))
  const staying = raised.filter(stays)
  const told = new Set(staying.map(({ group }) => group))
  const untold = untaken.filter(({ group }) => !told.has(group))
  const dueAt = ({ at, isSudden }: Untaken) => (isSudden ? at + graceMs : at)
  const later = untold.map(dueAt).filter((at) => at > now)
  return {
    raise: [
      ...untold.filter((one) => dueAt(one) <= now),
      ...staying.filter((one) => one.told !== one.reason),
    ],
    clear: raised.filter((one) => !stays(one)),
    nextAt: later.length === 0 ? null : later.reduce((one, other) => Math.min(one, other)),
  }
}
