import { join } from 'node:path'
import { type FindFiles, found, isFileName, namesIn, type Place } from '../files/places.ts'

/** Where codex writes: `sessions/<year>/<month>/<day>/rollout-<start>-<thread>.jsonl`, by the day on which the thread began. */
export function codexFiles({ home }: Place): FindFiles {
  const sessions = join(home, 'sessions')
  const files = new Map<string, () => Promise<string | null>>()
  return async ({ sessionId }) => {
    if (!isFileName(sessionId)) return []
    const known = files.get(sessionId) ?? found((isThorough) => search(sessions, sessionId, isThorough))
    files.set(sessionId, known)
    const file = await known()
    return file === null ? [] : [file]
  }
}

/** Most runs continue a thread of these days. */
const LAST_DAYS = 3
const MOST_DAYS = 2_000

async function search(sessions: string, threadId: string, isThorough: boolean): Promise<string | null> {
  let days = 0
  for (const year of await newest(sessions))
    for (const month of await newest(join(sessions, year)))
      for (const day of await newest(join(sessions, year, month))) {
        if (++days > (isThorough ? MOST_DAYS : LAST_DAYS)) return null
        const folder = join(sessions, year, month, day)
        const name = (await namesIn(folder)).find((one) => one.endsWith(`-${threadId}.jsonl`))
        if (name !== undefined) return join(folder, name)
      }
  return null
}

const newest = async (folder: string) =>
  (await namesIn(folder))
    .filter((name) => /^\d{1,4}$/.test(name))
    .sort()
    .reverse()
