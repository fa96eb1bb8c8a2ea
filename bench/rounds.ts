/** Two runs of the same code differ, so what is compared is measured several times, in turn. */

export interface Spread {
  median: number
  min: number
  max: number
}

/** Of an even number of values, the lower of the two in the middle. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b)
  return { median: sorted[(sorted.length - 1) >> 1]!, min: sorted[0]!, max: sorted.at(-1)! }
}

/** A B C A B C …: what slows the machine for a while does not slow only one of them. Answers in the order of the lines. */
export async function interleaved<T>(
  times: number,
  lines: readonly (() => Promise<T>)[],
): Promise<[T, ...T[]][]> {
  const measured: T[][] = lines.map(() => [])
  for (let round = 0; round < times; round++)
    for (const [i, line] of lines.entries()) measured[i]!.push(await line())
  return measured as [T, ...T[]][]
}
