import type { FastifyInstance } from 'fastify'
import {
  discardWork as discardEndpoint,
  readChanges,
  readChangesOfMission,
  readChangesOfTask,
} from '../../core/api/changes.ts'
import { changesOfRun, changesOfTask } from '../../flow/changes.ts'
import { discardWork } from '../../flow/discard.ts'
import type { ChangesAsked, Execution } from '../../flow/execution.ts'
import { changesOfMission } from '../../flow/missions/changes.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { serve } from '../endpoint.ts'

export function changeRoutes(app: FastifyInstance, kernel: ServerKernel, execution: Execution): void {
  serve(app, readChanges, ({ params, query, caller }) =>
    changesOfRun(kernel, execution, caller, params.id, askedIn(query)),
  )
  serve(app, readChangesOfTask, ({ params, query: { generation, ...query }, caller }) => {
    const asked = { ...askedIn(query), generation: numberOf(generation) }
    return changesOfTask(kernel, execution, caller, params.id, asked)
  })
  serve(app, readChangesOfMission, ({ params, query: { path = null, repository = null }, caller }) =>
    changesOfMission(kernel, execution, caller, params.id, { path, repository }),
  )
  serve(app, discardEndpoint, ({ params, body, caller }) =>
    discardWork(kernel, execution, caller, params.id, body),
  )
}

interface Query {
  path?: string | null | undefined
  diff?: 'whole' | undefined
  since: ChangesAsked['since']
}

const askedIn = ({ path = null, diff, since }: Query) => ({
  ...{ path, since, isWhole: diff === 'whole' && path === null },
})

const numberOf = (text: string | undefined) => (text === undefined ? undefined : Number(text))
