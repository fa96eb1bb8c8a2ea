import { describe, expect, test } from 'vitest'
import { freshUuid } from '../../../src/kernel/fresh-uuid.ts'
import type { RunStore } from '../../../src/kernel/store/run-store.ts'
import type { NewReport } from '../../../src/kinds/report/rules/report.ts'
import { commandMission, createMission, missionIn, missionTask } from '../../support/missions.ts'
import { storeKinds, useNodes } from '../../support/nodes.ts'
import { outcome, type Work } from '../../support/tasks.ts'

/** Reports are held by the server's store, and by the one it is compared with. */
const kinds = storeKinds.filter((kind) => kind === 'memory' || kind === 'postgres')

const draft = (version: number, more: Partial<NewReport> = {}): NewReport => ({
  ...{ uuid: freshUuid(), task: null, version, type: 'summary', source: 'submitted', endedSeq: null },
  markdown: `Version ${version}`,
  ...more,
})

describe.each(kinds)('on %s', (kind) => {
  const nodes = useNodes(kind)
  const begun = async () => {
    const work = await nodes.work()
    return { work, mission: missionIn(await createMission(work, (id) => [missionTask(id)])) }
  }
  const report = (work: Work, { uuid }: { uuid: string }, seen: number, ...reports: NewReport[]) =>
    commandMission(work, uuid, { kind: 'report', seen, reports })
  const newest = (work: Work, missionId: number, version?: number) =>
    (work.store as RunStore).reports.newest(work.workspace, { missionId, taskId: null }, version)

  test('a report is stored with its author and its event, and leaves the version of the mission', async () => {
    const { work, mission } = await begun()
    const written = draft(1, { author: 'agent:reporter' })
    const reply = await report(work, mission, 0, written)
    expect(reply).toMatchObject({ ok: true, reports: [{ uuid: written.uuid, version: 1 }] })
    expect(missionIn(reply)).toMatchObject({ version: mission.version, reportCount: 1 })
    expect(await newest(work, mission.id)).toMatchObject({
      ...{ uuid: written.uuid, mission: mission.uuid, task: null, version: 1, author: 'agent:reporter' },
      ...{ type: 'summary', source: 'submitted', markdown: 'Version 1', endedSeq: null },
    })
    const events = (await work.events()).filter(({ type }) => type === 'report_written')
    expect(events).toMatchObject([
      { missionId: mission.id, actor: 'key:test', from: null, to: null, payload: { reportId: written.uuid } },
    ])
  })

  test('a report whose version was read before another was written is refused, and leaves nothing', async () => {
    const { work, mission } = await begun()
    await report(work, mission, 0, draft(1))
    expect(outcome(await report(work, mission, 0, draft(1)))).toBe('CHANGED_SINCE')
    expect(await newest(work, mission.id)).toMatchObject({ version: 1 })
    expect((await work.events()).filter(({ type }) => type === 'report_written')).toHaveLength(1)
    await report(work, mission, 1, draft(2), draft(3))
    expect([await newest(work, mission.id), await newest(work, mission.id, 2)]).toMatchObject([
      { version: 3 },
      { version: 2 },
    ])
    expect(await newest(work, mission.id, 4)).toBeNull()
  })
})
