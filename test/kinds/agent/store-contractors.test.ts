import { describe, expect, test } from 'vitest'
import type { ServerKernel } from '../../../src/door/server-kernel.ts'
import { systemCaller } from '../../../src/kernel/caller.ts'
import type { RunStore } from '../../../src/kernel/store/run-store.ts'
import { Assignment } from '../../../src/kinds/agent/acts/assignment.ts'
import type { AgentRecord } from '../../../src/kinds/agent/record.ts'
import { settleMarksOf } from '../../../src/kinds/alert/acts/untaken.ts'
import { settleContractors } from '../../../src/kinds/mission/upkeep.ts'
import type { NewTask, OnTask } from '../../../src/kinds/task/command.ts'
import type { Purpose } from '../../../src/kinds/task/record.ts'
import type { PostgresStore } from '../../../src/store/store.ts'
import { readInbox } from '../../../src/views/inbox/postgres.ts'
import {
  agentEvents,
  commandAgent,
  pause,
  recordIn,
  register,
  remove,
  terminate,
} from '../../support/agents.ts'
import { assign } from '../../support/assign.ts'
import { contractorTask } from '../../support/contractors.ts'
import { kernelOf, settleAll } from '../../support/mission-upkeep.ts'
import {
  commandMission,
  creation,
  freshMission,
  missionIn,
  missionNow,
  missionTask,
  planOf,
} from '../../support/missions.ts'
import { NO_COMPANY, storeKinds, useNodes } from '../../support/nodes.ts'
import { rounds } from '../../support/rounds.ts'
import { granted, grantedTasks, newTask, outcome, type Work } from '../../support/tasks.ts'

/** Agents that are made from a template for a mission, and end with it. */

const kinds = storeKinds.filter((kind) => kind === 'memory' || kind === 'postgres')

const PROFILE = {
  name: 'Dev',
  model: 'opus',
  adapterType: 'process',
  adapterConfig: { command: 'node', env: { KEY: 's3cret' } },
  runtimeConfig: { role: 'developer', heartbeat: { intervalSec: 60, wakeOnAssignment: true } },
  capabilities: ['go', 'sql'],
  maxConcurrentTasks: 2,
  batchSize: 3,
  coordinatorEnabled: false,
}

type Fresh = ReturnType<typeof freshMission>

function begin(work: Work, tasksOf: (mission: Fresh) => NewTask[], autonomy = 'full_auto') {
  const mission = freshMission()
  const proposed = planOf(tasksOf(mission))
  const command = { ...creation(mission.id, { autonomy } as never), proposed, planning: null }
  return commandMission(work, mission.uuid, command)
}

/** A mission of one task, whose contractor is made from the agent "dev". */
async function withContractor(work: Work, more: Parameters<typeof contractorTask>[1] = {}) {
  await register(work, 'dev', PROFILE)
  const mission = missionIn(await begin(work, (fresh) => [contractorTask(fresh, more)]))
  const slug = mission.contractors[0]!
  return { mission, slug, by: { agent: slug, session: `agent:${slug}` } }
}

const list = async (work: Work, withEnded = false): Promise<AgentRecord[]> => {
  const found = await (work.store as RunStore).agents.list(work.workspace, { withEnded }, 100)
  return found.map(({ record }) => record)
}
const agentNow = async (work: Work, slug: string) =>
  (await list(work, true)).find((agent) => agent.slug === slug)
const passOfContractors = (work: Work) => settleContractors({ kernel: kernelOf(work), only: work.workspace })
const follow = (work: Work, slug: string, missionId: number) =>
  commandAgent(work, slug, { kind: 'followMission', missionId }, 'system')
const able = { capabilities: ['go', 'sql'] }

async function finish(work: Work, by: { agent: string; session: string }, how: 'submit' | 'fail' = 'submit') {
  const [task] = grantedTasks(await work.next(by, able))
  const hold = { ...by, generation: task!.generation }
  const reply =
    how === 'submit' ? await work.submit(task!, hold) : await work.fail(task!, hold, 'invalid', 'no')
  expect(reply.ok).toBe(true)
  return task!
}

