import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { type FindFiles, found, isFileName, isThere, namesIn, type Place } from '../files/places.ts'

/**
 * Where claude writes: `projects/<folder>/<session>.jsonl`, and beside it a folder of the session with a file for each subagent. The
 * output shows all messages; where it tells what they used, only the subagents' files are read.
 */
export function claudeFiles({ home, cwd }: Place): FindFiles {
  const projects = join(home, 'projects')
  const folders = new Map<string, () => Promise<string | null>>()
  const folderOf = (sessionId: string) => {
    const known =
      folders.get(sessionId) ?? found((isThorough) => search(projects, cwd, sessionId, isThorough))
    folders.set(sessionId, known)
    return known()
  }
  return async ({ sessionId, agents, isToldElsewhere = false }) => {
    if (!isFileName(sessionId) || (isToldElsewhere && agents.length === 0)) return []
    const folder = await folderOf(sessionId)
    if (folder === null) return []
    const ofAgents = agents.filter(isFileName).map((id) => `agent-${id}.jsonl`)
    return [
      ...(isToldElsewhere ? [] : [join(folder, `${sessionId}.jsonl`)]),
      ...ofAgents.map((name) => join(folder, sessionId, 'subagents', name)),
    ]
  }
}

const MOST_PROJECTS = 2_000

/** The name of the folder is the path of the project, with dashes for all but letters and digits. A long one is cut. */
async function search(
  projects: string,
  cwd: string,
  sessionId: string,
  isThorough: boolean,
): Promise<string | null> {
  const real = await realpath(cwd).catch(() => cwd)
  const likely = [...new Set([real, cwd])].map((path) => path.replace(/[^A-Za-z0-9]/g, '-'))
  const others = isThorough ? (await namesIn(projects)).slice(0, MOST_PROJECTS) : []
  for (const name of [...likely, ...others])
    if (await isThere(join(projects, name, `${sessionId}.jsonl`))) return join(projects, name)
  return null
}
