import type { ServerKernel } from '../../../src/door/server-kernel.ts'
import { StoreUnavailable } from '../../../src/kernel/store/store.ts'
import { Refused } from '../../../src/pure/errors.ts'
import { Unanswered } from '../network.ts'
import type { MissionWorld } from './world.ts'

/** What a request makes a node do. It may be done twice. */
export type Act<T> = (kernel: ServerKernel) => Promise<T>

/** Between people, workers and nodes: requests and answers that are late, lost or come twice. */
export class MissionNetwork {
  readonly #world: MissionWorld

  constructor(world: MissionWorld) {
    this.#world = world
  }

  /** Rejects with a refusal of the node, or when no answer came: then it may have been done or not. */
  call<T>(name: string, act: Act<T>): Promise<T> {
    const { scheduler, random, coverage, faults } = this.#world
    return new Promise((resolve, reject) => {
      const giveUp = scheduler.after(random.int(2_000, 8_000), `${name} unanswered`, () =>
        reject(new Unanswered()),
      )
      if (random.chance(faults.duplicate)) {
        coverage.fault('duplicate')
        this.#deliver(`again ${name}`, act, () => undefined)
      }
      if (random.chance(faults.lostRequest)) return coverage.fault('lost request')
      this.#deliver(name, act, (answered) => {
        if (random.chance(faults.lostReply)) return coverage.fault('lost reply')
        scheduler.after(this.#travelMs(), `${name} answered`, () => {
          giveUp.cancelled = true
          answered().then(resolve, reject)
        })
      })
    })
  }

  #deliver<T>(name: string, act: Act<T>, answer: (answered: () => Promise<T>) => void): void {
    const { scheduler, random, alive } = this.#world
    const node = alive.length > 0 ? random.pick(alive) : null
    if (!node) return
    scheduler.after(this.#travelMs(), `${name} reaches ${node.name}`, () => {
      // A node that is dead by then never answers.
      act(node.kernel).then(
        (value) => answer(async () => value),
        (error) => {
          if (error instanceof StoreUnavailable) return
          if (!(error instanceof Refused)) return this.#world.fault(error, name)
          answer(() => Promise.reject(error))
        },
      )
    })
  }

  #travelMs(): number {
    const { random, faults } = this.#world
    return random.chance(faults.slow) ? random.int(200, 8_000) : random.int(0, 40)
  }
}

/** Null when it was refused or not answered: the sender continues with something else. */
export async function attempted<T>(sent: Promise<T>): Promise<T | null> {
  try {
    return await sent
  } catch (error) {
    if (error instanceof Refused || error instanceof Unanswered) return null
    throw error
  }
}
