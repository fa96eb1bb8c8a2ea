import { z } from 'zod'
import { endpoint } from '../../../pure/endpoint.ts'
import { valuesOf } from '../../../pure/paging.ts'
import { Digits, limitUpTo, Name } from '../../../pure/shapes.ts'
import { LogOutline, LogSearchView, TailsAnswer, TailsBody } from '../shapes/logs.ts'
import { RunParams } from '../shapes/runs.ts'
import { TranscriptView } from '../shapes/transcript.ts'

/** The log of a run: searched, outlined, step by step and as it is. */

const MOST_HITS = 1_000
const MOST_STEPS = 500
const Offset = z.int().min(0)
/** Where a search continues: where the list does, how many were counted, and up to where. */
const Place = z.tuple([Offset, Offset, Offset])

const ofRun = { tag: 'runs', needs: 'read', params: RunParams } as const

export const searchRunLog = endpoint({
  ...ofRun,
  method: 'GET',
  path: '/runs/:id/log/search',
  summary: 'Search the log of a run for a text, and count all its occurrences',
  description:
    'A request takes about a second at most and may read only a part of a large log: then isComplete is false, and nextCursor continues.',
  query: z.strictObject({
    q: Name.optional().describe('The text, literally; a search without one is refused'),
    case: z.enum(['sensitive', 'insensitive']).optional().describe('insensitive, unless given'),
    after: z.string().min(1).max(200).optional().describe('nextCursor of the previous answer'),
    limit: limitUpTo(MOST_HITS, 'Hits in the answer, at most 1,000; 100, unless given'),
  }),
  answer: LogSearchView,
  paging: { param: 'after', usual: 100, most: MOST_HITS, cursor: valuesOf(Place) },
})

export const outlineRunLog = endpoint({
  ...ofRun,
  method: 'GET',
  path: '/runs/:id/log/outline',
  summary: 'Outline the log of a run: lines, steps, errors and output on stderr, by offset',
  description:
    'A request takes about a second at most and may read only a part of a large log: then isComplete is false, and the same request continues.',
  answer: LogOutline,
})

export const readRawRunLog = endpoint({
  ...ofRun,
  method: 'GET',
  path: '/runs/:id/log/raw',
  summary: 'Download the log of a run as text; a Range header takes part of it',
  status: [200, 206],
  answer: z.string(),
  mediaTypes: ['text/plain'],
})

export const readTails = endpoint({
  method: 'POST',
  path: '/runs/tails',
  summary: 'Read the ends of the logs of several runs; runs without a log are left out',
  tag: 'runs',
  needs: 'read',
  body: TailsBody,
  answer: TailsAnswer,
})

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
  paging: { usual: 100, most: MOST_STEPS },
})
