import { describe, expect, test } from 'vitest'
import { openFor } from '../../../src/kinds/mission/rules/gate.ts'
import {
  GATE_REASONS,
  type GateReason,
  isEnd,
  MISSION_PHASES,
  MISSION_TRANSITIONS,
  type MissionTransition,
  missionStates,
  moved,
  NEW,
  stateOf,
} from '../../../src/kinds/mission/states.ts'
import { databaseUrlOf, superuser, useNodes } from '../../support/nodes.ts'

/** The states of missions: the table itself, and the columns of the database that repeat it. */

const names = Object.keys(MISSION_TRANSITIONS) as MissionTransition[]

/** Every set of reasons. */
const gates: GateReason[][] = Array.from({ length: 2 ** GATE_REASONS.length }, (_, bits) =>
  GATE_REASONS.filter((_reason, i) => bits & (1 << i)),
)
/** An ended mission is closed by nothing. */
const possible = MISSION_PHASES.flatMap((phase) =>
  gates.filter((closedBy) => !isEnd(phase) || closedBy.length === 0).map((closedBy) => ({ phase, closedBy })),
)

describe('the table of missions', () => {
  test('reaches every phase, and closes the gate for every reason (AC-18)', () => {
    const found = new Set<string>([NEW])
    for (let size = 0; size < found.size; ) {
      size = found.size
      for (const { from, to } of Object.values(MISSION_TRANSITIONS))
        if (to !== null && from.some((phase) => found.has(phase))) found.add(to)
    }
    found.delete(NEW)
    expect([...found].sort()).toEqual([...MISSION_PHASES].sort())
    const closes = Object.values(MISSION_TRANSITIONS).flatMap((one) => ('closes' in one ? [one.closes] : []))
    expect([...new Set(closes)].sort()).toEqual([...GATE_REASONS].sort())
  })

  test('refuses every change that is not in it (AC-18)', () => {
    for (const name of names)
      for (const before of [NEW, ...possible] as const) {
        const isThere = (MISSION_TRANSITIONS[name].from as readonly string[]).includes(
          before === NEW ? NEW : before.phase,
        )
        if (isThere) expect(() => moved(name, before)).not.toThrow()
        else expect(() => moved(name, before)).toThrow('is not possible from')
      }
  })

  test('adds and removes one reason at a time, and leaves none at an end', () => {
    const closed = { phase: 'running', closedBy: ['budget'] } as const
    expect(moved('mission_paused', closed)).toEqual({ phase: 'running', closedBy: ['budget', 'paused'] })
    expect(moved('mission_resumed', { phase: 'running', closedBy: ['budget', 'paused'] })).toEqual(closed)
    expect(moved('mission_cancelled', closed)).toEqual({ phase: 'cancelled', closedBy: [] })
  })

  test('shows a pause before a spent budget, and an end before either', () => {
    expect(stateOf({ phase: 'running', closedBy: ['budget', 'paused'] })).toBe('paused')
    expect(stateOf({ phase: 'planning', closedBy: ['budget'] })).toBe('budget_exceeded')
    expect(stateOf({ phase: 'running', closedBy: ['cancelling'] })).toBe('running')
    expect(stateOf({ phase: 'failed', closedBy: [] })).toBe('failed')
  })

  test('hands out planning before approval, everything while it runs, and nothing while it is closed', () => {
    expect(openFor({ phase: 'pending', closedBy: [] })).toBe('none')
    expect(openFor({ phase: 'planning', closedBy: [] })).toBe('planning')
    expect(openFor({ phase: 'awaiting_approval', closedBy: ['unapproved'] })).toBe('planning')
    expect(openFor({ phase: 'running', closedBy: [] })).toBe('all')
    for (const reason of ['paused', 'budget', 'cancelling'] as const)
      expect(openFor({ phase: 'running', closedBy: [reason] })).toBe('none')
    expect(openFor({ phase: 'completed', closedBy: [] })).toBe('report')
  })
})

describe('the database', () => {
  const nodes = useNodes('postgres')

  test('accepts the state and the gate that the core derives, and no others, for every phase and every set of reasons', async () => {
    const { store, workspace } = await nodes.work()
    await superuser(databaseUrlOf(store), async (client) => {
      const insert = (
        id: number,
        { phase, closedBy }: (typeof possible)[number],
        state: string,
        opens: string,
      ) =>
        client
          .query(
            `insert into baton.missions (workspace_id, mission_id, uuid, goal, title, priority, config, phase, closed_by, state,
               open_for, plan_version, approved_version, created_by, created_at, updated_at, completed_at)
             values ($1, $2, gen_random_uuid(), 'g', 't', 5, '{}', $3, $4, $5, $6, 1, 1, 'test', now(), now(), $7)`,
            [workspace, id, phase, closedBy, state, opens, isEnd(phase) ? new Date() : null],
          )
          .then(
            () => 'accepted',
            (error) => error.constraint,
          )
      for (const [i, gate] of possible.entries()) {
        const [state, opens] = [stateOf(gate), openFor(gate)]
        for (const other of missionStates.filter((one) => one !== state))
          expect(await insert(i, gate, other, opens)).toBe('missions_state')
        for (const other of ['none', 'planning', 'all', 'report'].filter((one) => one !== opens))
          expect(await insert(i, gate, state, other)).toBe('missions_open_for')
        expect(await insert(i, gate, state, opens), JSON.stringify(gate)).toBe('accepted')
      }
    })
  })
})
