import { createHash } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type FindFiles, isFileName, namesIn, type Place, SEARCHED_EACH } from '../files/places.ts'

/**
 * Where gemini writes: `tmp/<project>/chats/session-<minute>-<first 8 of the session>.jsonl`. A session that is resumed goes on in its
 * old file, and leaves a new one without answers.
 */
export function geminiFiles({ home, cwd }: Place): FindFiles {
  const known = new Set<string>()
  let looks = 0
  return async ({ sessionId }) => {
    if (!isFileName(sessionId) || sessionId.length < SHORT) return []
    const isThorough = looks++ % SEARCHED_EACH === 0
    if (known.size > 0 && !isThorough) return [...known]
    const end = `-${sessionId.slice(0, SHORT)}.jsonl`
    for (const project of await projects(join(home, 'tmp'), cwd, isThorough)) {
      const chats = join(home, 'tmp', project, 'chats')
      for (const name of await namesIn(chats)) if (name.endsWith(end)) known.add(join(chats, name))
    }
    return [...known]
  }
}

const SHORT = 8
const MOST_PROJECTS = 2_000

/** A project has the name of its folder, with a number if that is taken; older versions have its hash. */
async function projects(folder: string, cwd: string, isThorough: boolean): Promise<string[]> {
  if (isThorough) return (await namesIn(folder)).slice(0, MOST_PROJECTS)
  const real = await realpath(cwd).catch(() => cwd)
  return [...new Set([basename(real).toLowerCase(), basename(real), hashOf(real)])].filter(Boolean)
}

const hashOf = (path: string) => createHash('sha256').update(path).digest('hex')
