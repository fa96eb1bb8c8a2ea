/** The beginning of a unified diff of one file, as a diff that can be read again. Pure. */

export interface PatchPart {
  readonly patch: string
  /** Lines of hunks that are not in it. */
  readonly linesLeft: number
}

const HEAD = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$/
/** Git may be told to write empty lines without the space in front of them. */
const isOfHunk = (line: string) => line === '' || /^[ +\-\\]/.test(line)

interface Hunk {
  oldStart: string
  newStart: string
  section: string
  lines: string[]
}

const written = ({ oldStart, newStart, section, lines }: Hunk): string[] => {
  const count = (signs: string) => lines.filter((line) => signs.includes(line[0] ?? '')).length
  return [`@@ -${oldStart},${count(' -')} +${newStart},${count(' +')} @@${section}`, ...lines]
}

/**
 * At most so many lines of hunks. The counts in the heads are made to fit: the server cuts long diffs in the middle of a hunk,
 * and a reader of diffs refuses a hunk that is shorter than its head says.
 */
export function patchPart(text: string, mostLines: number): PatchPart {
  const before: string[] = []
  const hunks: Hunk[] = []
  let [kept, left] = [0, 0]
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const [, oldStart, newStart, section] = HEAD.exec(line) ?? []
    const hunk = hunks.at(-1)
    if (oldStart !== undefined) {
      if (kept < mostLines) hunks.push({ oldStart, newStart: newStart!, section: section!, lines: [] })
    } else if (!hunk) before.push(line)
    else if (isOfHunk(line)) {
      if (kept < mostLines) {
        hunk.lines.push(line === '' ? ' ' : line)
        kept += 1
      } else left += 1
    }
  }
  return { patch: `${[...before, ...hunks.flatMap(written)].join('\n')}\n`, linesLeft: left }
}
