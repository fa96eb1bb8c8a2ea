import { Refused } from '../core/errors.ts'

/** Record versions as HTTP entity tags. */
export const etag = (version: number) => `"${version}"`

export function versionIn(ifMatch: string | undefined): number | null {
  if (ifMatch === undefined || ifMatch === '*') return null
  const [, version] = /^(?:W\/)?"(\d{1,10})"$/.exec(ifMatch) ?? []
  if (version === undefined)
    throw new Refused('VERSION_MISMATCH', 'If-Match does not name a version of this task.')
  return Number(version)
}
