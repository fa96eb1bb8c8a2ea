import { commandAgent } from '../../../src/kinds/agent/acts/agents.ts'
import { isEnd } from '../../../src/kinds/mission/states.ts'
import { createRoutine, removeRoutine, runRoutine, updateRoutine } from '../../../src/kinds/routine/acts.ts'
import type { RoutineRecord } from '../../../src/kinds/routine/record.ts'
import { RoutineCreate } from '../../../src/kinds/routine/shapes.ts'
import { type Act, attempted } from './network.ts'
import { drawPlan } from './plans.ts'
import type { MissionWorld } from './world.ts'

/** People and their routines: saved from plans and from missions, run by hand, changed, switched off and removed. */

const call = <T>(world: MissionWorld, what: string, act: Act<T>) =>
  attempted(world.network.call(`a person: ${what}`, act))

export async function createRoutines(world: MissionWorld): Promise<void> {
  const { random, scheduler, stormMs } = world
  const count = random.weighted({ 0: 1, 1: 2, 2: 1 })
  for (let i = 0; i < Number(count); i++) {
    await scheduler.sleep(random.int(0, stormMs * 0.4), 'somebody wants it again and again')
    await save(world)
  }
}

/** By the minute: an hour would never come. */
const drawSchedule = ({ random }: MissionWorld) => ({
  cron: random.pick(['* * * * *', '* * * * *', '*/2 * * * *']),
  overlap: random.pick(['skip', 'queue', 'replace'] as const),
  catchUp: random.pick(['none', 'last', 'all'] as const),
})

const drawRoutinePlan = ({ random, agents, template }: MissionWorld) =>
  random.chance(0.4) ? { tasks: [{ tempId: 't1', contractor: { template } }] } : drawPlan(random, agents)

function save(world: MissionWorld): Promise<unknown> {
  const { random, person } = world
  const ended = [...world.memory.whole(world.workspace).missions.values()].filter(({ phase }) => isEnd(phase))
  const origin = ended.length > 0 && random.chance(0.4) ? random.pick(ended).uuid : null
  const body = RoutineCreate.parse({
    name: 'Again',
    ...(origin ? { fromMission: origin } : { plan: drawRoutinePlan(world) }),
    ...(random.chance(0.85) && { schedule: drawSchedule(world) }),
    ...(random.chance(0.2) && { config: { autonomy: random.pick(['approve', 'full_auto']) } }),
  })
  return call(world, 'save a routine', (kernel) => createRoutine(kernel, person, body))
}

const routinesOf = ({ memory, workspace }: MissionWorld): RoutineRecord[] =>
  [...memory.whole(workspace).routines.values()].filter(({ removedAt }) => removedAt === null)

const ACTS = { run: 3, reschedule: 1, switch: 2, remove: 0.2, template: 3 }

export async function onRoutine(world: MissionWorld): Promise<unknown> {
  const { random, person } = world
  const kind = random.weighted(ACTS)
  if (kind === 'template') return comeAndGo(world)
  const routines = routinesOf(world)
  if (routines.length === 0) return null
  const { uuid, isEnabled } = random.pick(routines)
  switch (kind) {
    case 'run':
      return call(world, 'run a routine', (kernel) => runRoutine(kernel, person, uuid, {}))
    case 'reschedule': {
      const body = { schedule: drawSchedule(world) }
      return call(world, 'reschedule', (kernel) => updateRoutine(kernel, person, uuid, body, null))
    }
    case 'switch': {
      const body = { enabled: !isEnabled }
      return call(world, 'switch a routine', (kernel) => updateRoutine(kernel, person, uuid, body, null))
    }
    case 'remove':
      return call(world, 'remove a routine', (kernel) => removeRoutine(kernel, person, uuid))
  }
}

/** The template of some contractors is there or not: without it, what is due cannot start. */
function comeAndGo(world: MissionWorld): Promise<unknown> {
  const { person, memory, workspace, template } = world
  if (!memory.whole(workspace).agents.has(template)) return comeBack(world)
  return call(world, 'remove a template', (kernel) =>
    commandAgent(kernel, person, template, { kind: 'remove' }),
  )
}

const comeBack = (world: MissionWorld) =>
  call(world, 'register a template', (kernel) =>
    commandAgent(kernel, world.person, world.template, { kind: 'register', profile: {}, ifVersion: null }),
  )

/** When everything must end, nothing may begin again, and an agent that may be the only one to judge a result exists. */
export async function settleDown(world: MissionWorld): Promise<void> {
  if (!world.memory.whole(world.workspace).agents.has(world.template)) await comeBack(world)
  for (const { uuid, isEnabled } of routinesOf(world))
    if (isEnabled)
      await call(world, 'switch off', (kernel) =>
        updateRoutine(kernel, world.person, uuid, { enabled: false }, null),
      )
}
