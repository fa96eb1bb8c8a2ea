/** Longer ones would fill the memory with tasks that are far from being taken. */
const LONGEST = 4_000

export interface Ranked {
  readonly id: number
  readonly rank: number
}

const isBefore = (a: Ranked, b: Ranked) => a.rank < b.rank || (a.rank === b.rank && a.id < b.id)

/** The first tasks of a ready queue, in its order. */
export class ReadyPrefix {
  readonly #tasks: Ranked[]
  /** Those before it were taken. */
  #from = 0
  /** There are no more behind them. */
  #isWhole: boolean

  constructor(tasks: Ranked[], isWhole: boolean) {
    this.#tasks = tasks
    this.#isWhole = isWhole
  }

  /** The first ones, or all if there are fewer; null if it is not known which they are. */
  first(count: number): readonly Ranked[] | null {
    if (this.#tasks.length - this.#from < count && !this.#isWhole) return null
    return this.#tasks.slice(this.#from, this.#from + count)
  }

  /** Returns whether it is among the known ones now. */
  add(task: Ranked): boolean {
    const tasks = this.#tasks
    let place = tasks.length
    while (place > this.#from && isBefore(task, tasks[place - 1]!)) place -= 1
    if (place === tasks.length && (!this.#isWhole || place - this.#from >= LONGEST)) {
      this.#isWhole = false
      return false
    }
    tasks.splice(place, 0, task)
    return true
  }

  remove(id: number): void {
    const tasks = this.#tasks
    let place = this.#from
    while (place < tasks.length && tasks[place]!.id !== id) place += 1
    if (place === tasks.length) return
    if (place > this.#from) tasks.splice(place, 1)
    else this.#from += 1
    // Moved rarely, so that taking the first one does not move all others.
    if (this.#from > LONGEST) tasks.splice(0, this.#from)
    if (this.#from > LONGEST) this.#from = 0
  }
}
