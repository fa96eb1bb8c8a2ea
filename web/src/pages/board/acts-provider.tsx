import { lazy, type ReactNode, Suspense, useMemo, useState } from 'react'
import { focusCard } from '../../keys/focus-card.ts'
import type { ShownCard } from '../../live/pending-acts.ts'
import { useLive } from '../../live/provider.tsx'
import { toast } from '../../parts/toasts.tsx'
import type { Asked } from '../../requests/acts.ts'
import { useSession } from '../../requests/session.ts'
import { useTaskActs } from '../../requests/use-task-acts.ts'
import type { SharedAct } from '../../things/task/ask/asked-first.ts'
import { showOutcome } from '../../things/task/ask/show-outcome.ts'
import { shortName } from '../../things/task/card-words.ts'
import { ActsContext, type BoardAct, type BoardActs } from './acts-context.ts'
import { useDesk } from './desk.ts'

// Loaded when something is asked: an approval shows diffs, which a board does not need to be shown.
const AskAct = lazy(() =>
  import('../../things/task/ask/ask-act.tsx').then(({ AskAct: dialog }) => ({ default: dialog })),
)

/** The most tasks that one request acts on. */
export const MOST_AT_ONCE = 200

/** A dialog gives the focus back to where it was, which may be a card that has moved: then it goes to the card. */
const FOCUS_BACK_MS = 50

const ASKED_FIRST = ['cancel', 'approve', 'reject', 'again', 'priority', 'agent', 'type', 'tags'] as const
const isAskedFirst = (act: BoardAct): act is (typeof ASKED_FIRST)[number] =>
  (ASKED_FIRST as readonly BoardAct[]).includes(act)

interface Asking {
  act: SharedAct
  ids: readonly string[]
  /** The card as it was when the question was asked, if it is one task. */
  card: ShownCard | undefined
}

export function BoardActsProvider({ children }: { children: ReactNode }) {
  const { whyNot } = useSession()
  const taskActs = useTaskActs()
  const live = useLive()
  const desk = useDesk()
  const [asking, setAsking] = useState<Asking | null>(null)
  const forbidden = whyNot('operate')
  const acts = useMemo<BoardActs>(() => {
    const run = (asked: Asked, ids: readonly string[]) => {
      if (forbidden) toast({ kind: 'bad', title: forbidden })
      else if (ids.length > MOST_AT_ONCE)
        toast({ kind: 'bad', title: `At most ${MOST_AT_ONCE} tasks can be changed at once.` })
      else if (ids.length > 0) void showOutcome(taskActs.run(asked, ids))
    }
    const begin = (act: BoardAct, ids: readonly string[]) => {
      if (forbidden) return void toast({ kind: 'bad', title: forbidden })
      if (ids.length === 0) return
      if (!isAskedFirst(act)) return run({ act } as Asked, ids)
      const first = ids.length === 1 ? live.world.shown(ids[0]!) : undefined
      setAsking({ act, ids, card: first })
    }
    return { run, begin, forbidden }
  }, [taskActs, live, forbidden])
  const close = () => {
    setAsking(null)
    setTimeout(() => {
      const { cursor } = desk.get()
      if (cursor !== null && document.activeElement === document.body) focusCard(cursor)
    }, FOCUS_BACK_MS)
  }
  return (
    <ActsContext value={acts}>
      {children}
      {asking && (
        <Suspense fallback={null}>
          <AskAct
            about={{ name: nameOf(asking), one: asking.card }}
            act={asking.act}
            onClose={close}
            send={(asked) => acts.run(asked, asking.ids)}
          />
        </Suspense>
      )}
    </ActsContext>
  )
}

const nameOf = ({ ids, card }: Asking) =>
  ids.length === 1 ? shortName(ids[0]!, card) : `${ids.length} tasks`
