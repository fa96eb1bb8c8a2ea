import { explain } from '../../parts/explain.ts'
import { toast } from '../../parts/toasts.tsx'
import type { ActOutcome } from '../../requests/acts.ts'

/** What became of an act on this task, at the edge of the page. */

export async function tellOutcome(outcome: Promise<ActOutcome>): Promise<boolean> {
  const told = await outcome
  switch (told.kind) {
    case 'done': {
      const { offer } = told
      const act = offer && { words: offer.words, run: () => void tellOutcome(offer.run()) }
      toast({ kind: 'done', title: `${told.words}.`, ...(act && { act }) })
      return true
    }
    case 'unknown': {
      const { askAgain } = told
      const act = { words: 'Ask again', run: () => void tellOutcome(askAgain()) }
      toast({ kind: 'bad', title: told.words, lastsMs: null, act })
      return false
    }
    case 'refused':
      toast({ kind: 'bad', title: 'Refused.', text: told.refused[0]?.words ?? told.words })
      return false
    case 'offline':
      toast({ kind: 'bad', title: told.words })
      return false
  }
}

export function tellRefusal(error: unknown): void {
  const { title, detail } = explain(error)
  toast({ kind: 'bad', title, text: detail })
}
