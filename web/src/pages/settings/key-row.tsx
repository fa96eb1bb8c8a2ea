import { AgentChip } from '../../parts/agent-chip.tsx'
import { Button } from '../../parts/button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Moment } from '../../parts/moment.tsx'
import { useSession } from '../../requests/session.ts'
import { type Key, type KeyStatus, ROLE_WORDS, rightsWords } from './key-words.ts'

/** A key: its name and role, what it may do, since and until when. */
export function KeyRow(props: {
  of: Key
  status: KeyStatus
  /** The name of the key that made it. */
  made: string | null
  isOwn: boolean
  onRevoke: () => void
}) {
  const { of: key, status, made, isOwn, onRevoke } = props
  const { whyNot } = useSession()
  const ended =
    status === 'valid' ? null : `It ${status === 'revoked' ? 'is already revoked' : 'has already expired'}.`
  return (
    <li className="flex items-start gap-3 px-4 py-2.5 not-first:border-t not-first:border-line max-sm:flex-wrap">
      <Icon className={`mt-1 ${status === 'valid' ? 'text-muted' : 'text-faint'}`} name="key" />
      <div className="flex min-w-0 flex-1 basis-50 flex-col gap-0.5">
        <p className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1 text-body">
          <span
            className={`min-w-0 font-medium break-words ${status === 'valid' ? '' : 'text-muted line-through'}`}
          >
            {key.name}
          </span>
          <Chip>{ROLE_WORDS[key.role].words}</Chip>
          {isOwn && <Chip hue="go">you use it now</Chip>}
          {status !== 'valid' && <Chip hue="bad">{status}</Chip>}
          {key.agent !== null && (
            <span className="inline-flex items-center gap-1 text-row text-muted">
              acts only as <AgentChip size={16} slug={key.agent} />
            </span>
          )}
        </p>
        <p className="text-row break-words text-muted">May {rightsWords(key)}</p>
        <p className="flex flex-wrap gap-x-3 text-label text-muted">
          <span className="font-mono">{key.prefix}…</span>
          <span>
            made <Moment at={key.createdAt} />
            {made !== null && ` with ${made}`}
          </span>
          <span>
            {key.lastUsedAt === null ? (
              'not used yet'
            ) : (
              <>
                last used <Moment at={key.lastUsedAt} />
              </>
            )}
          </span>
          <span>{until(key, status)}</span>
        </p>
      </div>
      <Button
        aria-label={`Revoke ${key.name}`}
        disabledReason={whyNot('admin') ?? ended}
        onClick={onRevoke}
        size="small"
      >
        Revoke
      </Button>
    </li>
  )
}

function until({ revokedAt, expiresAt }: Key, status: KeyStatus) {
  if (status === 'revoked' && revokedAt !== null)
    return (
      <>
        revoked <Moment at={revokedAt} />
      </>
    )
  if (expiresAt === null) return 'does not expire'
  return (
    <>
      {status === 'expired' ? 'expired' : 'expires'} <Moment at={expiresAt} />
    </>
  )
}
