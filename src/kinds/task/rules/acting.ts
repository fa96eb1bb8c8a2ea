import { type Refusal, refuse, refuseField } from '../../../pure/errors.ts'
import type { Right } from '../../../pure/rights.ts'

/** Who may act as which agent: claim tasks in its name, and write under its claims. */

/** Baton's own agent. It runs the commands that verify results: nothing outside Baton may name it or act as it. */
export const OWN_AGENT = 'baton'

/** A caller outside Baton. A request without one comes from Baton itself. */
export interface Outside {
  /** The one agent it may act as, that of its run or of its key; null: any but Baton's own. */
  readonly agent: string | null
  readonly rights: ReadonlySet<Right>
}

/** Without the subject: what is wrong with a field that names Baton's own agent. */
export const IS_RESERVED = 'is Baton’s own agent, which only runs the commands that verify results'

export const reservedAgent = (): Refusal => refuse('AGENT_RESERVED', `"${OWN_AGENT}" ${IS_RESERVED}.`)

export const reservedField = (field: string): Refusal => refuseField('AGENT_RESERVED', field, IS_RESERVED)

export function whyNotAs(outside: Outside | undefined, agent: string): Refusal | null {
  if (!outside) return null
  if (agent === OWN_AGENT) return reservedAgent()
  if (outside.agent === null || outside.agent === agent) return null
  return refuse(
    'BOUND_TO_ANOTHER_AGENT',
    `This key is bound to ${outside.agent}; it may not act as ${agent}.`,
  )
}

/** A verdict counts as that of its agent: whoever gives it is that agent, or could approve the result. */
function whyNotJudgeAs(outside: Outside | undefined, agent: string): Refusal | null {
  const refusal = whyNotAs(outside, agent)
  if (refusal || !outside || outside.agent === agent || outside.rights.has('operate')) return refusal
  return refuse(
    'FORBIDDEN',
    `Judging as ${agent} needs a run of ${agent}, a key bound to it, or a key with the right "operate".`,
  )
}

/** Why a caller may not claim a task for an agent, or write under the claim of that agent. */
export const whyNotHolder = (outside: Outside | undefined, agent: string, purpose: string): Refusal | null =>
  purpose === 'verification' ? whyNotJudgeAs(outside, agent) : whyNotAs(outside, agent)

/** Why a caller may not ask for the next task of these purposes. */
export const whyNotAsking = (
  outside: Outside | undefined,
  { agent, purposes = [] }: { agent: string; purposes?: readonly string[] | undefined },
): Refusal | null => whyNotHolder(outside, agent, purposes.includes('verification') ? 'verification' : 'work')

/** Why a caller may not use a session. One of another agent holds the claims of that agent. */
export function whyNotInSession(
  outside: Outside | undefined,
  name: string,
  session: { agent: string | null } | null,
): Refusal | null {
  if (!outside) return null
  if (session?.agent === OWN_AGENT || name === `agent:${OWN_AGENT}`) return reservedAgent()
  if (outside.agent === null || !session || session.agent === outside.agent) return null
  return refuse(
    'BOUND_TO_ANOTHER_AGENT',
    `This key is bound to ${outside.agent}; the session "${name}" is not one of ${outside.agent}.`,
  )
}

/** Why a task may not be reserved for an agent. What a command verifies is judged by nobody else. */
export function whyNotReservedFor(
  task: { onlyAgent: string | null; purpose: string } | null,
  onlyAgent: string | null | undefined,
  field: string,
): Refusal | null {
  if (onlyAgent === undefined || onlyAgent === (task?.onlyAgent ?? null)) return null
  if (onlyAgent === OWN_AGENT) return reservedField(field)
  const isCheck = task?.purpose === 'verification' && task.onlyAgent === OWN_AGENT
  return isCheck
    ? refuse('AGENT_RESERVED', 'A verification by command is for Baton’s own agent alone.')
    : null
}

/** Why a caller may not do this to Baton's own agent. Administrators may stop its checks for a while. */
export function whyNotOnOwnAgent(
  outside: Outside | undefined,
  slug: string,
  command: string,
): Refusal | null {
  if (!outside || slug !== OWN_AGENT) return null
  const isPause = command === 'pause' || command === 'resume'
  if (!isPause) return reservedAgent()
  return outside.rights.has('admin')
    ? null
    : refuse('AGENT_RESERVED', `"${OWN_AGENT}" ${IS_RESERVED}; pausing it needs the right "admin".`)
}
