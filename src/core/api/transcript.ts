import { z } from 'zod'
import { Digits, limitUpTo } from '../shapes/common.ts'
import { RunParams } from '../shapes/runs.ts'
import { TranscriptView } from '../shapes/transcript.ts'
import { endpoint } from './endpoint.ts'

export const MOST_STEPS = 500

export const readTranscript = endpoint({
  method: 'GET',
  path: '/runs/:id/transcript',
  summary: 'Read what an agent did in a run, step by step',
  description:
    'Without after and before, the first steps; with a before beyond the last step, the last ones. A request takes about a second at most and may read only a part of a large log: then isComplete is false, and the same request continues.',
  tag: 'runs',
  needs: 'read',
  params: RunParams,
  query: z.strictObject({
    after: Digits.optional().describe('Steps after the one with this number'),
    before: Digits.optional().describe('The last steps before the one with this number'),
    limit: limitUpTo(MOST_STEPS, 'At most 500; 100, unless given'),
  }),
  answer: TranscriptView,
})
