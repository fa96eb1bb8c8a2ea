import type { AdapterInvokeResult, KnownEvents, StatusColor, TokenUsage } from './protocol.ts'
import {
  colorIn,
  dollarsIn,
  type Json,
  objectIn,
  percentIn,
  sessionIn,
  textIn,
  timeIn,
  usageIn,
} from './reported.ts'

/**
 * What a program of any kind tells Baton on its stdout. Lines {"baton": "progress", …} report on the way; the last JSON line
 * with a result, summary, usage or continue, and no "baton", is what it made. All other lines are only log.
 */

/** Something to pass on while it runs. */
export type Report =
  | { kind: 'status'; update: { message: string; color?: StatusColor } }
  | { kind: 'usage'; usage: TokenUsage }
  | {
      [Type in keyof KnownEvents]: { kind: 'event'; type: Type; payload: KnownEvents[Type] }
    }[keyof KnownEvents]
  /** It was meant for Baton, but is not what it should be. */
  | { kind: 'warning'; message: string }

export interface ProcessFacts {
  final: Final | null
  /** The last that was reported on the way. */
  usage: TokenUsage | null
  costUsd: string | null
  sessionId: string | null
  /** The last time it said that it is limited. */
  rateLimit: { until: string | null } | null
}

interface Final {
  result?: unknown
  summary: string | null
  usage: TokenUsage | null
  costUsd: string | null
  wantsMore: boolean
}

export const NOTHING_SAID: ProcessFacts = {
  final: null,
  usage: null,
  costUsd: null,
  sessionId: null,
  rateLimit: null,
}

/** The facts after a line, and what to pass on of it. */
export function takeLine(facts: ProcessFacts, line: string): { facts: ProcessFacts; reports: Report[] } {
  const said = objectIn(line)
  if (!said) return { facts, reports: [] }
  if ('baton' in said) return takeReport(facts, said)
  return FINAL_FIELDS.some((field) => field in said) ? takeFinal(facts, said) : { facts, reports: [] }
}

const FINAL_FIELDS = ['result', 'summary', 'usage', 'continue']

function takeFinal(facts: ProcessFacts, said: Json) {
  const reports: Report[] = []
  const usage = usageIn(said.usage)
  if (said.usage != null && !usage) reports.push(warning(NO_USAGE))
  if (said.summary != null && typeof said.summary !== 'string') reports.push(warning('summary is no text'))
  if (said.continue !== undefined && typeof said.continue !== 'boolean')
    reports.push(warning('continue is neither true nor false'))
  const final: Final = {
    summary: textIn(said.summary) ?? null,
    usage,
    costUsd: dollarsIn(said.costUsd),
    wantsMore: said.continue === true,
  }
  if ('result' in said) final.result = said.result
  return { facts: { ...facts, final }, reports }
}

const NO_USAGE = 'usage needs inputTokens or outputTokens, and whole numbers from zero on'
const warning = (message: string): Report => ({ kind: 'warning', message })

function takeReport(facts: ProcessFacts, said: Json): { facts: ProcessFacts; reports: Report[] } {
  const only = (report: Report) => ({ facts, reports: [report] })
  const refused = (message: string) => only(warning(message))
  switch (said.baton) {
    case 'progress': {
      const [percent, step] = [percentIn(said.percent), textIn(said.step)]
      if (percent === undefined && step === undefined)
        return refused('progress needs a percent from 0 to 100 or a step')
      const payload = { ...(percent !== undefined && { percent }), ...(step !== undefined && { step }) }
      return only({ kind: 'event', type: 'progress', payload })
    }
    case 'status': {
      const [message, color] = [textIn(said.message), colorIn(said.color)]
      if (message === undefined) return refused('status needs a message')
      return only({ kind: 'status', update: color ? { message, color } : { message } })
    }
    case 'checkpoint':
      if (said.data === undefined) return refused('checkpoint needs data')
      return only({ kind: 'event', type: 'checkpoint', payload: { data: said.data } })
    case 'call': {
      const signature = textIn(said.signature)
      if (signature === undefined) return refused('call needs a signature')
      return only({ kind: 'event', type: 'call', payload: { signature, isError: said.isError === true } })
    }
    case 'activity':
      return only({ kind: 'event', type: 'activity', payload: {} })
    default:
      return takeFact(facts, said)
  }
}

/** Reports that matter to how the run ends, too. */
function takeFact(facts: ProcessFacts, said: Json): { facts: ProcessFacts; reports: Report[] } {
  switch (said.baton) {
    case 'usage': {
      const usage = usageIn(said.usage)
      if (!usage) return { facts, reports: [warning(NO_USAGE)] }
      const costUsd = dollarsIn(said.costUsd) ?? facts.costUsd
      return { facts: { ...facts, usage, costUsd }, reports: [{ kind: 'usage', usage }] }
    }
    case 'session': {
      const sessionId = sessionIn(said.sessionId)
      if (!sessionId) return { facts, reports: [warning('session needs a sessionId')] }
      const report: Report = { kind: 'event', type: 'session', payload: { sessionId } }
      return { facts: { ...facts, sessionId }, reports: [report] }
    }
    case 'rate_limit': {
      const rateLimit = { until: timeIn(said.until) }
      const reports: Report[] = [{ kind: 'event', type: 'rate_limit', payload: rateLimit }]
      if (said.until != null && rateLimit.until === null)
        reports.push(warning('until of rate_limit is no ISO time with a zone'))
      return { facts: { ...facts, rateLimit }, reports }
    }
    default:
      return {
        facts,
        reports: [warning(`"baton" says ${JSON.stringify(said.baton)?.slice(0, 100)}, which means nothing`)],
      }
  }
}

/** What it used and under which session, however it ended. */
export function accountOf(
  facts: ProcessFacts,
): Pick<AdapterInvokeResult, 'usage' | 'usageBasis' | 'costUsd' | 'sessionId' | 'runtimeStatePatch'> {
  const { final, sessionId } = facts
  const usage = final?.usage ?? facts.usage
  return {
    usage,
    // Until its last line it has only said how far it has come.
    usageBasis: usage ? (final?.usage ? 'reported' : 'partial') : null,
    costUsd: final?.costUsd ?? facts.costUsd,
    sessionId,
    ...(sessionId !== null && { runtimeStatePatch: { sessionId } }),
  }
}
