import { randomInt } from 'node:crypto'
import type { z } from 'zod'
import { actsOf } from '../../door/door.ts'
import type { ServerKernel } from '../../door/server-kernel.ts'
import { type Caller, granted } from '../../kernel/kernel.ts'
import { Refused } from '../../pure/errors.ts'
import { idCarriedBy, uuidCarrying } from '../../pure/ids.ts'
import type { AnswerOf } from '../../pure/shapes.ts'
import { commandsIn, refuseReporter } from '../mission/acts/missions.ts'
import { storedPlan } from '../mission/plan/stored-plan.ts'
import { givenMissionPlan } from '../project/acts/read-plan-apart.ts'
import { namedProject } from '../project/acts.ts'
import { refuseCommands } from '../task/acts/named-commands.ts'
import { missionOf } from './acts/runs.ts'
import { type Checked, checkedSettings, fromMission, newSettings, scheduleTimes } from './acts/settings.ts'
import { driftOf, listedRoutine, routineView, runView } from './acts/views.ts'
import * as api from './api.ts'
import { figuresOfMission, listRoutines, runsOfRoutine } from './postgres.ts'
import type { RoutineRecord } from './record.ts'
import type { RoutineCommand } from './rules/command.ts'
import { VariablesSchema, type VariableValues } from './rules/variables.ts'
import { type RoutineCreate, type RoutinePatch, type RoutineView, Schedule } from './shapes.ts'

/** Routines: saved, changed, removed, and run by hand. */

type Answer = AnswerOf<typeof RoutineView>

export async function requireRoutine(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  uuid: string,
): Promise<RoutineRecord> {
  const id = idCarriedBy(uuid)
  const routine = id === null ? null : await kernel.store.routines.find(workspaceId, id)
  if (routine?.uuid !== uuid) throw new Refused('NOT_FOUND', `There is no routine ${uuid} in this workspace.`)
  return routine
}

const act = async (kernel: ServerKernel, caller: Caller, uuid: string, command: RoutineCommand) =>
  granted(await kernel.run(caller, { on: 'routine', key: uuid, uuid, command }))

/** Returns the id of the new routine. */
export async function createRoutine(
  kernel: ServerKernel,
  caller: Caller,
  body: z.output<typeof RoutineCreate>,
): Promise<string> {
  if ((body.plan === undefined) === (body.fromMission === undefined))
    throw Refused.field('VALIDATION_FAILED', 'plan', 'is needed, or "fromMission" instead of it')
  const made = body.fromMission === undefined ? null : await fromMission(kernel, caller, body.fromMission)
  const own = newSettings(
    made ? { ...asBody(made.given), ...body } : body,
    made?.given.plan ?? (await givenMissionPlan(body.plan)),
  )
  refuseCommands(caller, commandsIn(own.plan, own.config.commands))
  // Not that of the mission it is made from: that agent may be gone, and the report by rule is enough then.
  await refuseReporter(kernel, caller, body.config?.reportAgent)
  const settings = await checkedSettings(kernel, caller, {
    ...own,
    projectId: (await namedProject(kernel, caller, own.project ?? undefined)) ?? 0,
    variables: variablesIn(body.variables),
    schedule: body.schedule ? Schedule.parse(body.schedule) : null,
    isEnabled: body.enabled ?? true,
  })
  const id = await kernel.store.routines.freshId(caller.workspaceId)
  // The time in the id is only for people who sort by it: it is this node's.
  const uuid = uuidCarrying(id, Date.now(), randomInt(2 ** 22))
  const { originId = null, origin = null } = made ?? {}
  const reply = await act(kernel, caller, uuid, { kind: 'create', id, originId, origin, ...settings })
  return reply.record.uuid
}

/** What no schema of the API document says is checked here. */
function variablesIn(given: unknown): VariablesSchema {
  const read = VariablesSchema.safeParse(given ?? {})
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw Refused.field('VALIDATION_FAILED', ['variables', ...issue!.path].join('.'), issue!.message)
}

/** What a mission gives to a routine, as if it had been sent. */
const asBody = ({
  plan: _plan,
  project,
  tags,
  ...rest
}: Awaited<ReturnType<typeof fromMission>>['given']) => ({
  ...rest,
  tags: [...tags],
  ...(project === null ? {} : { project }),
})

