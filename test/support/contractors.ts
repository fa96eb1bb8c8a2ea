import { randomUUID } from 'node:crypto'
import { contractorSlugOf } from '../../src/kinds/mission/acts/contractors.ts'
import type { MissionRecord } from '../../src/kinds/mission/record.ts'
import type { NewTask } from '../../src/kinds/task/command.ts'
import { missionTask } from './missions.ts'
import type { Overrides } from './tasks.ts'

/** A task that is reserved for the contractor of this template and name. */
export function contractorTask(
  { id, uuid }: Pick<MissionRecord, 'id' | 'uuid'>,
  more: Overrides & { template?: string; name?: string } = {},
): NewTask {
  const { template = 'dev', name, ...rest } = more
  const slug = contractorSlugOf(uuid, { template, ...(name !== undefined && { name }) })
  const contractor = { slug, uuid: randomUUID(), template, name: name ?? null, missionId: id, mission: uuid }
  return missionTask(id, { onlyAgent: slug, contractor, ...rest })
}
