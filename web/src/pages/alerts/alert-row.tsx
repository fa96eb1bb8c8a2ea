import { PageLink } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { Moment } from '../../parts/moment.tsx'
import { TextWithCommands } from '../../parts/text-with-commands.tsx'
import { plainWords, sentence } from '../../parts/wording.ts'
import { useSession } from '../../requests/session.ts'
import { reasonText } from '../../things/agent/reason-text.ts'
import { SeverityChip } from '../../things/alert/severity-chip.tsx'
import type { Alert } from './use-alerts.ts'

/** The page of what it is about, or the item of the inbox. */
function placeOf({ about, inboxItem, id }: Alert): string | null {
  if (inboxItem !== null && inboxItem !== `raised:${id}`)
    return `/inbox?item=${encodeURIComponent(inboxItem)}`
  switch (about.kind) {
    case 'task':
      return about.taskId && `/tasks/${about.taskId}`
    case 'agent':
      return `/agents/${about.subject}`
    case 'budget':
      return `/budgets?budget=${about.subject}`
    case 'routine':
      return `/routines/${about.subject}`
    case 'node':
      return '/nodes'
    default:
      return null
  }
}

/** One alert: what, how bad, since when, and what a person can do. */
export function AlertRow({ alert, onAcknowledge }: { alert: Alert; onAcknowledge: () => void }) {
  const { whyNot } = useSession()
  const { severity, title, about, detail, count, firstAt, state, todo, acknowledgedBy, comment, resolvedAt } =
    alert
  const place = placeOf(alert)
  const name = about.name ?? ''
  return (
    <li className="flex flex-wrap items-start gap-x-3 gap-y-2 px-4 py-3 not-first:border-t not-first:border-line">
      <SeverityChip severity={severity} />
      <div className="min-w-0 flex-1 basis-72">
        <p className="font-medium break-words">
          {title}
          {name !== '' &&
            (place ? (
              <>
                {': '}
                <PageLink className="hover:text-accent hover:underline" to={place}>
                  {plainWords(name)}
                </PageLink>
              </>
            ) : (
              `: ${plainWords(name)}`
            ))}
        </p>
        {detail && (
          <p className="text-row break-words text-muted">{sentence(plainWords(reasonText(detail)))}</p>
        )}
        {state === 'open' && (
          <p className="text-row break-words">
            <TextWithCommands text={todo} wraps />
          </p>
        )}
        {acknowledgedBy !== null && (
          <p className="text-row break-words text-muted">
            {acknowledgedBy} looks after it{comment ? `: ${plainWords(comment)}` : ''}
          </p>
        )}
      </div>
      <div className="flex shrink-0 items-center gap-3 text-row text-muted">
        {count > 1 && <span className="tabular-nums">{count} times</span>}
        <span>
          {resolvedAt === null ? (
            <>
              since <Moment at={firstAt} />
            </>
          ) : (
            <>
              over <Moment at={resolvedAt} />
            </>
          )}
        </span>
        {state === 'open' && (
          <Button
            aria-label={`Acknowledge: ${title}${name === '' ? '' : ` (${name})`}`}
            disabledReason={whyNot('operate')}
            onClick={onAcknowledge}
            size="small"
          >
            Acknowledge
          </Button>
        )}
      </div>
    </li>
  )
}
