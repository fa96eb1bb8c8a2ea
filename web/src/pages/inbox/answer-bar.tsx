import { useState } from 'react'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { useGo } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { useIsPhone } from '../../parts/media.ts'
import { Menu } from '../../parts/menu.tsx'
import { START_OVER } from '../../requests/act-words.ts'
import { useSession } from '../../requests/session.ts'
import {
  buttonWords,
  canBeTogether,
  canStartOver,
  type Decision,
  headline,
  type InboxDetail,
  isAsked,
  otherWays,
  wayBack,
  wayOn,
} from '../../things/inbox/kinds.ts'
import type { Given } from '../../things/inbox/use-answer.ts'
import { UnsavedEdit, useHasEdit } from '../../things/mission/unsaved-edit.tsx'
import { AskVerifier } from './ask-verifier.tsx'

const CONSEQUENCES: Partial<Record<Decision, string>> = {
  approve: 'Work continues from here.',
  reject: 'The next agent reads the reason.',
  retry: 'It is queued again, with all its attempts.',
  replan: 'The planner reads the reason and makes another plan.',
  verify: 'The result gets another verdict.',
  fail: 'The task fails, and is not retried.',
  archive: 'The task stays failed and leaves the board.',
  pause: 'The agent gets no work until somebody resumes it.',
  terminate: 'The agent gets no more work. This cannot be undone.',
  skip: 'Tasks that depend on it continue without its result.',
  cancel: 'This cannot be undone.',
}

const OF_BUDGETS: Partial<Record<Decision, string>> = {
  allow: 'It works on. Its tokens are counted, its dollars are not.',
  cancel: 'The tasks that it has stopped are cancelled. This cannot be undone.',
}

const OF_OUTCOMES: Partial<Record<Decision, string>> = {
  approve: 'The mission is completed.',
  reject: 'The mission stays open, and waits until you have planned what is missing.',
  replan: 'Its planner reads what is missing and makes the next version of the plan.',
  cancel: 'This cannot be undone.',
}
/** Items whose headline says what to do, which the decision does already. */
const ABOUT_TITLES: readonly InboxDetail['kind'][] = ['review', 'outcome']

/** The decisions about an item. What needs a text has its own form above. */
export function AnswerBar(props: {
  item: InboxDetail
  isReady: () => boolean
  onAnswer: (given: Given) => void
  onFocusForm: () => void
}) {
  const { item, isReady, onAnswer, onFocusForm } = props
  const { whyNot } = useSession()
  const isPhone = useIsPhone()
  const [asked, setAsked] = useState<{ decision: Decision; startsOver: boolean } | null>(null)
  const refusal = whyNot('operate')
  const hasEdit = useHasEdit(item)
  // Approved only on purpose: what is approved is not what was written last.
  const isWithoutEdit = (decision: Decision) => hasEdit && decision === 'approve'
  const decide = (decision: Decision, startsOver = false) => {
    if (refusal !== null || !isReady()) return
    if (!canBeTogether(decision)) onFocusForm()
    else if (isAsked(decision) || decision === 'verify' || isPhone || startsOver || isWithoutEdit(decision))
      setAsked({ decision, startsOver })
    else onAnswer({ decision })
  }
  const [on, back] = [wayOn(item.actions), wayBack(item.actions)]
  const others = otherWays(item)
  const isStartOverInMenu = isPhone || others.length > 0
  const shown = [on, back, item.actions.includes('replan') ? ('replan' as const) : null, ...others]
  // A part of another budget is moved with the form above.
  const rest = item.actions.filter((one) => !shown.includes(one) && one !== 'move')
  const entry = (decision: Decision, startsOver = false) => ({
    words: startsOver ? startOverWords(decision) : buttonWords(decision, item),
    run: () => decide(decision, startsOver),
    isDangerous: isAsked(decision),
    disabledReason: refusal,
  })
  const entries = [
    ...(back && isStartOverInMenu && canStartOver(back, item) ? [entry(back, true)] : []),
    ...(item.actions.includes('retry') && canStartOver('retry', item) ? [entry('retry', true)] : []),
    ...rest.map((decision) => entry(decision)),
  ]
  useAnswerKeys({ item, on, back, refusal, decide, onFocusForm })
  return (
    <div className="flex flex-wrap items-center gap-2">
      {item.kind === 'finished' && <OpenFinished item={item} onSeen={() => decide('seen')} />}
      {on && canBeTogether(on) && (
        <Button
          disabledReason={refusal}
          kind={on === 'seen' ? 'plain' : 'primary'}
          onClick={() => decide(on)}
          shortcut="a"
        >
          {buttonWords(on, item)}
        </Button>
      )}
      {back && (
        <Button disabledReason={refusal} onClick={() => decide(back)} shortcut="r">
          {buttonWords(back, item)}
        </Button>
      )}
      {back && !isStartOverInMenu && canStartOver(back, item) && (
        <Button disabledReason={refusal} kind="quiet" onClick={() => decide(back, true)}>
          {startOverWords(back)}
        </Button>
      )}
      {item.actions.includes('replan') && (
        <Button disabledReason={refusal} kind="quiet" onClick={() => decide('replan')}>
          {buttonWords('replan', item)}
        </Button>
      )}
      {others.map((decision) => (
        <Button disabledReason={refusal} key={decision} onClick={() => decide(decision)}>
          {buttonWords(decision, item)}
        </Button>
      ))}
      {entries.length > 0 && (
        <Menu
          align="start"
          groups={[entries]}
          trigger={
            <Button icon="more" kind="quiet">
              Other decisions
            </Button>
          }
        />
      )}
      {asked?.decision === 'verify' && (
        <AskVerifier item={item} onAnswer={onAnswer} onClose={() => setAsked(null)} />
      )}
      {asked && asked.decision !== 'verify' && (
        <AskFirst
          {...asked}
          isWithoutEdit={isWithoutEdit(asked.decision)}
          item={item}
          key={`${asked.decision} ${asked.startsOver}`}
          onAnswer={onAnswer}
          onClose={() => setAsked(null)}
        />
      )}
    </div>
  )
}

