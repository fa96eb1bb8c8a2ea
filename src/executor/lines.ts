/** Longer lines are no facts of an agent. */
const LONGEST_LINE = 8 * 1024 * 1024

/** The lines of a text that comes in pieces; the last one too, if it was not ended. */
export async function* linesOf(
  pieces: AsyncIterable<string>,
  seen: (piece: string) => void,
): AsyncGenerator<string> {
  let rest = ''
  for await (const piece of pieces) {
    seen(piece)
    const lines = (rest + piece).split('\n')
    rest = lines.pop()!.slice(0, LONGEST_LINE)
    yield* lines
  }
  if (rest !== '') yield rest
}
