import { z } from 'zod'
import { missionStates } from '../../kinds/mission/states.ts'
import { ProbeView, RunsAs } from '../../kinds/run/shapes/runs.ts'
import { Slug, Uuid } from '../../pure/shapes.ts'

/** What somebody needs to know who uses Baton for the first time. */

const Cli = z.object({
  adapterType: z.string().describe('The adapter that runs it'),
  command: z.string(),
  isAllowed: z.boolean().describe('Whether agents of this workspace may have this adapter on this node'),
  isFound: z.boolean(),
  version: z.string().nullable(),
  login: z
    .enum(['in', 'out', 'unknown'])
    .nullable()
    .describe(
      'Whether it is logged in, as far as that is known without a request to its model; null: not found',
    ),
  hint: z.string().nullable().describe('What to do about what is missing'),
  run: z.string().nullable().describe('The command of the hint'),
})

export const Onboarding = z.object({
  database: z.object({ isEmbedded: z.boolean(), version: z.string().describe('Of PostgreSQL') }),
  startMs: z.int().nullable().describe('How long this node took to start; null: it is still starting'),
  clis: z
    .array(Cli)
    .nullable()
    .describe('Programs of agents on this node; null: the key may not configure agents'),
  agentsRunAs: RunsAs,
  dataFolder: z
    .string()
    .nullable()
    .describe('The data folder of this node, an absolute path; null: the key may not configure agents'),
  hasTasks: z.boolean(),
  hasAgents: z.boolean().describe('Beside those of the demonstration'),
  demo: z
    .object({ missionId: Uuid, state: z.enum(missionStates) })
    .nullable()
    .describe('The newest demonstration'),
})

export const TryBody = z.strictObject({
  config: z.record(z.string(), z.unknown()).default({}).describe('As adapterConfig of an agent'),
  runtimeConfig: z.record(z.string(), z.unknown()).optional().describe('As that of an agent'),
  agent: Slug.optional().describe('The agent whose stored values the masked ones stand for'),
  all: z
    .boolean()
    .default(false)
    .describe('Settings that could not be saved are checks that failed, beside all others, not a refusal'),
})

export const TryAnswer = ProbeView.omit({ agent: true }).extend({ type: z.string() })
