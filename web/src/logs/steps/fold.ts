import type { Step } from '../../../../src/kinds/run/shapes/transcript.ts'

/** Steps as rows: one line each, and calls of the same tool in a row as one («Read ×14»). */

export type StepFilter = 'all' | 'failed' | 'calls'

export interface StepRow {
  /** The number of its first step: it keeps its place and its name while it grows. */
  readonly key: number
  /** More than one: folded. */
  readonly steps: readonly Step[]
}

const FOLDED: readonly Step['kind'][] = ['call', 'edit', 'log', 'thought']

/** What failed, and what waits for its result or for a person, is never folded away. */
const mustBeSeen = ({ isError, isOpen, kind }: Step) => isError || isOpen || kind === 'asked'

const goesWith = (before: Step, step: Step) =>
  before.kind === step.kind &&
  before.tool === step.tool &&
  FOLDED.includes(step.kind) &&
  !mustBeSeen(before) &&
  !mustBeSeen(step)

const MATCHES: Record<StepFilter, (step: Step) => boolean> = {
  all: () => true,
  failed: ({ isError }) => isError,
  calls: ({ kind }) => kind === 'call' || kind === 'edit',
}

/** Whether its title, its tool, its text or its output has these words, whatever their case. */
function hasText({ title, tool, text, output }: Step, lowerCase: string): boolean {
  return [title, tool, text, output].some((part) => part?.toLowerCase().includes(lowerCase))
}

/** `isGrowing`: the last step may still change, and is shown separately. `find`: only steps with this text. */
export function foldedSteps(
  steps: readonly Step[],
  filter: StepFilter,
  isGrowing: boolean,
  find = '',
): StepRow[] {
  const rows: { key: number; steps: Step[] }[] = []
  const lowerCase = find.trim().toLowerCase()
  const ofKind = steps.filter(MATCHES[filter])
  const wanted = lowerCase === '' ? ofKind : ofKind.filter((step) => hasText(step, lowerCase))
  const last = steps.at(-1)
  for (const step of wanted) {
    const row = rows.at(-1)
    const isAlone = isGrowing && step === last
    if (row && !isAlone && goesWith(row.steps.at(-1)!, step)) row.steps.push(step)
    else rows.push({ key: step.n, steps: [step] })
  }
  return rows
}

/** Failed, waiting and last steps are open until the reader closes them. */
export const isOpenAtFirst = ({ steps }: StepRow, isLast: boolean): boolean =>
  steps.length === 1 && (isLast || mustBeSeen(steps[0]!))

/** The known steps with new ones; one that comes again under its number replaces what was known. */
export function withSteps(known: readonly Step[], came: readonly Step[]): readonly Step[] {
  if (came.length === 0) return known
  const byNumber = new Map(known.map((step) => [step.n, step]))
  for (const step of came) byNumber.set(step.n, step)
  return [...byNumber.values()].sort((a, b) => a.n - b.n)
}

/** The sum of what is known; null: nothing is. */
export function sumOf(steps: readonly Step[], amount: (step: Step) => number | null): number | null {
  const known = steps.flatMap((step) => amount(step) ?? [])
  return known.length === 0 ? null : known.reduce((sum, one) => sum + one, 0)
}
