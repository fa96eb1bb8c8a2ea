import type { RunView } from '../../../src/kinds/run/shapes/runs.ts'
import type { Tokens } from '../../../src/kinds/run/shapes/tokens.ts'
import type { AnswerOf } from '../../../src/pure/shapes.ts'
import { type LiveEvent, payloadField, tokensAt } from './card.ts'

/** How events change a run. Pages read the rest. */

type RunShape = AnswerOf<typeof RunView>
export type Run = Pick<
  RunShape,
  | 'id'
  | 'agent'
  | 'taskId'
  | 'status'
  | 'statusMessage'
  | 'statusColor'
  | 'attempt'
  | 'generation'
  | 'errorCode'
> & {
  exitCode: number | null
  tokens: Tokens | null
  costUsd: string | null
  /** What the watchdog noticed. */
  flag: { code: string; detail: string } | null
  isStopping: boolean
  since: number
  finishedAt: number | null
}

const text = (event: LiveEvent, field: string) => payloadField(event, field, 'string') ?? null
const number = (event: LiveEvent, field: string) => payloadField(event, field, 'number') ?? null

export const queued = (event: LiveEvent): Run => ({
  id: event.runId!,
  agent: text(event, 'agent') ?? '',
  taskId: text(event, 'taskId'),
  status: 'queued',
  statusMessage: null,
  statusColor: null,
  attempt: null,
  generation: null,
  errorCode: null,
  exitCode: null,
  tokens: null,
  costUsd: null,
  flag: null,
  isStopping: false,
  since: Date.parse(event.at),
  finishedAt: null,
})

export type RunRule = (run: Run, event: LiveEvent) => Run

export const started: RunRule = (run, event) => ({
  ...run,
  status: 'running',
  attempt: number(event, 'attempt'),
  generation: number(event, 'generation'),
  since: Date.parse(event.at),
})

export const said: RunRule = (run, event) => ({
  ...run,
  statusMessage: text(event, 'message'),
  statusColor: text(event, 'color'),
})

export const flagged: RunRule = (run, event) => ({
  ...run,
  flag: { code: text(event, 'code') ?? '', detail: text(event, 'detail') ?? '' },
})

export const stopping: RunRule = (run) => ({ ...run, isStopping: true })

export const used: RunRule = (run, event) => ({
  ...run,
  tokens: tokensAt(event),
})

export const finished: RunRule = (run, event) => ({
  ...used(run, event),
  status: (text(event, 'status') ?? run.status) as Run['status'],
  statusMessage: null,
  statusColor: null,
  errorCode: text(event, 'errorCode'),
  exitCode: number(event, 'exitCode'),
  costUsd: text(event, 'costUsd'),
  finishedAt: Date.parse(event.at),
})
