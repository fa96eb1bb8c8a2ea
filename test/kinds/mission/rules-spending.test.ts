import { describe, expect, test } from 'vitest'
import type { MissionRecord } from '../../../src/kinds/mission/record.ts'
import type { MissionCommand } from '../../../src/kinds/mission/rules/command.ts'
import { decideMission } from '../../../src/kinds/mission/rules/decide.ts'
import { isSnapshotDue, percentUsed } from '../../../src/kinds/mission/rules/spending.ts'
import { MissionConfig } from '../../../src/kinds/mission/shapes/missions.ts'

/** What a mission has spent, and when an event says so. */

const spent = (usd: string, tokens: number) => ({
  ...{ byState: {}, failedOptional: 0, children: 0, usd, notionalUsd: '0', tokens, runs: 1, unknownRuns: 0 },
})
const mission = (
  [usd, tokens]: [string, number],
  told: [string, number] | null,
  budget?: { maxUsd?: string; maxTokens?: number },
) => ({
  config: MissionConfig.parse({ budget }),
  counts: spent(usd, tokens),
  snapshot: told && { usd: told[0], tokens: told[1] },
})

describe('a snapshot of what a mission costs', () => {
  test('is due with the first cost, and not before', () => {
    expect(isSnapshotDue(mission(['0', 0], null))).toBe(false)
    expect(isSnapshotDue(mission(['0.000000001', 0], null))).toBe(true)
    expect(isSnapshotDue(mission(['0', 1], null))).toBe(true)
  })

  test('is due again with each tenth of the budget', () => {
    const budget = { maxUsd: '5.00' }
    expect(isSnapshotDue(mission(['0.499999999', 0], null, budget))).toBe(false)
    expect(isSnapshotDue(mission(['0.5', 0], null, budget))).toBe(true)
    expect(isSnapshotDue(mission(['0.9', 0], ['0.5', 0], budget))).toBe(false)
    expect(isSnapshotDue(mission(['1', 0], ['0.5', 0], budget))).toBe(true)
    expect(isSnapshotDue(mission(['0', 99], null, { maxTokens: 1_000 }))).toBe(false)
    expect(isSnapshotDue(mission(['0', 100], null, { maxTokens: 1_000 }))).toBe(true)
  })

  test('without a budget is due when a tenth was added to the last one', () => {
    expect(isSnapshotDue(mission(['1.09', 0], ['1', 0]))).toBe(false)
    expect(isSnapshotDue(mission(['1.1', 0], ['1', 0]))).toBe(true)
    expect(isSnapshotDue(mission(['1', 1_099], ['1', 1_000]))).toBe(false)
    expect(isSnapshotDue(mission(['1', 1_100], ['1', 1_000]))).toBe(true)
  })

  test('says how much of the budget is used, by what is used most', () => {
    expect(percentUsed(mission(['1', 10], null))).toBe(null)
    expect(percentUsed(mission(['1.25', 10], null, { maxUsd: '5', maxTokens: 1_000 }))).toBe(25)
    expect(percentUsed(mission(['1.25', 333], null, { maxUsd: '5', maxTokens: 1_000 }))).toBe(33.3)
    expect(percentUsed(mission(['0', 0], null, { maxUsd: '0' }))).toBe(100)
  })

  test('is no change of the mission: who edits it is not disturbed, and it comes once', () => {
    const context = { now: 1_000, actor: 'system' }
    const record = {
      ...mission(['1', 10], null, { maxUsd: '2' }),
      ...{ id: 1, uuid: 'm', phase: 'running', closedBy: [], version: 7, updatedAt: 5 },
    } as unknown as MissionRecord
    const command: MissionCommand = { kind: 'snapshot', byTask: [{ taskId: 't', tokens: 10, costUsd: '1' }] }
    const first = decideMission(record, 'm', command, context)
    expect(first.record).toMatchObject({ version: 7, updatedAt: 5, snapshot: { usd: '1', tokens: 10 } })
    expect(first.events).toMatchObject([
      {
        type: 'cost_snapshot',
        missionId: 1,
        from: null,
        payload: { missionId: 'm', totalCost: '1', totalTokens: 10, percentUsed: 50, byTask: command.byTask },
      },
    ])
    expect(decideMission(first.record, 'm', command, context).events).toEqual([])
    const ended = { ...record, phase: 'completed' } as MissionRecord
    expect(decideMission(ended, 'm', command, context).events).toEqual([])
  })
})
