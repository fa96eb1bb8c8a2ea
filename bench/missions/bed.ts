import { pino } from 'pino'
import type { ServerKernel } from '../../src/door/server-kernel.ts'
import type { Caller } from '../../src/kernel/kernel.ts'
import { createMission } from '../../src/kinds/mission/acts/missions.ts'
import { MissionCreate } from '../../src/kinds/mission/shapes/missions.ts'
import { idCarriedBy } from '../../src/pure/ids.ts'
import { serverDirectory } from '../../src/store/directory.ts'
import { Coordinator } from '../../src/upkeep/coordinator.ts'
import { Leadership } from '../../src/upkeep/leadership.ts'
import { Node } from '../../src/upkeep/node.ts'
import { openKernel } from '../../src/upkeep/open-kernel.ts'
import { type Bed, makeBed } from '../setup.ts'

/** A database with missions in it, and the kernel of a server on it. */
export interface MissionBed extends Bed {
  kernel: ServerKernel
  caller: Caller
  /** The upkeep of a server, while this runs. */
  coordinated<T>(act: () => Promise<T>): Promise<T>
  /** The tasks of a mission, by id. */
  tasksOf(mission: string): Promise<Task[]>
}

export interface Task {
  id: number
  uuid: string
}

export async function makeMissionBed(): Promise<MissionBed> {
  const bed = await makeBed()
  const kernel = openKernel(bed.store, serverDirectory(bed.store))
  return {
    ...bed,
    kernel,
    caller: { workspaceId: bed.workspaceId, actor: 'bench', rights: new Set() },
    async coordinated(act) {
      const node = await Node.start(bed.store, { version: 'bench' })
      const leadership = new Leadership(bed.store, node.id)
      const coordinator = new Coordinator(kernel, leadership, node.id, pino({ level: 'silent' })).start()
      try {
        return await act()
      } finally {
        await coordinator.stop()
        await node.stop()
      }
    },
    async tasksOf(mission) {
      const { rows } = await bed.admin.query<{ id: string; uuid: string }>(
        'select id, uuid from tasks where workspace_id = $1 and mission_id = $2 order by id',
        [bed.workspaceId, idCarriedBy(mission)],
      )
      return rows.map(({ id, uuid }) => ({ id: Number(id), uuid }))
    },
    async close() {
      await kernel.close()
      await bed.close()
    },
  }
}

export async function newMission(
  { kernel, caller }: Pick<MissionBed, 'kernel' | 'caller'>,
  tasks: readonly object[],
  autonomy: 'approve' | 'full_auto',
): Promise<string> {
  const body = MissionCreate.parse({ goal: 'Measure it.', plan: { tasks }, config: { autonomy } })
  return (await createMission(kernel, caller, body)).id
}

const task = (place: number) => ({ tempId: `t${place}`, title: `Task ${place}`, taskType: 'coding' })

/** Tasks that depend on nothing. */
export const loose = (count: number) => Array.from({ length: count }, (_, place) => task(place))

/** Tasks in layers of a hundred, each after two of the layer before. */
export const layered = (count: number, width = 100) =>
  Array.from({ length: count }, (_, place) => {
    if (place < width) return task(place)
    const before = place - width
    const beside = before - (before % width) + ((before + 1) % width)
    return { ...task(place), dependsOn: [`t${before}`, `t${beside}`] }
  })
