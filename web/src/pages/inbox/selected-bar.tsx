import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { START_OVER } from '../../requests/act-words.ts'
import { useSession } from '../../requests/session.ts'
import {
  buttonWords,
  canBeTogether,
  canStartOver,
  type Decision,
  type InboxItem,
  wayBack,
  wayOn,
} from '../../things/inbox/kinds.ts'
import { hasEdit } from '../../things/mission/unsaved-edit.tsx'

/** Several of one kind are answered together, with one confirmation. */
export function SelectedBar(props: {
  items: readonly InboxItem[]
  onAnswer: (given: {
    items: readonly InboxItem[]
    decision: Decision
    comment: string
    fresh: boolean
  }) => void
  onClear: () => void
}) {
  const { items, onAnswer, onClear } = props
  const { whyNot } = useSession()
  const [asked, setAsked] = useState<Decision | null>(null)
  const edited = items.find(hasEdit)
  const first = items[0]
  if (!first) return null
  const common = first.actions.filter((one) => items.every(({ actions }) => actions.includes(one)))
  const isOneKind = items.every(({ kind }) => kind === first.kind)
  const offered = [wayOn(common), wayBack(common), common.includes('archive') ? ('archive' as const) : null]
    .filter((one) => one !== null)
    .filter(canBeTogether)
  const refusal = whyNot('operate')
  return (
    <div className="flex flex-wrap items-center gap-2 border-t border-line bg-raised px-4 py-2">
      <span className="text-row font-medium">{items.length} selected</span>
      {isOneKind && offered.length > 0 ? (
        offered.map((decision) => (
          <Button disabledReason={refusal} key={decision} onClick={() => setAsked(decision)} size="small">
            {buttonWords(decision, first)}
          </Button>
        ))
      ) : (
        <span className="text-row text-muted">
          {isOneKind ? 'These are answered one by one.' : 'Only items of one kind are answered together.'}
        </span>
      )}
      <Button className="ml-auto" kind="quiet" onClick={onClear} size="small">
        Clear
      </Button>
      {asked && (
        <ConfirmDialog
          confirm={`${buttonWords(asked, first)}: ${items.length}`}
          draft={items.map(({ id }) => id).join(' ')}
          onClose={() => setAsked(null)}
          onConfirm={(comment, fresh) => onAnswer({ items, decision: asked, comment, fresh })}
          open
          {...(asked === 'reject' ? { reason: 'required' as const } : {})}
          {...(canStartOver(asked, first) && { choice: START_OVER })}
          text={
            asked === 'approve' && edited
              ? `Each is decided separately, and only as you see it now. You have an unsaved edit of the plan “${edited.title}”: it is approved without it.`
              : 'Each is decided separately, and only as you see it now.'
          }
          title={`${buttonWords(asked, first)}: ${items.length} ${items.length === 1 ? 'item' : 'items'}?`}
        />
      )}
    </div>
  )
}
