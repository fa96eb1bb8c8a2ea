import { agentStateIn, MOST_STATE_BYTES } from '../kinds/run/rules/agent-state.ts'
import { type Json, objectIn } from '../transcript/json.ts'
import type { KnownEvents, ReadFromLog, StatusColor, TokenUsage } from './protocol.ts'
import {
  colorIn,
  dollarsIn,
  namesIn,
  percentIn,
  questionIn,
  sessionIn,
  textIn,
  timeIn,
  usageIn,
} from './reported.ts'

/**
 * What any program reports to Baton on its stdout. Lines {"baton": "progress", …} report while it runs; the last JSON line
 * with a result, summary, usage or continue, and without "baton", is its result. All other lines are only logged.
 */

/** Something to forward while it runs. */
export type Report =
  | { kind: 'status'; update: { message: string; color?: StatusColor } }
  | { kind: 'usage'; usage: TokenUsage }
  | {
      [Type in keyof KnownEvents]: { kind: 'event'; type: Type; payload: KnownEvents[Type] }
    }[keyof KnownEvents]
  /** A line for Baton that is invalid. */
  | { kind: 'warning'; message: string }

export interface ProcessFacts {
  final: Final | null
  /** The last usage reported while it ran. */
  usage: TokenUsage | null
  costUsd: string | null
  sessionId: string | null
  /** What the agent keeps for its next run. */
  agentState: Record<string, unknown> | null
  /** What it asks a person. */
  question: { question: string; options: string[] } | null
  /** The last rate limit it reported. */
  rateLimit: { until: string | null } | null
  /** Why the task cannot be done, however often it is tried. */
  invalid: string | null
  /** How many lines began like JSON and could not be read: one of them may have been its result. */
  unreadable: number
}

interface Final {
  result?: unknown
  summary: string | null
  usage: TokenUsage | null
  costUsd: string | null
  wantsMore: boolean
  /** Tasks that must have ended before it continues; null: none. */
  after: string[] | null
}

export const NO_FACTS: ProcessFacts = {
  final: null,
  usage: null,
  costUsd: null,
  sessionId: null,
  agentState: null,
  rateLimit: null,
  question: null,
  invalid: null,
  unreadable: 0,
}

/** The facts after a line, and the reports to forward. */
export function takeLine(facts: ProcessFacts, line: string): { facts: ProcessFacts; reports: Report[] } {
  const reported = objectIn(line)
  if (!reported && BEGINS_LIKE_JSON.test(line))
    return { facts: { ...facts, unreadable: facts.unreadable + 1 }, reports: [warning(UNREADABLE)] }
  if (!reported) return { facts, reports: [] }
  if ('baton' in reported) return takeReport(facts, reported)
  return FINAL_FIELDS.some((field) => field in reported) ? takeFinal(facts, reported) : { facts, reports: [] }
}

