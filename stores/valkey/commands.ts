import type { QueueName } from './keys.ts'

/** Arguments of one command in a script: more do not fit on Lua's stack. Even, since many come in pairs. */
const MOST_ARGUMENTS = 2_000

interface Batched {
  head: string[]
  args: string[]
}

/** The commands of a transaction. Commands that accept many values at once are batched. */
export class Commands {
  /** By command, then by key: a name of both would have to be made for each value. */
  readonly #batched = new Map<string, Map<string, Batched>>()
  readonly #set: string[] = []
  readonly #counts = new Map<string, { key: string; field: string; change: number }>()
  readonly #indexed = new Map<string, QueueName>()
  readonly #last: string[][] = []

  /** Adds to the single command of this kind on this key. No member is added by one command and removed by another. */
  add(command: string, key: string, value: string, second?: string): void {
    const { args } = this.#batchOf(command, key)
    args.push(value)
    if (second !== undefined) args.push(second)
  }

  #batchOf(command: string, key: string): Batched {
    let byKey = this.#batched.get(command)
    if (!byKey) {
      byKey = new Map()
      this.#batched.set(command, byKey)
    }
    let batch = byKey.get(key)
    if (!batch) {
      batch = { head: [command, key], args: [] }
      byKey.set(key, batch)
    }
    return batch
  }

  /** Strings that are written whole. */
  set(key: string, value: string): void {
    this.#set.push(key, value)
  }

  /** Tasks entered or left this queue: it is in its index while it is not empty. */
  index(queue: QueueName): void {
    this.#indexed.set(queue.key, queue)
  }

  count(key: string, field: string, change: 1 | -1): void {
    const name = `${key} ${field}`
    this.#counts.set(name, { key, field, change: (this.#counts.get(name)?.change ?? 0) + change })
  }

  /** Runs after all batched commands. The script returns the answers to commands that begin with 'answer'. */
  after(...command: string[]): void {
    this.#last.push(command)
  }

  /** Each command is preceded by its length. */
  flat(): string[] {
    const flat: string[] = []
    const batches = [...this.#batched.values()].flatMap((byKey) => [...byKey.values()])
    batches.unshift({ head: ['MSET'], args: this.#set })
    for (const { head, args } of batches)
      for (let from = 0; from < args.length; from += MOST_ARGUMENTS) {
        const to = Math.min(from + MOST_ARGUMENTS, args.length)
        flat.push(String(head.length + to - from), ...head)
        for (let i = from; i < to; i++) flat.push(args[i]!)
      }
    const counts = [...this.#counts.values()].filter(({ change }) => change !== 0)
    const last = [
      ...counts.map(({ key, field, change }) => ['count', key, field, String(change)]),
      ...[...this.#indexed.values()].map(({ index, key, name, owner }) => [
        'indexed',
        index,
        key,
        name,
        ...owner,
      ]),
      ...this.#last,
    ]
    for (const command of last) flat.push(String(command.length), ...command)
    return flat
  }
}
