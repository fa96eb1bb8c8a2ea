import { type AlertCause, causeOf } from '../causes.ts'
import type { AlertRecord } from '../record.ts'
import type { Finding } from './decide.ts'
import { isToldByEvents } from './facts.ts'

/** What is wrong now, compared with the alerts that are open. */

/** An alert that is open. */
export type OpenAlert = Pick<AlertRecord, 'alertId' | 'cause' | 'subject' | 'detail' | 'lastAt'> & {
  number: number
}

interface Changes {
  raise: Finding[]
  resolve: OpenAlert[]
}

/** A finding with the same cause and subject is the same thing. */
const keyOf = ({ cause, subject }: { cause: AlertCause; subject: string }) => `${cause} ${subject}`

/**
 * What is found is raised, and what is no longer found is over. Alerts that events tell about are over by another event, or when
 * nothing was heard of them for long. `looked`: the causes that were looked for.
 */
export function alertChanges(
  found: readonly Finding[],
  open: readonly OpenAlert[],
  looked: (cause: AlertCause) => boolean,
  now: number,
): Changes {
  const standing = new Map(open.map((alert) => [keyOf(alert), alert]))
  const isFound = new Set(found.map(keyOf))
  return {
    raise: found.filter((one) => isNews(one, standing.get(keyOf(one)))),
    resolve: open.filter((alert) => {
      const { quietMs } = causeOf(alert.cause)
      if (quietMs !== undefined) return now - alert.lastAt >= quietMs
      return !isToldByEvents(alert.cause) && looked(alert.cause) && !isFound.has(keyOf(alert))
    }),
  }
}

/** What a threshold says changes with each look: it is told once. */
const isNews = ({ cause, detail }: Finding, open: OpenAlert | undefined) =>
  open === undefined || (causeOf(cause).threshold === undefined && open.detail !== detail)
