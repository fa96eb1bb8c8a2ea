import type { Changes } from '../../../kernel/batch/requests.ts'
import { type Bound, columnsOf, insertInto } from '../../../postgres/statements/statements.ts'

/** Reports on the write path. */

// Their missions are locked.
const insertReports = insertInto(
  'reports',
  columnsOf({
    uuid: 'uuid',
    mission_id: 'bigint',
    task_id: 'bigint',
    version: 'int',
    type: 'text',
    source: 'text',
    author: 'text',
    ended_seq: 'bigint',
    markdown: 'text',
    created_at: 'instant',
  }),
)

export function reportWrites(workspaceId: number, { reports }: Changes): Bound[] {
  if (reports.length === 0) return []
  return [
    insertReports(workspaceId, [
      reports.map(({ uuid }) => uuid),
      reports.map(({ missionId }) => missionId),
      reports.map(({ task }) => task?.id ?? null),
      reports.map(({ version }) => version),
      reports.map(({ type }) => type),
      reports.map(({ source }) => source),
      reports.map(({ author }) => author),
      reports.map(({ endedSeq }) => endedSeq),
      reports.map(({ markdown }) => markdown),
      reports.map(({ at }) => at),
    ]),
  ]
}
