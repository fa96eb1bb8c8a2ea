import { z } from 'zod'
import { Uuid } from '../../../pure/shapes.ts'
import { LogStatus } from './logs.ts'
import { Tokens } from './tokens.ts'

/** What an agent did in a run, step by step, read from its log. */

export const Step = z.object({
  n: z.int().describe('Counts from 1; a step that comes again under its number replaces the previous one'),
  at: z.string().nullable(),
  kind: z.enum([
    'session',
    'said',
    'thought',
    'call',
    'result',
    'edit',
    'asked',
    'limited',
    'retried',
    'ended',
    'log',
  ]),
  title: z.string().describe('One line'),
  tool: z.string().nullable(),
  isError: z.boolean(),
  isOpen: z.boolean().describe('A call whose result has not come'),
  durationMs: z.number().nullable(),
  tokens: Tokens.nullable(),
  costUsd: z.string().nullable(),
  stream: z.enum(['stdout', 'stderr', 'system']),
  offset: z.int().describe('Where in the log it begins'),
  bytes: z.int(),
  text: z
    .string()
    .describe('At most 4,000 characters: what was said, the input of a call, an edit as a diff'),
  output: z.string().nullable().describe('At most 4,000 characters: what a call returned'),
  outputOffset: z.int().nullable(),
  outputBytes: z.int().nullable(),
  callId: z.string().nullable().describe('What the program calls this call'),
})
export type Step = z.infer<typeof Step>

const Unfinished = z.object({ offset: z.int(), text: z.string(), at: z.string().nullable() })

/** Everything a reader of a transcript remembers: a reader that gets it continues as if it had read everything before it. */
export const TranscriptState = z.object({
  offset: z.int().describe('It has read the log up to this byte'),
  n: z.int(),
  last: Step.nullable(),
  isPiece: z.boolean().describe('Whether the next line may belong to the last step'),
  open: z.array(Step).describe('Calls whose results have not come'),
  unfinished: z.object({
    stdout: Unfinished.optional(),
    stderr: Unfinished.optional(),
    system: Unfinished.optional(),
  }),
  notes: z.record(z.string(), z.unknown()).describe('What the reader of this program remembers'),
})
export type TranscriptState = z.infer<typeof TranscriptState>

export const TranscriptView = z.object({
  runId: Uuid,
  adapterType: z.string(),
  status: LogStatus,
  steps: z.array(Step),
  total: z.int().describe('How many steps the log has, as far as it was read'),
  readBytes: z.int().describe('How far the log was read'),
  bytes: z.int().describe('The size of the log now'),
  isComplete: z.boolean().describe('Whether all of it was read; if not, the same request continues'),
  resume: TranscriptState.nullable().describe(
    'With the last steps of a log that is being written: a reader that gets it continues with the live output',
  ),
})
