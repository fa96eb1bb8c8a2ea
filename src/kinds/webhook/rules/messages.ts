import type { TaskState } from '../../../pure/states.ts'
import type { EventType } from '../../events.ts'
import type { MissionState } from '../../mission/states.ts'
import type { Format } from '../record.ts'

/** What a webhook is sent. Thin: what happened to what. Whoever wants more asks the API, with a key. */

/** An event as it is told. */
export interface Told {
  type: EventType | (string & {})
  /** When it happened: the same in every attempt. */
  at: string
  seq: number | null
  workspaceId: string
  entityType: string
  entityId: string | null
  taskId: string | null
  missionId: string | null
  runId: string | null
  generation: number | null
  from: TaskState | MissionState | null
  to: TaskState | MissionState | null
  actor: string
  /** What happened, in a sentence. */
  sentence: string
  /** The page about it. */
  url: string
  /** Of an alert. */
  severity?: string
}

export interface Message {
  contentType: string
  body: string
  headers: Readonly<Record<string, string>>
}

const JSON_TYPE = 'application/json'
const asJson = (body: object): Message => ({
  ...{ contentType: JSON_TYPE, body: JSON.stringify(body), headers: {} },
})

function baton({ type, at, sentence: _sentence, ...data }: Told): Message {
  return asJson({ type, timestamp: at, data })
}

/** Mosaic's states. One of ours that waits for a retry is what it calls aborted. */
const MOSAIC: Readonly<Record<TaskState, string>> = {
  pending: 'PENDING',
  queued: 'PENDING',
  awaiting_retry: 'ABORTED',
  assigned: 'ASSIGNED',
  running: 'RUNNING',
  continuing: 'RUNNING',
  verifying: 'RUNNING',
  awaiting_human: 'PAUSED',
  paused: 'PAUSED',
  budget_exceeded: 'PAUSED',
  completed: 'COMPLETED',
  failed: 'FAILED',
  cancelled: 'ABORTED',
  skipped: 'ABORTED',
}

/** Null: the task has the same state for Mosaic, or it is not about a task. */
function mosaic({ taskId, from, to, workspaceId, at }: Told): Message | null {
  if (taskId === null || to === null) return null
  const newStatus = MOSAIC[to as TaskState]
  const previousStatus = from === null ? null : MOSAIC[from as TaskState]
  if (newStatus === previousStatus) return null
  return asJson({
    ...{ event: 'task.status_changed', taskId, previousStatus, newStatus, workspaceId, timestamp: at },
  })
}

/** Slack's three characters with a meaning: without them no name becomes a link or calls a channel. */
const forSlack = (text: string) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')
const forDiscord = (text: string) => text.replace(/[\\*_~`|>[\]()#-]/g, '\\$&')
const LONGEST_TEXT = 1_500
const short = (text: string) => (text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT)}…`)

const slack = ({ sentence, url }: Told): Message =>
  asJson({ text: `${forSlack(short(sentence))} <${url}|Open in Baton>`, unfurl_links: false })

const discord = ({ sentence, url }: Told): Message =>
  asJson({ content: `${forDiscord(short(sentence))} <${url}>`, allowed_mentions: { parse: [] } })

const ntfy = ({ sentence, url }: Told): Message => ({
  contentType: 'text/plain; charset=utf-8',
  body: short(sentence),
  headers: { title: 'Baton', click: url },
})

/** Null: the format has no word for such an event. */
const FORMATS: Readonly<Record<Format, (told: Told) => Message | null>> = {
  ...{ baton, mosaic, slack, discord, ntfy },
}

export const messageFor = (format: Format, told: Told): Message | null => FORMATS[format](told)
