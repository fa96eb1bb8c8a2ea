import { useState } from 'react'
import { type Act, mayBeDone } from '../../../../src/kinds/task/rules/allowed-acts.ts'
import { type Shortcuts, useShortcuts } from '../../keys/shortcuts.ts'
import { Button } from '../../parts/button.tsx'
import { IconButton } from '../../parts/icon-button.tsx'
import { Menu, type MenuEntry } from '../../parts/menu.tsx'
import { ACT_NAMES } from '../../requests/act-words.ts'
import type { Asked } from '../../requests/acts.ts'
import { useSession } from '../../requests/session.ts'
import { useTaskActs } from '../../requests/use-task-acts.ts'
import type { IconName } from '../../theme/icons.ts'
import { statePhrase } from '../../theme/marks.ts'
import { AskFirst } from './ask/ask-first.tsx'
import { type AskedAct, isAskedFirst } from './ask/asked-first.ts'
import { showOutcome } from './ask/show-outcome.ts'
import { type TaskDialog, TaskDialogs } from './task-dialogs.tsx'
import type { ShownTask, Task } from './use-task.ts'

interface Props {
  task: Task
  now: ShownTask
  /** In a panel the keys belong to the list beside it. */
  hasKeys: boolean
}

/** What can be done with the task now: the likely acts as buttons, all of them in the menu. */
export function TaskActButtons({ task, now, hasKeys }: Props) {
  const { whyNot } = useSession()
  const acts = useTaskActs()
  const [asking, setAsking] = useState<AskedAct | null>(null)
  const [isMenuOpen, setMenuOpen] = useState(false)
  const [dialog, setDialog] = useState<TaskDialog | null>(null)
  const forbidden = whyNot('operate')
  const run = async (asked: Asked) => {
    const isDone = await showOutcome(acts.run(asked, [task.id]))
    // The task may have changed while it was read: what is there now is shown.
    if (!isDone && asked.act === 'approve') setAsking('approve')
  }
  const begin = (act: Act) => (isAskedFirst(act) ? setAsking(act) : void run({ act } as Asked))
  const may = (act: Act) => mayBeDone(act, now) && task.archivedAt === null
  const reason = (act: Act) => forbidden ?? (may(act) ? null : `Not while it is ${statePhrase(now.state)}.`)
  const key = (act: Act): [string, Shortcuts[string]] => [
    KEYS[act]!,
    { words: ACT_NAMES[act], run: () => begin(act), isOff: reason(act) !== null },
  ]
  const pauses: Act = may('resume') ? 'resume' : 'pause'
  const shortcuts: Shortcuts = {
    ...Object.fromEntries([key(pauses), key('retry'), key('cancel'), key('approve'), key('reject')]),
    e: { words: 'Edit', run: () => setDialog('edit'), isOff: forbidden !== null },
    '.': { words: 'All actions', run: () => setMenuOpen(true) },
  }
  useShortcuts('Task', hasKeys ? shortcuts : {})
  const entry = (act: Act, icon: MenuEntry['icon'], isDangerous = false): MenuEntry => ({
    words: ACT_NAMES[act],
    run: () => begin(act),
    isDangerous,
    disabledReason: reason(act),
    ...(icon && { icon }),
    ...(hasKeys && KEYS[act] && { shortcut: KEYS[act] }),
  })
  const other = (words: string, icon: IconName, run: () => void, disabledReason = forbidden): MenuEntry => ({
    ...{ words, icon, disabledReason, run },
  })
  const buttonOf = (
    words: string,
    kind: 'primary' | 'plain',
    icon: IconName,
    shortcut: string,
    run: () => void,
  ) => <ActButton {...{ words, kind, icon, forbidden, run }} shortcut={hasKeys ? shortcut : null} />
  const button = (act: Act, kind: 'primary' | 'plain', icon: IconName) =>
    may(act) && buttonOf(ACT_NAMES[act], kind, icon, KEYS[act]!, () => begin(act))
  const isBudgetSpent = now.state === 'budget_exceeded'
  return (
    <>
      {button('approve', 'primary', 'check')}
      {now.awaits !== 'question' && now.resultDigest !== null && button('reject', 'plain', 'close')}
      {isBudgetSpent && (
        <Button disabledReason={forbidden} kind="primary" onClick={() => setAsking('budget')} size="small">
          Raise budget
        </Button>
      )}
      {!isBudgetSpent && button(pauses, 'plain', pauses === 'pause' ? 'pause' : 'play')}
      {button('retry', now.state === 'failed' ? 'primary' : 'plain', 'retry')}
      {buttonOf('Edit', 'plain', 'edit', 'e', () => setDialog('edit'))}
      <Menu
        groups={[
          [
            other('Duplicate…', 'copy', () => setDialog('duplicate')),
            other('Wake the agent…', 'play', () => setDialog('wake')),
          ],
          [
            entry(pauses, pauses === 'pause' ? 'pause' : 'play'),
            entry('retry', 'retry'),
            other('Start over', 'redo', () => setAsking('start_over'), reason('retry')),
            entry('reset', 'arrow-left'),
          ],
          [
            entry('priority', 'flag'),
            entry('agent', 'agents'),
            other('Change budget', 'budgets', () => setAsking('budget')),
          ],
          [entry('complete', 'check'), entry('skip', 'arrow-right')],
          [entry('archive', 'archive'), entry('cancel', 'cancel', true)],
        ]}
        onOpenChange={setMenuOpen}
        open={isMenuOpen}
        trigger={
          <IconButton icon="more" label="All actions" {...(hasKeys && { shortcut: '.' })} size="small" />
        }
      />
      <TaskDialogs now={now} onClose={() => setDialog(null)} shown={dialog} task={task} />
      {asking && (
        <AskFirst
          act={asking}
          now={now}
          onClose={() => setAsking(null)}
          run={(asked) => void run(asked)}
          task={task}
        />
      )}
    </>
  )
}

function ActButton(props: {
  words: string
  kind: 'primary' | 'plain'
  icon: IconName
  shortcut: string | null
  /** Why it cannot be done by this user. */
  forbidden: string | null
  run: () => void
}) {
  const { words, kind, icon, shortcut, forbidden, run } = props
  return (
    <Button
      disabledReason={forbidden}
      icon={icon}
      kind={kind}
      onClick={run}
      {...(shortcut !== null && { shortcut })}
      size="small"
    >
      {words}
    </Button>
  )
}

const KEYS: Partial<Record<Act, string>> = {
  pause: 'p',
  resume: 'p',
  retry: 't',
  cancel: 'Del',
  approve: 'a',
  reject: 'r',
}
