import { toast } from '../../parts/toasts.tsx'
import type { ActOutcome } from '../../requests/acts.ts'

/** The outcome of an act on tasks, at the edge of the page: done with its undo, refused and why, or not known. */

const MOST_REASONS = 3

/** Whether it was done. */
export async function tellOutcome(outcome: Promise<ActOutcome>): Promise<boolean> {
  const told = await outcome
  switch (told.kind) {
    case 'done': {
      const { offer, refused } = told
      toast({
        kind: refused.length > 0 ? 'bad' : 'done',
        title: refused.length > 0 ? `${told.words}, ${refused.length} refused.` : `${told.words}.`,
        text: reasons(refused),
        ...(offer && { act: { words: offer.words, run: () => void tellOutcome(offer.run()) } }),
      })
      return true
    }
    case 'refused':
      toast({
        kind: 'bad',
        title: told.refused.length > 1 ? 'Refused for all of them.' : 'Refused.',
        text: told.refused.length > 1 ? reasons(told.refused) : (told.refused[0]?.words ?? told.words),
      })
      return false
    case 'unknown': {
      const { askAgain } = told
      toast({
        kind: 'bad',
        title: told.words,
        lastsMs: null,
        act: { words: 'Ask again', run: () => void tellOutcome(askAgain()) },
      })
      return false
    }
    case 'offline':
      toast({ kind: 'bad', title: told.words })
      return false
  }
}

function reasons(refused: readonly { words: string }[]): string | undefined {
  if (refused.length === 0) return undefined
  const shown = refused.slice(0, MOST_REASONS).map(({ words }) => words)
  const more = refused.length - shown.length
  return [...shown, ...(more > 0 ? [`And ${more} more.`] : [])].join(' ')
}
