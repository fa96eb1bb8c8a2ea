import { useState } from 'react'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { PageLink, useGo } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Moment } from '../../parts/moment.tsx'
import { toast } from '../../parts/toasts.tsx'
import { plainWords, sentence } from '../../parts/wording.ts'
import { useSession } from '../../requests/session.ts'
import { HUE_TEXT } from '../../theme/hues.ts'
import { ReviewOfTask } from '../../things/changes/review.tsx'
import { blocksWords, headline, type InboxItem, lookOf } from '../../things/inbox/kinds.ts'
import { useAnswer } from '../../things/inbox/use-answer.ts'
import { PlanVersion } from '../../things/mission/plan-version.tsx'
import { UnsavedEdit, useHasEdit } from '../../things/mission/unsaved-edit.tsx'
import { ApprovalDialog } from '../../things/task/ask/ask-approval.tsx'

const addressOf = ({ id }: InboxItem) => `/inbox?item=${encodeURIComponent(id)}`

/** The three things that block most. The first is opened with `o`, and approved with `a` after one question. */
export function Waiting({ items, count }: { items: readonly InboxItem[]; count: number }) {
  const go = useGo()
  const { can, whyNot } = useSession()
  const [asked, setAsked] = useState<InboxItem | null>(null)
  const { answer } = useAnswer((item, change) => {
    if (change) toast({ kind: 'bad', title: 'It changed while you were reading, so nothing was decided.' })
    go(addressOf(item))
  })
  const first = items[0]
  const canApprove = (item: InboxItem) => can('operate') && item.actions.includes('approve')
  useShortcuts('Overview', {
    a: {
      words: 'Approve what blocks most',
      run: () => first && setAsked(first),
      isOff: !first || !canApprove(first),
    },
    o: { words: 'Open what blocks most', run: () => first && go(addressOf(first)), isOff: !first },
  })
  if (!first)
    return (
      <p className="flex items-center gap-2 text-body text-muted">
        <Icon className="text-done" name="check" /> Nothing is waiting for you.
      </p>
    )
  return (
    <section
      aria-label="Waiting for you"
      className="overflow-hidden rounded-card border border-line bg-raised"
    >
      <h2 className="flex items-baseline gap-2 px-4 pt-3 pb-1 text-row font-medium">
        Waiting for you
        <PageLink className="text-accent hover:underline" to="/inbox">
          {count > items.length ? `all ${count}` : 'open the inbox'}
        </PageLink>
      </h2>
      <ul>
        {items.map((item) => (
          <li
            className="flex items-center gap-3 px-4 py-1.5 not-first:border-t not-first:border-line"
            key={item.id}
          >
            <Icon className={HUE_TEXT[lookOf(item).hue]} name={lookOf(item).icon} />
            <PageLink
              className="min-w-0 flex-1 font-medium hover:underline max-sm:line-clamp-2 sm:truncate"
              to={addressOf(item)}
            >
              {headline(item)}
            </PageLink>
            <span className="shrink-0 text-row text-muted max-sm:hidden">
              {item.blocks > 0 && `${blocksWords(item.blocks)} · `}
              <Moment at={item.since} />
            </span>
            {item.actions.includes('approve') ? (
              <Button
                disabledReason={whyNot('operate')}
                kind={item === first ? 'primary' : 'plain'}
                onClick={() => setAsked(item)}
                size="small"
                {...(item === first ? { shortcut: 'a' } : {})}
              >
                Approve
              </Button>
            ) : (
              <Button
                onClick={() => go(addressOf(item))}
                size="small"
                {...(item === first ? { shortcut: 'o' } : {})}
              >
                Open
              </Button>
            )}
          </li>
        ))}
      </ul>
      {asked && (
        <AskFirst
          item={asked}
          onApprove={() => answer({ item: asked, given: { decision: 'approve' } })}
          onClose={() => setAsked(null)}
        />
      )}
    </section>
  )
}

/** Nothing is approved unseen: everything of a result and of a plan is shown. */
function AskFirst(props: { item: InboxItem; onApprove: () => void; onClose: () => void }) {
  const { item, onApprove, onClose } = props
  const { about, kind, generation, digest } = item
  const hasEdit = useHasEdit(item)
  if (kind === 'review' && about.taskId !== null && generation !== null)
    return (
      <ApprovalDialog
        name={item.title}
        onApprove={onApprove}
        onClose={onClose}
        text="Your approval is for exactly this result and commit. It is refused if they have changed."
      >
        <ReviewOfTask digest={digest} generation={generation} taskId={about.taskId} />
      </ApprovalDialog>
    )
  if (kind === 'plan' && about.missionId !== null && generation !== null)
    return (
      <ApprovalDialog
        name={item.title}
        onApprove={onApprove}
        onClose={onClose}
        words={hasEdit ? 'Approve without my edit' : 'Approve'}
        text={`Your approval is for exactly version ${generation} of the plan. It is refused if there is another one.`}
      >
        {hasEdit && (
          <p className="mb-4">
            <UnsavedEdit missionId={about.missionId} />
          </p>
        )}
        <PlanVersion missionId={about.missionId} since={null} version={generation} />
      </ApprovalDialog>
    )
  const preview = sentence(plainWords(item.preview ?? blocksWords(item.blocks)))
  return (
    <ConfirmDialog
      confirm="Approve"
      onClose={onClose}
      onConfirm={onApprove}
      open
      text={`${preview} It is approved only as it is now.`}
      title={headline(item)}
    />
  )
}
