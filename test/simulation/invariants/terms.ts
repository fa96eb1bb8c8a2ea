import type { WorldInvariant } from './invariant.ts'

/** The term under which something was done, according to its actor; null: under none. */
function termOf(actor: string): number | null {
  const [, term] = /^coordinator:(\d+)$/.exec(actor) ?? []
  return term === undefined ? null : Number(term)
}

const termsAreObeyed: WorldInvariant = {
  says: 'Nothing is written under a term that is over, and none follows another during a write under it.',
  broken: ({ newEvents, terms, termsBefore }) => {
    for (const { actor, at, type } of newEvents) {
      const number = termOf(actor)
      if (number === null) continue
      if (number < termsBefore)
        return `${type} under term ${number} was written after term ${termsBefore} began`
      const { expiresAt, endedAt } = terms[number - 1]!
      if (at >= expiresAt || (endedAt !== null && at > endedAt))
        return `${type} under term ${number} was decided after its end`
    }
    return null
  },
}

const oneTermAtATime: WorldInvariant = {
  says: 'Terms are numbered without a gap, and each begins when the previous one is over.',
  broken: ({ terms }) => {
    for (const [i, { term, takenAt }] of terms.entries()) {
      if (term !== i + 1) return `term ${term} is in place ${i + 1}`
      const before = terms[i - 1]
      if (before && (before.endedAt === null || before.endedAt > takenAt))
        return `term ${term} began before term ${before.term} was over`
    }
    return null
  },
}

export const termInvariants = { termsAreObeyed, oneTermAtATime }
