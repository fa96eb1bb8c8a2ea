import type { StoredPlanTask } from '../../../src/door/server-store.ts'
import type { Random } from '../random.ts'
import { PausingRunMemory } from '../runs/memory.ts'
import type { Scheduler } from '../scheduler.ts'
import type { Pauses } from '../transaction-pauses.ts'

/** Beyond any task: the number of a mission or a routine must not be that of a task. */
const FIRST_ID = 1_000_000

/** The pausing memory store with what the flow of missions reads from Postgres besides. */
export class MissionMemory extends PausingRunMemory {
  #lastId = FIRST_ID

  constructor(scheduler: Scheduler, random: Random, pauses: Pauses) {
    super(scheduler, random, pauses)
    const planTasks = async (...of: [workspaceId: number, missionId: number]) => this.#planTasks(...of)
    const freshId = async () => ++this.#lastId
    Object.assign(this.missions, { freshId, planTasks })
    Object.assign(this.routines, { freshId, figures: async () => null, runs: async () => [] })
  }

  #planTasks(workspaceId: number, missionId: number): StoredPlanTask[] {
    const { tasks, details } = this.whole(workspaceId)
    return [...tasks.values()]
      .flatMap((task) => {
        const { tempId, sequenceNumber } = details.get(task.id)!.plan ?? {}
        if (task.missionId !== missionId || task.purpose !== 'work') return []
        if (tempId == null || sequenceNumber == null) return []
        const { id, uuid, state, generation } = task
        return { id, uuid, tempId, sequenceNumber, state, generation }
      })
      .sort((a, b) => a.sequenceNumber - b.sequenceNumber)
  }
}
