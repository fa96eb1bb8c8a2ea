import type { Execution, MissionChangesAsked } from '../../../door/execution.ts'
import type { ServerKernel } from '../../../door/server-kernel.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import { Refused } from '../../../pure/errors.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import { workOfMission } from '../postgres/work.ts'
import type { MissionChangesView } from '../shapes/changes.ts'
import { requireMission } from './missions.ts'

/** What a mission has changed in repositories, as far as the caller may see it. */

const MOST_WORK = 10_000

export async function changesOfMission(
  kernel: ServerKernel,
  execution: Execution,
  caller: Caller,
  uuid: string,
  asked: MissionChangesAsked,
): Promise<AnswerOf<typeof MissionChangesView>> {
  const { id } = await requireMission(kernel, caller, uuid)
  const { taskCount, works } = await workOfMission(
    kernel.store.readers,
    caller.workspaceId,
    id,
    MOST_WORK + 1,
  )
  const seen = works.slice(0, MOST_WORK)
  const isShown = caller.rights.has('configure_agents')
  const { repositories, elsewhere } = await execution.missionChanges(seen, asked)
  if (asked.repository !== null && repositories.length + elsewhere.length === 0)
    throw new Refused('NOT_FOUND', 'The mission has no accepted work in a repository of this name.')
  return {
    missionId: uuid,
    ...{ taskCount, withoutWork: taskCount - works.length, isCut: works.length > MOST_WORK },
    repositories: isShown
      ? repositories
      : repositories.map((one) => ({ ...one, path: null, mergeCommands: null })),
    elsewhere,
  }
}
