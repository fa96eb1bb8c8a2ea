/** The way from the plan to a value in it, step by step; null is the plan itself. Written out only for a problem. */
export interface Path {
  readonly above: Path | null
  readonly step: string | number
}

/** The path to something inside. */
export const below = (above: Path | null, step: string | number): Path => ({ above, step })

/** Longer names of fields are cut: a hostile plan may have one of a megabyte, and thousands of problems below it. */
const LONGEST_STEP = 100
const LONGEST = 200

const cut = (text: string, longest: number) => (text.length > longest ? `${text.slice(0, longest)}…` : text)

function stepsOf(path: Path | null): (string | number)[] {
  const steps: (string | number)[] = []
  for (let at = path; at !== null; at = at.above)
    steps.push(typeof at.step === 'string' ? cut(at.step, LONGEST_STEP) : at.step)
  return steps.reverse()
}

/** For people: `tasks[3].dependsOn[0]`. */
export function pathText(path: Path | null): string {
  const text = stepsOf(path).reduce<string>(
    (before, step) =>
      typeof step === 'number' ? `${before}[${step}]` : before === '' ? step : `${before}.${step}`,
    '',
  )
  return cut(text, LONGEST)
}

/** For programs, as a JSON pointer (RFC 6901): `/tasks/3/dependsOn/0`. */
export function pointerText(path: Path | null): string {
  const steps = stepsOf(path).map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`)
  return cut(steps.join(''), LONGEST)
}
