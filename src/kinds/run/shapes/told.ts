import { z } from 'zod'
import { Uuid } from '../../../pure/shapes.ts'

/** What a run was told, as it is kept: its prompt, and the call that started its agent. */

const ToldText = z.object({
  text: z.string(),
  bytes: z.int().describe('Of the whole text, before secrets were redacted'),
  isCut: z.boolean().describe('Only the beginning is kept'),
})
export const Told = z.object({ prompt: ToldText, systemPrompt: ToldText.nullable() })
export type Told = z.infer<typeof Told>

const ProgramCall = z.object({
  command: z.string(),
  args: z.array(z.string()),
  isCut: z.boolean().describe('Long arguments are kept in part, or not at all'),
  env: z.array(z.string()).describe('The names of the environment variables, without their values'),
})
const RequestCall = z.object({
  method: z.string(),
  url: z.string().describe('Without the values of its query'),
  headers: z.array(z.string()).describe('The names of the headers, without their values'),
})
/** One of the two is null. */
export const AgentCall = z.object({ program: ProgramCall.nullable(), request: RequestCall.nullable() })
export type AgentCall = z.infer<typeof AgentCall>

/** What is kept of a run. */
export interface KeptInvocation {
  told: Told
  call: AgentCall | null
}

export const InvocationView = z.object({
  runId: Uuid,
  status: z
    .enum(['available', 'not_started', 'unavailable'])
    .describe('unavailable: it was deleted with the log, or the run is older than its keeping'),
  prompt: ToldText.nullable().describe('As it was rendered for the agent'),
  systemPrompt: ToldText.nullable().describe('What the task says beside it'),
  program: ProgramCall.nullable().describe('The program that was started'),
  request: RequestCall.nullable().describe('The request that was sent instead'),
})