const BEGINS_LIKE_JSON = /^\s*\{\s*"/
const UNREADABLE = 'a line begins like JSON and cannot be read'
const FINAL_FIELDS = ['result', 'summary', 'usage', 'continue']

function takeFinal(facts: ProcessFacts, reported: Json) {
  const reports: Report[] = []
  const usage = usageIn(reported.usage)
  if (reported.usage != null && !usage) reports.push(warning(NO_USAGE))
  if (reported.summary != null && typeof reported.summary !== 'string')
    reports.push(warning('summary is not a string'))
  if (reported.continue !== undefined && typeof reported.continue !== 'boolean')
    reports.push(warning('continue is neither true nor false'))
  const after = namesIn(reported.after)
  if (reported.after != null && !after) reports.push(warning(NO_AFTER))
  const final: Final = {
    summary: textIn(reported.summary) ?? null,
    usage,
    costUsd: dollarsIn(reported.costUsd),
    wantsMore: reported.continue === true,
    after,
  }
  if ('result' in reported) final.result = reported.result
  return { facts: { ...facts, final }, reports }
}

const NO_QUESTION = 'ask needs a question of up to 4000 characters; options are up to 20 short texts'
const NO_AFTER = 'after needs a list of 1 to 100 ids of tasks, or of tempIds of tasks that it added'
const NO_USAGE = 'usage needs inputTokens or outputTokens, as integers from zero'
const NO_STATE = `state needs an object of up to ${MOST_STATE_BYTES} bytes`
const warning = (message: string): Report => ({ kind: 'warning', message })

function takeReport(facts: ProcessFacts, reported: Json): { facts: ProcessFacts; reports: Report[] } {
  const only = (report: Report) => ({ facts, reports: [report] })
  const refused = (message: string) => only(warning(message))
  switch (reported.baton) {
    case 'progress': {
      const [percent, step] = [percentIn(reported.percent), textIn(reported.step)]
      if (percent === undefined && step === undefined)
        return refused('progress needs a percent from 0 to 100 or a step')
      const payload = { ...(percent !== undefined && { percent }), ...(step !== undefined && { step }) }
      return only({ kind: 'event', type: 'progress', payload })
    }
    case 'status': {
      const [message, color] = [textIn(reported.message), colorIn(reported.color)]
      if (message === undefined) return refused('status needs a message')
      return only({ kind: 'status', update: color ? { message, color } : { message } })
    }
    case 'checkpoint':
      if (reported.data === undefined) return refused('checkpoint needs data')
      return only({ kind: 'event', type: 'checkpoint', payload: { data: reported.data } })
    case 'call': {
      const signature = textIn(reported.signature)
      if (signature === undefined) return refused('call needs a signature')
      return only({ kind: 'event', type: 'call', payload: { signature, isError: reported.isError === true } })
    }
    case 'task': {
      const { baton: _baton, ...payload } = reported
      if (textIn(payload.title) === undefined) return refused('task needs a title')
      return only({ kind: 'event', type: 'task', payload })
    }
    case 'activity':
      return only({ kind: 'event', type: 'activity', payload: {} })
    default:
      return takeFact(facts, reported)
  }
}

/** Reports that also affect the result of the run. */
function takeFact(facts: ProcessFacts, reported: Json): { facts: ProcessFacts; reports: Report[] } {
  switch (reported.baton) {
    case 'usage': {
      const usage = usageIn(reported.usage)
      if (!usage) return { facts, reports: [warning(NO_USAGE)] }
      const costUsd = dollarsIn(reported.costUsd) ?? facts.costUsd
      return { facts: { ...facts, usage, costUsd }, reports: [{ kind: 'usage', usage }] }
    }
    case 'session': {
      const sessionId = sessionIn(reported.sessionId)
      if (!sessionId) return { facts, reports: [warning('session needs a sessionId')] }
      const report: Report = { kind: 'event', type: 'session', payload: { sessionId } }
      return { facts: { ...facts, sessionId }, reports: [report] }
    }
    case 'state': {
      const agentState = agentStateIn(reported.state)
      if (!agentState) return { facts, reports: [warning(NO_STATE)] }
      return { facts: { ...facts, agentState }, reports: [] }
    }
    case 'ask': {
      const question = questionIn(reported)
      if (question) return { facts: { ...facts, question }, reports: [] }
      return { facts, reports: [warning(NO_QUESTION)] }
    }
    case 'fail': {
      const error = textIn(reported.error)
      if (reported.class !== 'invalid' || error === undefined)
        return { facts, reports: [warning('fail needs the class "invalid" and an error')] }
      return { facts: { ...facts, invalid: error }, reports: [] }
    }
    case 'rate_limit': {
      const rateLimit = { until: timeIn(reported.until) }
      const reports: Report[] = [{ kind: 'event', type: 'rate_limit', payload: rateLimit }]
      if (reported.until != null && rateLimit.until === null)
        reports.push(warning('until of rate_limit is not an ISO time with a time zone'))
      return { facts: { ...facts, rateLimit }, reports }
    }
    default:
      return {
        facts,
        reports: [warning(`"baton" is ${JSON.stringify(reported.baton)?.slice(0, 100)}, which is unknown`)],
      }
  }
}

/** Its usage and session, and what it keeps, however it ended. */
export function accountOf(facts: ProcessFacts): ReadFromLog {
  const { final, sessionId, agentState } = facts
  const usage = final?.usage ?? facts.usage
  return {
    usage,
    // Until its last line it has reported only intermediate figures.
    usageBasis: usage ? (final?.usage ? 'reported' : 'partial') : null,
    costUsd: final?.costUsd ?? facts.costUsd,
    sessionId,
    ...(sessionId !== null && { runtimeStatePatch: { sessionId } }),
    ...(agentState !== null && { agentState }),
  }
}
