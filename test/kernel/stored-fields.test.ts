import { randomBytes, randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { decideAll } from '../../src/kernel/batch/decide-all.ts'
import { readSetOf } from '../../src/kernel/batch/requests.ts'
import type { RunStore } from '../../src/kernel/store/run-store.ts'
import { AGENT_FIELDS, type AgentRecord, HEALTH_FIELDS } from '../../src/kinds/agent/record.ts'
import { KINDS } from '../../src/kinds/all.ts'
import type { Kind, KindName, KindShape, KindTypes } from '../../src/kinds/kind.ts'
import { MISSION_FIELDS } from '../../src/kinds/mission/record.ts'
import { MissionConfig } from '../../src/kinds/mission/shapes/missions.ts'
import { ROUTINE_FIELDS } from '../../src/kinds/routine/record.ts'
import { VariablesSchema } from '../../src/kinds/routine/rules/variables.ts'
import { RoutineConfig, Schedule } from '../../src/kinds/routine/shapes.ts'
import {
  RUN_FIELDS,
  RUNTIME_FIELDS,
  SHOWN_RUN_FIELDS,
  TASK_SESSION_FIELDS,
  WAKEUP_FIELDS,
} from '../../src/kinds/run/record.ts'
import {
  keyedName,
  NOTHING_ASKED,
  NOTHING_CHANGED,
  type RunsChanges,
} from '../../src/kinds/run/rules/step.ts'
import { type Fields, type FieldType, only, type RecordOf } from '../../src/pure/fields.ts'
import { register } from '../support/agents.ts'
import { createMission, missionIn, missionTask } from '../support/missions.ts'
import { batchStep, storeKinds, useNodes } from '../support/nodes.ts'
import { createRoutine, routineIn } from '../support/routines.ts'
import type { Work } from '../support/tasks.ts'

/** Whatever a record holds in its fields is read as it was written: by new rows and by changes of rows. */

const kinds = storeKinds.filter((kind) => kind === 'memory' || kind === 'postgres')

let last = 0
/** A value that no other field has. */
const SAMPLES: { [T in FieldType]: () => unknown } = {
  bigint: () => 2 ** 40 + ++last,
  int: () => 100_000 + ++last,
  smallint: () => 1 + (++last % 9),
  text: () => `text ${++last}, "quoted" \\ and {braced}`,
  boolean: () => true,
  instant: () => 1_700_000_000_000 + ++last,
  texts: () => [`a ${++last}`, 'b, "c"'],
  ints: () => [++last, ++last],
  uuid: () => randomUUID(),
  json: () => ({ number: ++last, texts: ['a', null] }),
  bytes: () => randomBytes(32).toString('hex'),
  'double precision': () => ++last + 0.5,
  numeric: () => `${++last}.25`,
}

/** A value in every field: those that are given, and others. */
const filled = <F extends Fields>(fields: F, given: Partial<RecordOf<F>>): RecordOf<F> =>
  ({
    ...Object.fromEntries(Object.entries(fields).map(([name, { type }]) => [name, SAMPLES[type]()])),
    ...given,
  }) as RecordOf<F>

/** Each field has a value in one of these records: none is only ever null. */
function expectAllFilled<F extends Fields>(fields: F, ...records: readonly Partial<RecordOf<F>>[]) {
  const empty = Object.keys(fields).filter((name) => records.every((record) => record[name] == null))
  expect(empty).toEqual([])
}

describe.each(kinds)('on %s', (kind) => {
  const nodes = useNodes(kind)
  const storeOf = (work: Work) => work.store as RunStore

  /** What a store has of a record after it was written. */
  async function kept<K extends KindName>(work: Work, on: K, record: KindTypes[K]['record']) {
    const { keyOf } = KINDS[on] as unknown as Kind<KindShape>
    const nothing = readSetOf([])
    const reads = { ...nothing, kinds: { ...nothing.kinds, [on]: [keyOf(record)] } }
    await storeOf(work).transact(
      work.workspace,
      batchStep<null, KindName>(reads, (view) => {
        const { changes } = decideAll(view, [])
        const written = { ...changes.kinds, [on]: { written: [record], removed: [] } }
        return { answer: null, changes: { ...changes, kinds: written } }
      }),
    )
    return storeOf(work).transact(
      work.workspace,
      batchStep<KindTypes[K]['record'], KindName>(reads, (view) => ({
        answer: [...view.kinds[on].seen.values()][0]!.record,
        changes: decideAll(view, []).changes,
      })),
    )
  }

  test('a routine', async () => {
    const work = await nodes.work()
    const origin = missionIn(await createMission(work, (id) => [missionTask(id)]))
    const { id, uuid, ...before } = routineIn(await createRoutine(work, null))
    const given = {
      ...{ id, uuid, projectId: before.projectId, originId: origin.id },
      config: RoutineConfig.parse({ autonomy: 'approve', maxParallel: 3 }),
      variables: VariablesSchema.parse({ type: 'object', properties: { name: { type: 'string' } } }),
      schedule: Schedule.parse({ cron: '0 * * * *', overlap: 'queue' }),
      waiting: [1_000, 2_000],
    }
    const others = { project: null, origin: origin.uuid, plan: null }
    const waits = { ...filled(ROUTINE_FIELDS, { ...given, removedAt: null }), ...others }
    expect(await kept(work, 'routine', waits)).toEqual(waits)
    const removed = {
      ...filled(ROUTINE_FIELDS, { ...given, nextAt: null, waiting: [], isReplacing: false }),
      ...others,
    }
    expect(await kept(work, 'routine', removed)).toEqual(removed)
    expectAllFilled(ROUTINE_FIELDS, waits, removed)
  })

  test('a mission', async () => {
    const work = await nodes.work()
    const before = missionIn(await createMission(work, (id) => [missionTask(id)]))
    const first = missionIn(await createMission(work, (id) => [missionTask(id)]))
    const { id, uuid, projectId, project, plan, approved, counts } = before
    const given = {
      ...{ id, uuid, projectId, afterId: first.id },
      config: MissionConfig.parse({ autonomy: 'full_auto', maxParallel: 3 }),
      snapshot: { usd: '1.5', tokens: 7 },
    }
    const others = { project, plan: { ...plan!, body: null }, approved, counts, after: first.uuid }
    const running = {
      ...filled(MISSION_FIELDS, {
        ...given,
        phase: 'running',
        closedBy: ['paused', 'budget'],
        completedAt: null,
      }),
      ...others,
    }
    expect(await kept(work, 'mission', running)).toEqual({ ...running, counts: expect.anything() })
    const failed = {
      ...filled(MISSION_FIELDS, { ...given, phase: 'failed', closedBy: [], retryAt: null }),
      ...others,
    }
    expect(await kept(work, 'mission', failed)).toEqual({ ...failed, counts: expect.anything() })
    expectAllFilled(MISSION_FIELDS, running, failed)
  })

  test('an agent, new and changed', async () => {
    const work = await nodes.work()
    const { id: missionId, uuid: mission } = missionIn(await createMission(work, (id) => [missionTask(id)]))
    const given = { slug: 'a@mission-0123456789ab', uuid: randomUUID(), missionId, mission }
    const agent = (state: AgentRecord['state']): AgentRecord => ({
      ...filled(AGENT_FIELDS, { ...given, kind: 'contractor', state }),
      health: filled(HEALTH_FIELDS, { status: 'degraded', progressPercent: 50.5 }),
    })
    const [fresh, changed] = [agent('idle'), agent('paused')]
    expect(await kept(work, 'agent', fresh)).toEqual(fresh)
    expect(await kept(work, 'agent', changed)).toEqual(changed)
    expectAllFilled(AGENT_FIELDS, fresh)
    expectAllFilled(HEALTH_FIELDS, fresh.health!)
  })

  /** What a store has of the agent, these runs and wakeups, after a change. */
  const afterwards = (
    work: Work,
    agent: string,
    changes: Partial<RunsChanges>,
    runs: readonly string[],
    keys: readonly string[] = [],
  ) =>
    storeOf(work)
      .transact(work.workspace, {
        on: 'runs',
        reads: NOTHING_ASKED,
        decide: () => ({ answer: null, changes: { ...NOTHING_CHANGED, ...changes } }),
      })
      .then(() =>
        storeOf(work).transact(work.workspace, {
          on: 'runs',
          reads: { ...NOTHING_ASKED, agents: [agent], runs, keys: keys.map((key) => ({ agent, key })) },
          decide: (view) => ({ answer: view, changes: NOTHING_CHANGED }),
        }),
      )

  test('a wakeup and its run, new and changed', async () => {
    const work = await nodes.work()
    await register(work, 'alpha', { adapterType: 'scripted' })
    const task = await work.create()
    const runId = randomUUID()
    const about = { agent: 'alpha', source: 'timer', triggerDetail: 'manual' } as const
    const claimed = filled(WAKEUP_FIELDS, {
      ...{ ...about, runId, status: 'claimed', intoId: null, skipReason: null, finishedAt: null },
    })
    const over = { ...about, runId: null, claimedAt: null }
    const joined = filled(WAKEUP_FIELDS, {
      ...over,
      status: 'coalesced',
      intoId: claimed.id,
      skipReason: null,
    })
    const skipped = filled(WAKEUP_FIELDS, { ...over, status: 'skipped', intoId: null })
    const given = {
      ...{ ...about, id: runId, wakeupId: claimed.id, usageBasis: 'reported', logStore: 'local_file' },
      ...{ taskUuid: task.uuid, taskId: task.id },
    }
    const live = filled(RUN_FIELDS, {
      ...{ ...given, status: 'running', finishedAt: null },
      awaiting: { taken: 2, read: 1, isAnswered: true, state: { a: 1 } },
    })
    const wakeups = [claimed, joined, skipped]
    const keys = wakeups.map(({ idempotencyKey }) => idempotencyKey!)
    const began = await afterwards(work, 'alpha', { newWakeups: wakeups, newRuns: [live] }, [runId], keys)
    expect(began.runs.get(runId)).toEqual(live)
    expect(began.wakeups.get(claimed.id)).toEqual(claimed)
    expect(keys.map((key) => began.keyed.get(keyedName('alpha', key)))).toEqual(wakeups)
    const ended = filled(RUN_FIELDS, {
      ...{ ...given, status: 'failed', tokenHash: null, awaiting: null, answerDueAt: null },
    })
    const { id, ...set } = ended
    const after = await afterwards(work, 'alpha', { runs: [{ id, set }] }, [runId])
    expect(after.runs.get(runId)).toEqual(ended)
    const shown = await storeOf(work).runs.find(work.workspace, runId)
    expect(only({ ...SHOWN_RUN_FIELDS, ...RUN_FIELDS }, { ...ended, ...shown })).toEqual(ended)
    expect(shown).not.toHaveProperty('tokenHash')
    expect(shown).not.toHaveProperty('promptedTaskComment')
    expectAllFilled(WAKEUP_FIELDS, ...wakeups)
    expectAllFilled(RUN_FIELDS, live, ended)
  })

  test('what an agent keeps between runs', async () => {
    const work = await nodes.work()
    await register(work, 'alpha', { adapterType: 'scripted' })
    await afterwards(work, 'alpha', {}, [])
    const { agent: id, ...set } = filled(RUNTIME_FIELDS, { agent: 'alpha', lastRunStatus: 'failed' })
    const session = filled(TASK_SESSION_FIELDS, { agent: 'alpha' })
    const seen = await afterwards(work, 'alpha', { runtime: [{ id, set }], sessions: [session] }, [])
    expect(seen.runtime.get('alpha')).toEqual({ agent: 'alpha', ...set })
    const { runtime } = storeOf(work)
    expect(await runtime.state(work.workspace, 'alpha')).toEqual({ agent: 'alpha', ...set })
    expect(await runtime.taskSessions(work.workspace, 'alpha')).toEqual([session])
    const { agent, adapterType, taskKey, createdAt } = session
    const changed = filled(TASK_SESSION_FIELDS, { agent, adapterType, taskKey })
    await afterwards(work, 'alpha', { sessions: [changed] }, [])
    // Replaced, but for the time when it began.
    expect(await runtime.taskSessions(work.workspace, 'alpha')).toEqual([{ ...changed, createdAt }])
  })
})
