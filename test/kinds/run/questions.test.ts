import { join } from 'node:path'
import { expect, test } from 'vitest'
import { git, isGitHere, makeRepository } from '../../support/git.ts'
import { eventually } from '../../support/recovery.ts'
import { useRunNodes } from '../../support/run-nodes.ts'

/** An agent that Baton runs asks a person, and continues with the answer where it stopped. */

const MINUTES = { timeout: 200_000 }
const nodes = useRunNodes()

/** Asks the first time, by a line or with its token; then does its work. It leaves a file that is not committed. */
const ASKS = `
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
const say = (line) => console.log(JSON.stringify(line))
const prompt = readFileSync(process.env.BATON_PROMPT_FILE, 'utf8')
if (!existsSync('notes.txt')) {
  if (process.env.LEAVES_NOTES !== 'no') writeFileSync('notes.txt', 'half done')
  say({ baton: 'session', sessionId: 'session-of-' + process.env.BATON_TASK_ID })
  if (process.env.ASKS_BY === 'line') {
    say({ baton: 'ask', question: 'Which database?', options: ['Frankfurt', 'Dublin'] })
  } else {
    const { BATON_URL, BATON_API_KEY, BATON_TASK_ID, BATON_SESSION, BATON_GENERATION } = process.env
    const answer = await fetch(BATON_URL + '/api/v1/tasks/' + BATON_TASK_ID + '/ask', {
      method: 'POST',
      headers: { authorization: 'Bearer ' + BATON_API_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ session: BATON_SESSION, generation: Number(BATON_GENERATION),
        question: 'Which database?', options: ['Frankfurt', 'Dublin'] }),
    })
    console.log('asked: ' + answer.status)
  }
} else {
  const { BATON_AGENT_SESSION: session, BATON_ATTEMPT: attempt, BATON_GENERATION: generation } = process.env
  say({ result: { cwd: process.cwd(), session, attempt, generation, notes: readFileSync('notes.txt', 'utf8'),
    isTold: prompt.includes('Which database?') && prompt.includes('Dublin') } })
}
`

const config = (repository: string, asksBy: string) => ({
  adapterType: 'process',
  adapterConfig: {
    command: process.execPath,
    args: ['--input-type=module', '--eval', ASKS],
    cwd: repository,
    workspace: 'git_worktree',
    env: { ASKS_BY: asksBy },
    graceSec: 1,
  },
})

test.runIf(isGitHere).each(['line', 'token'])(
  'an agent that asks by a %s continues after a restart of the server: same session, same worktree, with the answer',
  MINUTES,
  async (asksBy) => {
    const cluster = await nodes.cluster()
    const first = await cluster.serve()
    const w = await cluster.workspace()
    const repository = join(cluster.home, 'repository')
    makeRepository(repository)
    await w.hire('asker', config(repository, asksBy))
    // Free all the time, and as capable.
    await w.hire('other', config(repository, asksBy))
    const task = await w.make({ title: 'Move the data' })
    await w.reaches(task, 'awaiting_human')
    const [asked] = await eventually(async () => {
      const over = await w.runs('&status=succeeded')
      return over.length === 1 && over
    })
    expect(asked).toMatchObject({ taskId: task.id, generation: 1, errorCode: null })
    await cluster.kill(first)
    await cluster.serve()

    const seen = await w.read(task)
    expect(seen).toMatchObject({
      state: 'awaiting_human',
      attempt: 0,
      question: { question: 'Which database?', options: ['Frankfurt', 'Dublin'], askedBy: asked!.agent },
    })
    expect(await w.on(task, 'answer', { answer: 'Dublin', generation: 1 })).toMatchObject({ status: 200 })
    await w.reaches(task, 'completed')
    const { items } = await w.read(task, '/results')
    expect(items).toMatchObject([
      {
        generation: 2,
        agent: asked!.agent,
        accepted: true,
        result: {
          session: `session-of-${task.id}`,
          cwd: expect.stringMatching(/gen-1$/),
          attempt: '1',
          generation: '2',
          notes: 'half done',
          isTold: true,
        },
      },
    ])
    // Nobody committed it but Baton.
    expect(git(repository, 'show', `${items[0].commit}:notes.txt`)).toBe('half done')
  },
)
