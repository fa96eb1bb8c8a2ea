/** Lists of words in a form: capabilities, types of tasks, models. As one text with commas, as forms keep them. Pure. */

const LONGEST = 100
const MOST = 50

/** Commas and new lines separate words; spaces are part of them. */
export const listIn = (text: string): string[] => [
  ...new Set(
    text
      .split(/[,\n]/)
      .map((word) => word.trim().replace(/\s+/g, ' '))
      .filter((word) => word !== ''),
  ),
]

export const listText = (words: readonly string[]): string => words.join(', ')

/** What is wrong with a list of words; null: nothing. */
export function listProblem(words: readonly string[], most = MOST, longest = LONGEST): string | null {
  const long = words.find((word) => word.length > longest)
  if (long !== undefined) return `“${long.slice(0, 30)}…” is too long: at most ${longest} characters each.`
  return words.length > most ? `At most ${most} are possible; these are ${words.length}.` : null
}

/** Those in use that are not chosen yet, the most used first. */
export function suggested(inUse: readonly string[], chosen: readonly string[], most = 8): string[] {
  const counts = new Map<string, number>()
  for (const word of inUse) counts.set(word, (counts.get(word) ?? 0) + 1)
  return [...counts]
    .filter(([word]) => !chosen.includes(word))
    .sort(([a, of], [b, ofB]) => ofB - of || (a < b ? -1 : 1))
    .slice(0, most)
    .map(([word]) => word)
}
