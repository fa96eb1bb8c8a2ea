import type { Request } from '../../src/kernel/batch/requests.ts'
import type { TaskRecord } from '../../src/kinds/task/record.ts'
import type { Reply } from '../support/replies.ts'
import { nameOf } from './describe.ts'
import type { Envelope } from './node.ts'
import type { World } from './world.ts'

/** No answer came. Whether the server executed the request, the sender cannot know. */
export class Unanswered extends Error {
  override name = 'Unanswered'
}

// Made once: a stack for each of thousands costs more than all the rules together.
const UNANSWERED = new Unanswered()

export interface Sender {
  readonly name: string
  /** What its wall clock shows. */
  readonly clock: () => number
}

/** Everything between a client and the nodes: requests and replies that are late, lost or duplicated. */
export class Network {
  readonly #world: World

  constructor(world: World) {
    this.#world = world
  }

  call(sender: Sender, request: Request, seen: TaskRecord | null = null): Promise<Reply> {
    const { scheduler, random, faults, coverage, nameOf: called } = this.#world
    const envelope: Envelope = { request, from: sender.name, clock: sender.clock(), seen }
    const name = nameOf(envelope, called)
    return new Promise((resolve, reject) => {
      const giveUp = scheduler.after(random.int(1_000, 6_000), `${name} unanswered`, () => reject(UNANSWERED))
      const settle = (act: () => void) => {
        giveUp.cancelled = true
        act()
      }
      if (random.chance(faults.duplicate)) {
        coverage.fault('duplicate')
        this.#deliver(envelope, `again ${name}`, () => undefined)
      }
      if (random.chance(faults.lostRequest)) return coverage.fault('lost request')
      this.#deliver(envelope, name, (reply) => {
        if (random.chance(faults.lostReply)) return coverage.fault('lost reply')
        scheduler.after(this.#travelMs(), `${name} ${reply ? 'answered' : 'broken off'}`, () =>
          settle(() => (reply ? resolve(reply) : reject(UNANSWERED))),
        )
      })
    })
  }

  #deliver(envelope: Envelope, name: string, answer: (reply: Reply | null) => void): void {
    const { scheduler, random, nodes } = this.#world
    const node = random.pick(nodes)
    scheduler.after(this.#travelMs(), `${name} reaches ${node.name}`, () =>
      node.receive({ envelope, answer }),
    )
  }

  #travelMs(): number {
    const { random, faults, coverage } = this.#world
    if (random.chance(faults.verySlow)) {
      coverage.fault('delay beyond the lease')
      return random.int(20_000, 60_000)
    }
    if (random.chance(faults.slow)) {
      coverage.fault('delay')
      return random.int(200, 8_000)
    }
    return random.int(0, 40)
  }
}