/** Whoever opens it from here has seen that it ended. */
function OpenFinished({ item, onSeen }: { item: InboxDetail; onSeen: () => void }) {
  const go = useGo()
  const open = () => {
    onSeen()
    go(`/missions/${item.about.missionId}?view=report`)
  }
  useShortcuts('Inbox', { Enter: { words: 'Open the mission', run: open } })
  return (
    <Button kind="primary" onClick={open} shortcut="Enter">
      Open the mission
    </Button>
  )
}

/** `a` and `r` take the first ways on and back. */
function useAnswerKeys(props: {
  item: InboxDetail
  on: Decision | null
  back: Decision | null
  refusal: string | null
  decide: (decision: Decision) => void
  onFocusForm: () => void
}) {
  const { item, on, back, refusal, decide, onFocusForm } = props
  const go = useGo()
  useShortcuts('Inbox', {
    a: {
      words: on ? buttonWords(on, item) : 'Approve',
      run: () => on && decide(on),
      isOff: on === null || refusal !== null,
    },
    r: {
      words: 'Reject with a reason',
      run: () => back && decide(back),
      isOff: back === null || refusal !== null,
    },
    e: {
      words: 'Open the plan in its mission',
      run: () => go(`/missions/${item.about.missionId}?view=plan`),
      isOff: item.kind !== 'plan',
    },
    Enter: { words: 'Answer', run: onFocusForm, isOff: on === null || canBeTogether(on) },
  })
}

const startOverWords = (decision: Decision) =>
  decision === 'reject' ? 'Reject and start over' : 'Try again from the start'

const wordsFor = ({ kind, about }: InboxDetail) =>
  kind === 'outcome' ? OF_OUTCOMES : about.budgetId === null ? CONSEQUENCES : OF_BUDGETS

function AskFirst(props: {
  decision: Decision
  startsOver: boolean
  isWithoutEdit: boolean
  item: InboxDetail
  onAnswer: (given: Given) => void
  onClose: () => void
}) {
  const { decision, startsOver, isWithoutEdit, item, onAnswer, onClose } = props
  const needsReason = decision === 'reject' || decision === 'replan'
  return (
    <ConfirmDialog
      confirm={isWithoutEdit ? 'Approve without my edit' : buttonWords(decision, item)}
      draft={item.id}
      isDangerous={isAsked(decision) && !needsReason}
      onClose={onClose}
      onConfirm={(why, fresh) =>
        onAnswer({ decision, ...(why !== '' && { comment: why }), ...(fresh && { fresh }) })
      }
      open
      {...(isAsked(decision) && { reason: needsReason ? 'required' : 'optional' })}
      {...(canStartOver(decision, item) && { choice: { ...START_OVER, isChosenFirst: startsOver } })}
      {...(item.kind === 'outcome' && needsReason && { reasonLabel: 'What is missing' })}
      text={
        isWithoutEdit ? (
          <UnsavedEdit missionId={item.about.missionId!} />
        ) : (
          (wordsFor(item)[decision] ?? 'Work continues from here.')
        )
      }
      title={`${buttonWords(decision, item)}: ${ABOUT_TITLES.includes(item.kind) ? item.title : headline(item)}`}
    />
  )
}
