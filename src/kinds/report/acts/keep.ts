import type { RunKernel } from '../../../door/server-kernel.ts'
import { freshUuid } from '../../../kernel/fresh-uuid.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import { StoreUnavailable } from '../../../kernel/store/store.ts'
import { type Refusal, Refused } from '../../../pure/errors.ts'
import type { MissionRecord } from '../../mission/record.ts'
import type { MissionGranted } from '../../replies.ts'
import type { NewReport } from '../rules/report.ts'

/** How reports are written: each as the next version of those on the same subject. */

/** Of the mission itself, among the numbers of its tasks. */
const MISSION = 0
const TRIES = 10

export type Draft = Omit<NewReport, 'uuid' | 'version'>

/** The drafts, without those whose end is reported on already. Null: nothing was left to write. */
export async function keepReports(
  kernel: RunKernel,
  caller: Caller,
  missionId: number,
  drafts: readonly Draft[],
): Promise<MissionGranted | null> {
  for (let tries = 1; tries <= TRIES; tries++) {
    // Before the versions: whatever is written from here on changes the number of reports.
    const mission = await kernel.store.missions.find(caller.workspaceId, missionId)
    if (!mission) return null
    const reports = await nextVersions(kernel, caller, missionId, drafts)
    if (reports.length === 0) return null
    const reply = await send(kernel, caller, mission, reports)
    if (reply.ok) return reply
    if (reply.code !== 'CHANGED_SINCE') throw Refused.because(reply)
  }
  throw new StoreUnavailable('Other reports on this mission were written on every try.')
}

const send = (
  kernel: RunKernel,
  caller: Caller,
  { uuid, reportCount: seen }: MissionRecord,
  reports: readonly NewReport[],
): Promise<MissionGranted | Refusal> =>
  kernel.run(caller, { on: 'mission', key: uuid, uuid, command: { kind: 'report', seen, reports } })

/** Their ends come in the order of the log, so the last one that is reported on tells which are. */
async function nextVersions(
  kernel: RunKernel,
  { workspaceId }: Caller,
  missionId: number,
  drafts: readonly Draft[],
): Promise<NewReport[]> {
  const subjects = [...new Set(drafts.map(({ task }) => task?.id ?? MISSION))]
  const known = await kernel.store.reports.reported(workspaceId, missionId, subjects)
  const newest = new Map(known.map(({ subject, ...rest }) => [subject, rest]))
  return drafts.flatMap((draft) => {
    const subject = draft.task?.id ?? MISSION
    const { version, endedSeq } = newest.get(subject) ?? { version: 0, endedSeq: null }
    if (draft.endedSeq !== null && endedSeq !== null && draft.endedSeq <= endedSeq) return []
    newest.set(subject, { version: version + 1, endedSeq: draft.endedSeq ?? endedSeq })
    return { ...draft, uuid: freshUuid(), version: version + 1 }
  })
}