export async function updateRoutine(
  kernel: ServerKernel,
  caller: Caller,
  uuid: string,
  body: z.output<typeof RoutinePatch>,
  ifVersion: number | null,
): Promise<void> {
  const routine = await requireRoutine(kernel, caller, uuid)
  const { plan: given, enabled, ...fields } = body
  const plan = await givenMissionPlan(given ?? JSON.parse(routine.plan!))
  if (given !== undefined || body.config) refuseCommands(caller, commandsIn(plan, body.config?.commands))
  await refuseReporter(kernel, caller, body.config?.reportAgent)
  const changed: Partial<Checked> = Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  )
  if (body.schedule) changed.schedule = Schedule.parse(body.schedule)
  if (body.variables) changed.variables = variablesIn(body.variables)
  const next: Checked = { ...routine, ...changed, plan, isEnabled: enabled ?? routine.isEnabled }
  const settings = await checkedSettings(kernel, caller, next)
  const names = [...Object.keys(changed), ...(enabled === undefined ? [] : ['isEnabled'])]
  if (given !== undefined) names.push('plan', 'planDigest', 'taskCount')
  const patch = Object.fromEntries(names.map((name) => [name, settings[name as keyof typeof settings]]))
  // What was checked is what was read: another change in between is refused.
  await act(kernel, caller, uuid, { kind: 'update', ifVersion: ifVersion ?? routine.version, patch })
}

export async function removeRoutine(kernel: ServerKernel, caller: Caller, uuid: string): Promise<void> {
  await act(kernel, caller, uuid, { kind: 'remove' })
}

export async function runRoutine(
  kernel: ServerKernel,
  caller: Caller,
  uuid: string,
  variables: VariableValues,
): Promise<{ missionId: string }> {
  const routine = await requireRoutine(kernel, caller, uuid)
  const mission = await missionOf(kernel, caller, routine, variables)
  const { missionId } = await act(kernel, caller, uuid, { kind: 'run', version: routine.version, mission })
  return { missionId: missionId! }
}

/** How many of its last missions are compared with its origin. */
const COMPARED = 10

async function showRoutine(kernel: ServerKernel, caller: Caller, uuid: string): Promise<Answer> {
  const routine = await requireRoutine(kernel, caller, uuid)
  const { workspaceId } = caller
  const { readers } = kernel.store
  const [origin, runs] = await Promise.all([
    routine.originId === null ? null : figuresOfMission(readers, workspaceId, routine.originId),
    runsOfRoutine(readers, workspaceId, routine.id, { onlyCompleted: true }, COMPARED),
  ])
  return {
    ...routineView(routine),
    plan: storedPlan(routine.plan!),
    origin,
    drift: origin && driftOf(origin, runs),
  }
}

export const routineActs = actsOf(api)({
  createRoutine: async ({ kernel }, { body, caller }) =>
    showRoutine(kernel, caller, await createRoutine(kernel, caller, body)),
  changeRoutine: async ({ kernel }, { params, body, caller, ifVersion }) => {
    await updateRoutine(kernel, caller, params.id, body, ifVersion)
    return showRoutine(kernel, caller, params.id)
  },
  deleteRoutine: ({ kernel }, { params, caller }) => removeRoutine(kernel, caller, params.id),
  runRoutine: ({ kernel }, { params, body, caller }) => runRoutine(kernel, caller, params.id, body.variables),
  listRoutines: async ({ kernel }, { caller, page }) => {
    const routines = await listRoutines(kernel.store.readers, caller.workspaceId, page.after, page.rows)
    return page.of(routines, listedRoutine, ({ routine }) => routine.id)
  },
  readRoutine: ({ kernel }, { params, caller }) => showRoutine(kernel, caller, params.id),
  listRunsOfRoutine: async ({ kernel }, { params, caller, page }) => {
    const { id } = await requireRoutine(kernel, caller, params.id)
    const { after: before, rows } = page
    const runs = await runsOfRoutine(kernel.store.readers, caller.workspaceId, id, { before }, rows)
    return page.of(runs, runView, (run) => run.id)
  },
  readScheduleTimes: (_door, { query: { cron, timeZone } }) => scheduleTimes(cron, timeZone, Date.now()),
})
