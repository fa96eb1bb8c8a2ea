import type { FastifyInstance } from 'fastify'
import type { z } from 'zod'
import type { Endpoint } from '../../core/api/endpoint.ts'
import * as api from '../../core/api/missions.ts'
import type { MissionParams, MissionView } from '../../core/shapes/missions.ts'
import {
  approveMission,
  cloneMission,
  createMission,
  operateMission,
  rejectMission,
  type showMission,
} from '../../flow/missions/missions.ts'
import { saidIn } from '../../flow/said.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { serve } from '../endpoint.ts'
import { etag, versionIn } from '../versions.ts'
import { missionReads } from './mission-reads.ts'

/** Missions and what people do to them. */

export function missionRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  serve(app, api.createMission, async ({ body, caller }, reply) => {
    const mission = await createMission(kernel, caller, body)
    return reply.code(201).header('etag', etag(mission.version)).send(mission)
  })
  missionReads(app, kernel)
  missionActs(app, kernel)
}

function missionActs(app: FastifyInstance, kernel: ServerKernel): void {
  serve(app, api.changeMission, async ({ params, body, caller, headers }, reply) => {
    const command = { kind: 'update', ifVersion: versionIn(headers['if-match']), patch: body } as const
    const mission = await operateMission(kernel, caller, params.id, command)
    return reply.header('etag', etag(mission.version)).send(mission)
  })
  stateActs(app, kernel)
}

interface ActOnMission<B extends z.ZodType> extends Endpoint {
  readonly params: typeof MissionParams
  readonly body: B
  readonly status: number
  readonly answer: typeof MissionView
}

/** Acts that change its state. */
function stateActs(app: FastifyInstance, kernel: ServerKernel): void {
  const act = <B extends z.ZodType>(
    endpoint: ActOnMission<B>,
    run: (
      caller: Parameters<typeof showMission>[1],
      id: string,
      body: z.output<B>,
    ) => ReturnType<typeof showMission>,
  ) =>
    serve(app, endpoint, async ({ params, body, caller }, reply) =>
      reply.code(endpoint.status).send(await run(caller, params.id, endpoint.body.parse(body ?? {}))),
    )

  act(api.approveMission, (caller, id, body) => approveMission(kernel, caller, id, body))
  act(api.rejectMission, (caller, id, body) => rejectMission(kernel, caller, id, body))
  act(api.pauseMission, (caller, id, { reason = null }) =>
    operateMission(kernel, caller, id, { kind: 'pause', reason }),
  )
  act(api.resumeMission, (caller, id) => operateMission(kernel, caller, id, { kind: 'resume' }))
  act(api.cancelMission, (caller, id, { reason = null }) =>
    operateMission(kernel, caller, id, { kind: 'cancel', reason }),
  )
  act(api.retryMission, (caller, id, { reason = null, comment }) =>
    operateMission(kernel, caller, id, { kind: 'retry', reason, said: saidIn(comment) }),
  )
  act(api.cloneMission, (caller, id) => cloneMission(kernel, caller, id))
}
