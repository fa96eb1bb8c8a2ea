/** Where a text occurs, literally. What the window has is searched at once; the server searches the whole log. */

export interface Place {
  readonly from: number
  readonly to: number
}

export function placesOf(text: string, wanted: string, isCaseSensitive: boolean): Place[] {
  if (wanted === '') return []
  const places: Place[] = []
  // The lower case of some letters is longer: places would be wrong, so such lines are compared as they are.
  const lower = text.toLowerCase()
  const isFolded = !isCaseSensitive && lower.length === text.length
  const within = isFolded ? lower : text
  const needle = isFolded ? wanted.toLowerCase() : wanted
  for (let at = within.indexOf(needle); at !== -1; at = within.indexOf(needle, at + needle.length))
    places.push({ from: at, to: at + needle.length })
  return places
}

/** Text of runs, divided where something was found. */
export function divided<R extends { readonly text: string }>(
  runs: readonly R[],
  places: readonly Place[],
): (R & { isFound: boolean })[] {
  const parts: (R & { isFound: boolean })[] = []
  let start = 0
  for (const run of runs) {
    const end = start + run.text.length
    const edges = places.flatMap(({ from, to }) => [from, to]).filter((edge) => edge > start && edge < end)
    let from = start
    for (const to of [...edges, end]) {
      if (to <= from) continue
      const isFound = places.some((place) => place.from <= from && place.to >= to)
      parts.push({ ...run, text: run.text.slice(from - start, to - start), isFound })
      from = to
    }
    start = end
  }
  return parts
}
