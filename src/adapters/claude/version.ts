export type Version = readonly [major: number, minor: number, patch: number]

/** Whether the first version in a text is older. An unreadable version counts as new. */
export function isOlderThan(text: string | null, than: Version): boolean {
  const parts = /(\d+)\.(\d+)\.(\d+)/
    .exec(text ?? '')
    ?.slice(1)
    .map(Number)
  const at = parts?.findIndex((part, i) => part !== than[i]) ?? -1
  return at !== -1 && parts![at]! < than[at]!
}