describe.each(kinds)('on %s, a contractor', (kind) => {
  const nodes = useNodes(kind)

  test('is made with its tasks, with the settings of its template and without its timer', async () => {
    const work = await nodes.work()
    const { mission, slug } = await withContractor(work)
    const made = await agentNow(work, slug)
    expect(made).toMatchObject({
      ...PROFILE,
      runtimeConfig: { role: 'developer', heartbeat: { wakeOnAssignment: true } },
      coordinatorEnabled: true,
      ...{ kind: 'contractor', template: 'dev', mission: mission.uuid, missionId: mission.id },
      ...{ state: 'idle', registered: true, version: 1 },
    })
    expect(made!.runtimeConfig).not.toHaveProperty('heartbeat.intervalSec')
    expect(slug).toMatch(/^dev@mission-[0-9a-f]{12}$/)
    const [, event] = await agentEvents(work)
    expect(event).toMatchObject({
      type: 'agent_registered',
      missionId: mission.id,
      payload: { agent: slug, kind: 'contractor', template: 'dev', missionId: mission.uuid },
    })
    expect((await agentEvents(work))[0]!.payload).toEqual({ agent: 'dev', by: 'key:test' })
  })

  test('is shared by tasks with the same template and name, and is one for each of them otherwise', async () => {
    const work = await nodes.work()
    await register(work, 'dev', PROFILE)
    await register(work, 'ops', { name: 'Ops' })
    const mission = missionIn(
      await begin(work, (fresh) => [
        contractorTask(fresh),
        contractorTask(fresh, { title: 'again' }),
        contractorTask(fresh, { name: 'Ada' }),
        contractorTask(fresh, { template: 'ops' }),
      ]),
    )
    const made = (await list(work)).filter((agent) => agent.kind === 'contractor')
    expect(made.map(({ name }) => name).sort()).toEqual(['Ada', 'Dev', 'Ops'])
    expect(made.map(({ slug }) => slug).sort()).toEqual([...mission.contractors].sort())
    const another = missionIn(await begin(work, (fresh) => [contractorTask(fresh)]))
    expect(mission.contractors).not.toContain(another.contractors[0])
  })

  test('is made from a paused agent, and works', async () => {
    const work = await nodes.work()
    await register(work, 'dev', PROFILE)
    await pause(work, 'dev')
    const mission = missionIn(await begin(work, (fresh) => [contractorTask(fresh)]))
    expect(await agentNow(work, mission.contractors[0]!)).toMatchObject({ state: 'idle', stateReason: null })
  })

  test.each([
    ['is not there', async () => undefined],
    ['is terminated', async (work: Work) => terminate(work, 'dev', false)],
    ['is a contractor itself', async () => undefined],
  ])('whose template %s is not made, nor is anything else', async (which, make) => {
    const work = await nodes.work()
    if (which !== 'is not there') await register(work, 'dev', PROFILE)
    await make(work)
    const [other] = which.includes('itself')
      ? missionIn(await begin(work, (fresh) => [contractorTask(fresh)])).contractors
      : ['dev']
    const before = (await work.events()).length
    const reply = await begin(work, (fresh) => [
      missionTask(fresh.id),
      contractorTask(fresh, { template: other! }),
    ])
    expect(outcome(reply)).toBe('VALIDATION_FAILED')
    expect(reply.detail).toContain(`"${other}"`)
    expect((await work.events()).length).toBe(before)
  })

  test('is as its template was at the approval, whatever becomes of that later', async () => {
    const work = await nodes.work()
    const { mission, slug } = await withContractor(work)
    await register(work, 'dev', { model: 'haiku', adapterConfig: { command: 'rm' } })
    await remove(work, 'dev')
    expect(await agentNow(work, slug)).toMatchObject({ model: 'opus', adapterConfig: PROFILE.adapterConfig })
    expect((await missionNow(work, mission)).phase).toBe('running')
  })

  test('takes only what is reserved for it, however it is handed out', async () => {
    const work = await nodes.work()
    const { slug, by } = await withContractor(work)
    const [free] = await work.createAll([newTask(), newTask()])
    expect(outcome(await work.claim(free!, by))).toBe('WRONG_AGENT')
    expect(outcome(await assign(work, free!, by))).toBe('WRONG_AGENT')
    const purposes: Purpose[] = ['work', 'planning', 'verification']
    const taken = grantedTasks(await work.next(by, { ...able, purposes, limit: 5 }))
    expect(taken.map(({ onlyAgent }) => onlyAgent)).toEqual([slug])
    expect(grantedTasks(await work.next(by, able))).toEqual([])
  })

  test('is assigned what is reserved for it and nothing else', async () => {
    const work = await nodes.work()
    const { mission, slug } = await withContractor(work)
    await work.createAll([newTask(), newTask({ capabilities: ['go'] })])
    const kernel = kernelOf(work)
    const { agents } = await kernel.store.assignment.read(work.workspace)
    expect(agents.find((agent) => agent.slug === slug)).toMatchObject({ isReservedOnly: true })
    const caller = { ...systemCaller(work.workspace), actor: 'coordinator' }
    expect(await new Assignment().assign(kernel, caller)).toBe(1)
    const tasks = await work.store.tasks(work.workspace, {}, 10)
    const held = tasks.filter(({ record }) => record.state === 'assigned')
    expect(held.map(({ record }) => [record.agent, record.missionId])).toEqual([[slug, mission.id]])
    // It has room left, and nothing is offered to it.
    const offered = (await kernel.store.assignment.read(work.workspace)).agents
    expect(offered.filter((agent) => agent.slug === slug && !agent.isReservedOnly)).toEqual([])
  })

  test('keeps its tasks from others', async () => {
    const work = await nodes.work()
    await withContractor(work)
    expect(grantedTasks(await work.next({ agent: 'dev', session: 's' }, able))).toEqual([])
  })

  test('is terminated by upkeep when its mission has ended, and stays readable', async () => {
    const work = await nodes.work()
    const { mission, slug, by } = await withContractor(work)
    expect(await passOfContractors(work)).toBe(0)
    await finish(work, by)
    expect((await agentNow(work, slug))!.state).toBe('idle')
    expect(await passOfContractors(work)).toBe(1)
    expect(await agentNow(work, slug)).toMatchObject({
      ...{ state: 'terminated', stateReason: 'Its mission has ended.', template: 'dev' },
    })
    expect((await list(work)).map((agent) => agent.slug)).toEqual(['dev'])
    expect((await agentEvents(work)).at(-1)).toMatchObject({
      ...{ type: 'agent_terminated', missionId: mission.id },
      payload: { agent: slug, kind: 'contractor', claims: 0 },
    })
    expect(await passOfContractors(work)).toBe(0)
  })

  test('that still holds something is not terminated before', async () => {
    const work = await nodes.work()
    const { mission, slug, by } = await withContractor(work)
    const [extra] = await work.createAll([newTask({ onlyAgent: slug })])
    const hold = granted(await work.claim(extra!, by))
    await finish(work, by)
    expect((await missionNow(work, mission)).phase).toBe('completed')
    expect(await passOfContractors(work)).toBe(0)
    // Also when upkeep looked a moment earlier.
    await follow(work, slug, mission.id)
    expect((await agentNow(work, slug))!.state).toBe('idle')
    await work.submit(extra!, hold)
    expect(await passOfContractors(work)).toBe(1)
    expect((await agentNow(work, slug))!.state).toBe('terminated')
  })

  test.each(['reset', 'retry'] as const)(
    'works again after a %s, before its tasks are assigned',
    async (how) => {
      const work = await nodes.work()
      const { mission, slug, by } = await withContractor(work)
      const task = await finish(work, by, how === 'retry' ? 'fail' : 'submit')
      await passOfContractors(work)
      if (how === 'reset') await work.reset(task)
      else await commandMission(work, mission.uuid, { kind: 'retry', reason: null })
      await settleAll(work)
      expect(outcome(await work.next(by, able))).toBe('AGENT_TERMINATED')
      expect(await passOfContractors(work)).toBe(1)
      expect(await agentNow(work, slug)).toMatchObject({ state: 'idle', stateReason: null })
      await finish(work, by)
      expect((await missionNow(work, mission)).phase).toBe('completed')
      await passOfContractors(work)
      expect((await agentNow(work, slug))!.state).toBe('terminated')
      const types = (await agentEvents(work)).map(({ type }) => type)
      expect(types.slice(-3)).toEqual(['agent_terminated', 'agent_registered', 'agent_terminated'])
    },
  )

  test('follows its mission as that is under its lock, not as upkeep saw it', async () => {
    const work = await nodes.work()
    const { mission, slug, by } = await withContractor(work)
    const task = await finish(work, by)
    // Upkeep found that it had ended, and a person was faster.
    await work.reset(task)
    await follow(work, slug, mission.id)
    expect((await agentNow(work, slug))!.state).toBe('idle')
    await finish(work, by)
    await follow(work, slug, mission.id)
    expect((await agentNow(work, slug))!.state).toBe('terminated')
  })

  test('is idle exactly when its mission is open, also if both change at once on two nodes', async () => {
    const [here, there] = await nodes.pair({}, NO_COMPANY)
    const { mission, slug, by } = await withContractor(here)
    for (let round = 0; round < rounds(3, 10); round++) {
      const task = await finish(here, by)
      await Promise.all([follow(there, slug, mission.id), here.reset(task)])
      await passOfContractors(there)
      expect((await missionNow(here, mission)).phase).toBe('running')
      expect((await agentNow(here, slug))!.state).toBe('idle')
    }
  })

  test('that a person terminated stays so when its mission is open again', async () => {
    const work = await nodes.work()
    const { slug, by } = await withContractor(work)
    const task = await finish(work, by)
    await terminate(work, slug, false)
    await work.reset(task)
    expect(await passOfContractors(work)).toBe(0)
    expect(await agentNow(work, slug)).toMatchObject({ state: 'terminated', stateReason: 'too dear' })
  })

  test('cannot be registered over, nor under its slug', async () => {
    const work = await nodes.work()
    const { slug } = await withContractor(work)
    const before = await agentNow(work, slug)
    expect(outcome(await register(work, slug, { name: 'Mine' }))).toBe('WRONG_STATE')
    expect(await agentNow(work, slug)).toEqual(before)
    expect(outcome(await register(work, 'dev@mission-0123456789ab'))).toBe('VALIDATION_FAILED')
    expect(recordIn(await register(work, 'dev@mission-0123456789abc')).kind).toBe('roster')
  })

  test('whose slug another agent has is not made', async () => {
    const work = await nodes.work()
    await register(work, 'dev', PROFILE)
    const first = missionIn(await begin(work, (fresh) => [contractorTask(fresh)]))
    const taken = first.contractors[0]!
    const reply = await begin(work, (fresh) => {
      const task = contractorTask(fresh)
      return [{ ...task, onlyAgent: taken, contractor: { ...task.contractor!, slug: taken } }]
    })
    expect(outcome(reply)).toBe('ALREADY_EXISTS')
  })

  test('exists only once its plan is approved', async () => {
    const work = await nodes.work()
    await register(work, 'dev', PROFILE)
    const tasks: NewTask[] = []
    const mission = missionIn(
      await begin(
        work,
        (fresh) => {
          tasks.push(contractorTask(fresh))
          return tasks
        },
        'approve',
      ),
    )
    expect((await list(work)).map((agent) => agent.slug)).toEqual(['dev'])
    expect(mission.contractors).toEqual([])
    const approval = { kind: 'approve', tasks, changes: [], comment: null } as const
    expect(missionIn(await commandMission(work, mission.uuid, approval)).contractors).toHaveLength(1)
    expect((await list(work)).filter((agent) => agent.kind === 'contractor')).toHaveLength(1)
  })

  test('of a newer plan is made with its approval, and the others stay as they are', async () => {
    const work = await nodes.work()
    const { mission, slug } = await withContractor(work)
    await register(work, 'dev', { model: 'haiku' })
    const before = await agentNow(work, slug)
    const { record } = (await work.store.tasks(work.workspace, {}, 10))[0]!
    const changed = contractorTask(mission, { name: 'Eve' })
    const { priority, maxRetries, maxContinuations, onlyAgent, capabilities, verification, optional } =
      changed
    const { timers, continuation, agentChoice } = changed
    const change: OnTask = {
      ...{ taskId: record.id, uuid: record.uuid, expects: 'never_claimed' },
      command: {
        ...{ kind: 'replan', details: {}, changed: ['contractor'], edges: null },
        fields: {
          ...{ priority, maxRetries, maxContinuations, onlyAgent, capabilities, verification, optional },
          ...{ timers, continuation, agentChoice },
        },
        contractor: changed.contractor,
      },
    }
    const added = [contractorTask(mission), contractorTask(mission, { name: 'Ada' })]
    const proposed = planOf(added, { digest: 'newer' })
    await commandMission(work, mission.uuid, { kind: 'propose', proposed })
    const approval = { kind: 'approve', tasks: added, changes: [change], comment: null } as const
    expect(missionIn(await commandMission(work, mission.uuid, approval)).contractors).toHaveLength(3)
    expect(await agentNow(work, slug)).toEqual(before)
    const made = (await list(work)).filter((agent) => agent.kind === 'contractor')
    expect(made.map(({ name, model }) => [name, model]).sort()).toEqual([
      ['Ada', 'haiku'],
      ['Dev', 'opus'],
      ['Eve', 'haiku'],
    ])
    const tasks = await work.store.tasks(work.workspace, {}, 10)
    expect(tasks.find((task) => task.record.id === record.id)!.record.onlyAgent).toBe(onlyAgent)
  })

  test('is one of at most twenty, also over several plans', async () => {
    const work = await nodes.work()
    const { mission } = await withContractor(work)
    const named = (count: number) =>
      Array.from({ length: count }, (_, i) => contractorTask(mission, { name: `n${i}` }))
    const approve = async (tasks: NewTask[]) => {
      await commandMission(work, mission.uuid, {
        kind: 'propose',
        proposed: planOf(tasks, { digest: `${tasks.length}` }),
      })
      return commandMission(work, mission.uuid, { kind: 'approve', tasks, changes: [], comment: null })
    }
    expect(outcome(await approve(named(20)))).toBe('LIMIT_REACHED')
    expect(await list(work)).toHaveLength(2)
    expect((await approve(named(19))).ok).toBe(true)
    expect((await missionNow(work, mission)).contractors).toHaveLength(20)
  })
})

describe('on postgres, what waits for a contractor', () => {
  const nodes = useNodes('postgres')
  const alerts = async (work: Work) => {
    await settleMarksOf(kernelOf(work) as ServerKernel, work.workspace)
    const filter = { kinds: ['alert'], missionId: null, sort: 'oldest', after: null } as const
    return (await readInbox((work.store as PostgresStore).readers, work.workspace, filter, 10)).counts.alert
  }

  test('waits for no person while its mission is open again, unless a person ended the contractor', async () => {
    const work = await nodes.work()
    const { slug, by } = await withContractor(work)
    const task = await finish(work, by)
    await passOfContractors(work)
    await work.reset(task)
    expect((await agentNow(work, slug))!.state).toBe('terminated')
    expect(await alerts(work)).toBe(0)
    await passOfContractors(work)
    await terminate(work, slug, false)
    expect(await alerts(work)).toBe(1)
  })

  test('waits for a person when it belongs to nothing that is open', async () => {
    const work = await nodes.work()
    const { slug, by } = await withContractor(work)
    await finish(work, by)
    await passOfContractors(work)
    await work.createAll([newTask({ onlyAgent: slug })])
    expect(await alerts(work)).toBe(1)
  })
})
