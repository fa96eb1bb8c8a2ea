import type { FastifyInstance } from 'fastify'
import type { z } from 'zod'
import {
  ApproveBody,
  MissionAct,
  MissionCreate,
  MissionParams,
  MissionPatchBody,
  MissionRetry,
  MissionView,
  RejectBody,
} from '../../core/shapes/missions.ts'
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
import { route } from '../schema.ts'
import { etag, versionIn } from '../versions.ts'
import { missionReads } from './mission-reads.ts'

/** Missions and what people do to them. */

const tag = 'missions'
/** Ten thousand tasks take a few megabytes. */
const LARGEST_MISSION_BYTES = 32 * 1024 * 1024

type Params = { Params: { id: string } }

export function missionRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  app.post<{ Body: z.output<typeof MissionCreate> }>(
    '/missions',
    route({
      summary: 'Create a mission with its plan',
      tag,
      needs: 'operate',
      body: MissionCreate,
      status: 201,
      answer: MissionView,
      bodyLimit: LARGEST_MISSION_BYTES,
    }),
    async ({ body, caller }, reply) => {
      const mission = await createMission(kernel, caller, body)
      return reply.code(201).header('etag', etag(mission.version)).send(mission)
    },
  )
  missionReads(app, kernel)
  missionActs(app, kernel)
}

function missionActs(app: FastifyInstance, kernel: ServerKernel): void {
  app.patch<Params & { Body: z.output<typeof MissionPatchBody> }>(
    '/missions/:id',
    route({
      summary: 'Change a mission; a larger budget lets one that has spent its budget continue',
      tag,
      needs: 'operate',
      params: MissionParams,
      body: MissionPatchBody,
      answer: MissionView,
    }),
    async ({ params, body, caller, headers }, reply) => {
      const command = { kind: 'update', ifVersion: versionIn(headers['if-match']), patch: body } as const
      const mission = await operateMission(kernel, caller, params.id, command)
      return reply.header('etag', etag(mission.version)).send(mission)
    },
  )
  stateActs(app, kernel)
}

/** Acts that change its state. */
function stateActs(app: FastifyInstance, kernel: ServerKernel): void {
  const act = <B extends z.ZodType>(
    name: string,
    summary: string,
    body: B,
    run: (
      caller: Parameters<typeof showMission>[1],
      id: string,
      body: z.output<B>,
    ) => ReturnType<typeof showMission>,
    status = 200,
  ) =>
    app.post<Params & { Body: z.output<B> }>(
      `/missions/:id/${name}`,
      route({
        summary,
        tag,
        needs: 'operate',
        params: MissionParams,
        body,
        bodyIsOptional: true,
        status,
        answer: MissionView,
      }),
      async ({ params, body: given, caller }, reply) =>
        reply.code(status).send(await run(caller, params.id, body.parse(given ?? {}))),
    )

  act('approve', 'Approve its newest plan: its tasks are created', ApproveBody, (caller, id, body) =>
    approveMission(kernel, caller, id, body),
  )
  act(
    'reject',
    'Reject its plan: the mission fails, or continues if it runs',
    RejectBody,
    (caller, id, body) => rejectMission(kernel, caller, id, body),
  )
  act(
    'pause',
    'Pause it: nothing more is handed out, and held tasks are paused',
    MissionAct,
    (caller, id, { reason = null }) => operateMission(kernel, caller, id, { kind: 'pause', reason }),
  )
  act('resume', 'Resume it after a pause', MissionAct, (caller, id) =>
    operateMission(kernel, caller, id, { kind: 'resume' }),
  )
  act('cancel', 'Cancel it and all its open tasks', MissionAct, (caller, id, { reason = null }) =>
    operateMission(kernel, caller, id, { kind: 'cancel', reason }),
  )
  act(
    'retry',
    'Queue its failed tasks again; what was skipped because of them waits again',
    MissionRetry,
    (caller, id, { reason = null, comment }) =>
      operateMission(kernel, caller, id, { kind: 'retry', reason, said: saidIn(comment) }),
  )
  act(
    'clone',
    'Create a mission with the same goal, plan and settings',
    MissionAct,
    (caller, id) => cloneMission(kernel, caller, id),
    201,
  )
}
