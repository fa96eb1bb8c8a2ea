import { toast } from '../../../parts/toasts.tsx'
import type { ActOutcome } from '../../../requests/acts.ts'

/** The outcome of an act on tasks, at the edge of the page: done with its undo, refused and why, or not known. */

const MOST_REASONS = 3

/** Whether it was done. */
export async function showOutcome(outcome: Promise<ActOutcome>): Promise<boolean> {
  const result = await outcome
  switch (result.kind) {
    case 'done': {
      const { offer, refused } = result
      toast({
        kind: refused.length > 0 ? 'bad' : 'done',
        title: refused.length > 0 ? `${result.words}, ${refused.length} refused.` : `${result.words}.`,
        text: reasons(refused),
        ...(offer && { act: { words: offer.words, run: () => void showOutcome(offer.run()) } }),
      })
      return true
    }
    case 'refused':
      toast({
        kind: 'bad',
        title: result.refused.length > 1 ? 'Refused for all of them.' : 'Refused.',
        text:
          result.refused.length > 1 ? reasons(result.refused) : (result.refused[0]?.words ?? result.words),
      })
      return false
    case 'unknown': {
      const { askAgain } = result
      toast({
        kind: 'bad',
        title: result.words,
        lastsMs: null,
        act: { words: 'Ask again', run: () => void showOutcome(askAgain()) },
      })
      return false
    }
    case 'offline':
      toast({ kind: 'bad', title: result.words })
      return false
  }
}

function reasons(refused: readonly { words: string }[]): string | undefined {
  if (refused.length === 0) return undefined
  const shown = refused.slice(0, MOST_REASONS).map(({ words }) => words)
  const more = refused.length - shown.length
  return [...shown, ...(more > 0 ? [`And ${more} more.`] : [])].join(' ')
}
