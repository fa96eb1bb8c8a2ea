import { join } from 'node:path'
import { makeRepository } from './git.ts'
import type { Fleet } from './runs.ts'

/**
 * An agent that behaves like the programs: it edits files and commits nothing. It adds a line to work.txt at each start, and
 * does what its plan says for this generation.
 */
export const WORKS = `
import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
const { BATON_AGENT, BATON_GENERATION, BATON_AGENT_SESSION, BATON_TASK_ID, PLAN } = process.env
const say = (line) => console.log(JSON.stringify(line))
const prompt = readFileSync(process.env.BATON_PROMPT_FILE, 'utf8')
const git = (...args) => execFileSync('git', args, { encoding: 'utf8', stdio: 'pipe' }).trim()
const api = (path, body) => fetch(process.env.BATON_URL + '/api/v1/tasks/' + BATON_TASK_ID + path, {
  method: 'POST',
  headers: { authorization: 'Bearer ' + process.env.BATON_API_KEY, 'content-type': 'application/json' },
  body: JSON.stringify({ session: process.env.BATON_SESSION, generation: Number(BATON_GENERATION), ...body }),
})
const before = existsSync('work.txt') ? readFileSync('work.txt', 'utf8') : ''
const ignored = existsSync('cache/seen') ? readFileSync('cache/seen', 'utf8') : ''
appendFileSync('work.txt', BATON_AGENT + ' ' + BATON_GENERATION + '\\n')
mkdirSync('cache', { recursive: true })
appendFileSync('cache/seen', BATON_GENERATION)
say({ baton: 'session', sessionId: BATON_AGENT_SESSION || 'session-' + BATON_GENERATION })
const acts = JSON.parse(PLAN)
const act = acts[Number(BATON_GENERATION) - 1] ?? 'done'
const result = { before, ignored, cwd: process.cwd(), resumes: BATON_AGENT_SESSION ?? null, asked: prompt.includes('Commit your work') }
if (act === 'ask') say({ baton: 'ask', question: 'Which one?' })
else if (act === 'fail') process.exitCode = 3
else if (act === 'hang') { console.log('up'); setInterval(() => {}, 60_000) }
else if (act === 'submit') {
  const answer = await api('/submit', { result: { by: 'api' } })
  console.log('submitted: ' + answer.status)
  appendFileSync('work.txt', 'after\\n')
} else {
  if (act.startsWith('do ')) (await import('data:text/javascript,' + encodeURIComponent(
    'export default async ({ git, writeFileSync, mkdirSync, process }) => {' + act.slice(3) + '}'))).default({ git, writeFileSync, mkdirSync, process })
  say({ result })
}
`

/** A repository whose cache is ignored. */
export async function workshop(w: Fleet, files: Record<string, string> = {}): Promise<string> {
  return makeRepository(join(await w.freshHome(), 'repository'), {
    'readme.md': 'one\n',
    '.gitignore': 'cache/\n',
    ...files,
  })
}

/** Hires an agent that works in worktrees of the repository; `plan` has one act for each generation. */
export const hireWorker = (w: Fleet, slug: string, cwd: string, plan: readonly string[], more: object = {}) =>
  w.script(slug, WORKS, {
    env: { PLAN: JSON.stringify(plan) },
    config: { cwd, workspace: 'git_worktree', ...more },
  })
