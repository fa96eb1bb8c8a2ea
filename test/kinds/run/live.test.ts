import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { git, isGitHere, makeRepository } from '../../support/git.ts'
import { eventually, useProcesses } from '../../support/recovery.ts'
import { type Fleet, listen, openFleet, type Seen, useFleets } from '../../support/runs.ts'
import { callsTo } from '../../support/server.ts'

/** What agents get from Baton and leave in it: their environment, their secrets, their folders. */

/** Unlisted variables are not passed to an agent, and neither are Baton's database settings. */
const planted = {
  PLANTED: 'not for agents',
  AWS_SECRET_ACCESS_KEY: 'aws-of-the-server',
  ANTHROPIC_API_KEY: 'sk-ant-of-the-server',
  OPENAI_API_KEY: 'sk-openai-of-the-server',
  BATON_MAX_RUNS: '7',
  LC_ALL: 'C.UTF-8',
}
const { fleet, folder } = useFleets(planted)

const OF_EVERY_RUN = ['AGENT', 'AGENT_ID', 'API_KEY', 'RUN_ID', 'URL', 'WORKSPACE_ID']
const OF_A_TASK = ['REQUESTS_FILE', 'ATTEMPT', 'GENERATION', 'SESSION', 'TASK_ID']
const named = (names: readonly string[], ...more: string[]) =>
  [...names.map((name) => `BATON_${name}`), ...more, 'HOME', 'LC_ALL', 'PATH'].sort()

/** The environment a process was started with, from the system. */
const listIn = (pid: number, file: 'environ' | 'cmdline') =>
  readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0').filter(Boolean)
const environmentOf = (pid: number) =>
  Object.fromEntries(
    listIn(pid, 'environ').map((entry) => {
      const [name, ...value] = entry.split('=')
      return [name!, value.join('=')]
    }),
  )

describe('the environment of an agent', () => {
  const tells = `console.log('up'); setInterval(() => {}, 60_000)`

  test('has what was configured, what every program needs, and nothing else of the server', async () => {
    const w = await fleet()
    await w.script('dev', tells, { env: { OWN: 'mine' } })
    const task = await w.assign('dev')
    const run = await w.saying('dev', 'up')
    const env = environmentOf(run.pid)
    expect(Object.keys(env).sort()).toEqual(
      named([...OF_EVERY_RUN, ...OF_A_TASK, 'PROMPT_FILE'], 'OWN').sort(),
    )
    expect(env).toMatchObject({
      ...{ OWN: 'mine', LC_ALL: 'C.UTF-8', BATON_AGENT: 'dev', BATON_RUN_ID: run.id },
      ...{ BATON_TASK_ID: task.id, BATON_GENERATION: '1', BATON_ATTEMPT: '1', BATON_SESSION: 'agent:dev' },
    })
    expect(env.BATON_API_KEY).toMatch(/^brun_/)
    // With these it can call Baton.
    const asAgent = callsTo(`${env.BATON_URL}/api/v1`, env.BATON_API_KEY!)
    expect((await asAgent('GET', `/tasks/${env.BATON_TASK_ID}`)).body).toMatchObject({ id: task.id })
    await w.post('/agents/dev/pause', { graceful: false })
    await w.over('dev')
  })

  test('of a run without a task leaves the task’s names out', async () => {
    const w = await fleet()
    await w.script('dev', tells)
    await w.wake('dev')
    const { id, pid } = await w.saying('dev', 'up')
    expect(Object.keys(environmentOf(pid)).sort()).toEqual(named([...OF_EVERY_RUN, 'PROMPT_FILE']))
    await w.post(`/runs/${id}/cancel`)
  })

  test.each([
    ['claude', 'ANTHROPIC_API_KEY'],
    ['codex', 'OPENAI_API_KEY'],
  ] as const)(
    '%s has the key of its own kind only, and no secret or prompt in its arguments',
    async (program, key) => {
      const w = await fleet()
      const { calls, home } = await w[program]('dev', 'hang', { env: { TOKEN: 'tok_very_secret' } })
      await w.assign('dev', { title: 'The words of the prompt', input: { also: 'the words of the input' } })
      await eventually(async () => calls().length > 0)
      const [call] = calls()
      const env = environmentOf(call!.pid)
      expect(Object.keys(env).sort()).toEqual(
        named([...OF_EVERY_RUN, ...OF_A_TASK], 'FAKE_CLI', 'FAKE_CLI_HOME', 'TOKEN', key),
      )
      expect(env).toMatchObject({ [key]: planted[key], TOKEN: 'tok_very_secret', FAKE_CLI_HOME: home })
      expect(call!.prompt).toContain('The words of the prompt')
      expect(call!.prompt).toContain('the words of the input')
      const argv = listIn(call!.pid, 'cmdline').join(' ')
      for (const word of ['The words', 'the words', planted[key], 'tok_very_secret', env.BATON_API_KEY!])
        expect(argv).not.toContain(word)
      await w.post('/agents/dev/pause', { graceful: false })
      await w.over('dev')
    },
  )
})

describe.skipIf(!isGitHere)('an agent with a worktree', () => {
  const works = (more: string) => `
    import { execFileSync } from 'node:child_process'
    import { writeFileSync } from 'node:fs'
    const git = (...args) => execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.org', ...args])
    const generation = process.env.BATON_GENERATION
    ${more}`
  const COMMITS = `
    writeFileSync('made.txt', 'by ' + generation + '\\n')
    git('add', '.')
    git('commit', '--quiet', '-m', 'made')`

  async function withRepository(w: Fleet, source: string, config = {}) {
    const repository = makeRepository(join(await w.freshHome(), 'repo'))
    const settings = { config: { cwd: repository, workspace: 'git_worktree', ...config } }
    await w.script('dev', works(source), settings)
    return repository
  }

  test('works on a branch of its task and generation, and its run shows what it committed', async () => {
    const w = await fleet()
    const repository = await withRepository(w, COMMITS)
    const base = git(repository, 'rev-parse', 'main')
    const task = await w.assign('dev')
    const [run] = await w.over('dev')
    const branch = `baton/${task.id}/gen-1`
    expect(run.folder).toMatchObject({
      worktree: { branch, baseCommit: base },
      saved: { commit: git(repository, 'rev-parse', branch), committedFiles: 0 },
      work: { whole: { filesChanged: 1, insertions: 1, deletions: 0, commits: 1 } },
      cleaned: { isRemoved: true, isBranchDeleted: false },
    })
    expect(run.folder.path).not.toContain(repository)
    expect(git(repository, 'show', `${branch}:made.txt`)).toBe('by 1')
    // The people's own checkout is unchanged.
    expect(git(repository, 'status', '--porcelain')).toBe('')
    expect(git(repository, 'rev-parse', 'main')).toBe(base)
    expect(existsSync(run.folder.path)).toBe(false)
    await w.taskIn(task, 'completed')
    await w.on(task, 'reset')
    const [, second] = await w.over('dev', 2)
    const next = `baton/${task.id}/gen-2`
    expect(second.folder.worktree).toMatchObject({ branch: next, baseCommit: base })
    expect(git(repository, 'show', `${next}:made.txt`)).toBe('by 2')
    expect(git(repository, 'show', `${branch}:made.txt`)).toBe('by 1')
  })

  test('keeps what it did not commit, however it ended, and its next generation sees it', async () => {
    const w = await fleet()
    const repository = await withRepository(
      w,
      `
      import { existsSync } from 'node:fs'
      console.log(JSON.stringify({ result: { sawIt: existsSync('draft.txt') } }))
      writeFileSync('draft.txt', 'generation ' + generation)
      process.exitCode = generation === '1' ? 1 : 0`,
    )
    const task = await w.assign('dev')
    const [first] = await w.over('dev')
    expect(first).toMatchObject({
      status: 'failed',
      folder: {
        saved: { committedFiles: 1, leftOutCount: 0 },
        work: { whole: { commits: 1, filesChanged: 1 } },
      },
    })
    await w.on(task, 'retry')
    const [, second] = await w.over('dev', 2)
    expect(second).toMatchObject({
      status: 'succeeded',
      generation: 2,
      folder: { path: first.folder.path, cleaned: { isRemoved: true } },
    })
    expect((await w.resultsOf(task)).at(-1).result).toEqual({ sawIt: true })
    for (const generation of [1, 2])
      expect(git(repository, 'show', `baton/${task.id}/gen-${generation}:draft.txt`)).toBe(
        `generation ${generation}`,
      )
    expect(git(repository, 'branch', '--list', 'baton/*').split('\n')).toHaveLength(2)
  })

  test('continues in the same folder when its task is continued', async () => {
    const w = await fleet()
    await withRepository(
      w,
      `
      import { existsSync } from 'node:fs'
      const isSecond = existsSync('half.txt')
      writeFileSync('half.txt', 'x')
      console.log(JSON.stringify(isSecond ? { result: 'whole' } : { continue: true }))`,
    )
    const task = await w.assign('dev')
    await w.taskIn(task, 'completed')
    const [first, second] = await w.over('dev', 2)
    expect(second.folder.path).toBe(first.folder.path)
    expect(first.folder.cleaned).toBeUndefined()
    expect((await w.resultsOf(task))[0].result).toBe('whole')
  })

  test('without a repository is refused before anything is started', async () => {
    const w = await fleet()
    await w.script('dev', works(COMMITS), {
      config: { cwd: folder(), workspace: 'git_worktree' },
    })
    await w.assign('dev')
    const [run] = await w.over('dev')
    expect(run).toMatchObject({ errorCode: 'invalid_working_directory', pid: null })
    expect(run.errorMessage).toContain('git repository')
  })
})

test('what an agent submits itself has none of its secrets in it', async () => {
  const w = await fleet()
  await w.script(
    'dev',
    `const { BATON_URL, BATON_API_KEY, BATON_TASK_ID, BATON_GENERATION, BATON_SESSION, OWN_KEY } = process.env
    const fence = { generation: Number(BATON_GENERATION), session: BATON_SESSION }
    const say = (act, body) => fetch(BATON_URL + '/api/v1/tasks/' + BATON_TASK_ID + '/' + act, {
      method: 'POST',
      headers: { authorization: 'Bearer ' + BATON_API_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ ...fence, ...body }),
    })
    await say('progress', { step: 'with ' + OWN_KEY })
    await say('submit', { result: { key: OWN_KEY, mine: BATON_API_KEY }, summary: 'used ' + OWN_KEY })`,
    { env: { OWN_KEY: 'hunter2-hunter2' } },
  )
  const task = await w.assign('dev')
  await w.over('dev')
  const { body } = await w.call('GET', `/tasks/${task.id}/results`)
  expect(body.items).toMatchObject([
    { result: { key: '[redacted]', mine: '[redacted]' }, summary: 'used [redacted]' },
  ])
  expect((await w.read(task)).progress).toMatchObject({ step: 'with [redacted]' })
})

describe('a secret', () => {
  const processes = useProcesses()
  let homes: string
  beforeAll(async () => {
    homes = await mkdtemp(join(tmpdir(), 'baton-secrets-'))
  })
  afterAll(() => rm(homes, { recursive: true, force: true }))

  const PLAIN = 'tok_4f9d8c7b6a5e3d2c'
  const AWKWARD = 'pa"ss/w\\ord+grün&9c1f'
  const KEY = '-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcwggSjAgEAAoIB\n-----END KEY-----'
  const env = { PLAIN, AWKWARD, KEY }

  /** Everywhere a program could put one. */
  const leaks = `
    import { writeFileSync } from 'node:fs'
    const { PLAIN, AWKWARD, KEY, BATON_API_KEY } = process.env
    const all = [PLAIN, AWKWARD, KEY, BATON_API_KEY]
    writeFileSync('token', BATON_API_KEY)
    const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
    const out = (text, to = process.stdout) => new Promise((resolve) => to.write(text, resolve))
    const say = (line) => out(JSON.stringify(line) + '\\n')
    // In two writes, far enough apart to be two chunks; and byte by byte.
    for (const secret of all) {
      const half = Math.floor(secret.length / 2)
      await out('halves ' + secret.slice(0, half))
      await pause(60)
      await out(secret.slice(half) + '\\n')
      for (const byte of Buffer.from(secret)) { await out(Buffer.from([byte]), process.stderr); await new Promise(setImmediate) }
      await out('\\n', process.stderr)
    }
    for (const secret of all) {
      await out('in base64 ' + Buffer.from(secret).toString('base64') + ' and ' + Buffer.from('user:' + secret).toString('base64') + '\\n')
      await out('in an address ?key=' + encodeURIComponent(secret) + '\\n')
      await out('in JSON in JSON ' + JSON.stringify(JSON.stringify({ secret })) + '\\n')
      await say({ baton: 'status', message: 'with ' + secret, color: 'blue' })
      await say({ baton: 'progress', percent: 10, step: 'with ' + secret })
      await say({ baton: 'checkpoint', data: { [secret]: [secret], deep: { er: 'x' + secret + 'x' } } })
      await say({ baton: 'call', signature: 'curl ' + secret, isError: true })
      await say({ baton: secret, data: secret })
      await say({ baton: 'session', sessionId: 'of ' + secret })
    }
    const last = { result: { all, ['named ' + PLAIN]: 1 }, summary: 'made with ' + all.join(', ') }`

  test('appears nowhere: not in logs, rows, events, frames, results, or the server’s output', async () => {
    const server = await processes.serve({
      BATON_LOG_LEVEL: 'trace',
      HOME: homes,
      ANTHROPIC_API_KEY: 'sk-ant-of-the-server',
    })
    const api = `${server.url}/api/v1`
    const w = await openFleet({ call: callsTo(api, processes.ownerKey()) }, homes)
    const board = await listen(api, w.ownerKey, '?output=all')
    const agents = [
      await w.script('succeeds', `${leaks}; await say(last)`, {
        env,
        runtimeConfig: { watch: { errors: 3 } },
      }),
      await w.script('fails', `${leaks}; await say(last); throw new Error('with ' + all.join(' '))`, { env }),
      await w.script('goes-on', `${leaks}; await say({ ...last, continue: true })`, {
        env,
      }),
      await w.claude('claude', '', {
        env: { ...env, FAKE_CLI_SAYS: `I was told ${PLAIN} and sk-ant-of-the-server` },
      }),
    ]
    const tasks = await Promise.all(agents.map(({ slug }) => w.assign(slug)))
    const runs: Seen[] = []
    for (const { slug } of agents) runs.push((await w.over(slug))[0])
    for (const { slug } of agents) await w.post(`/agents/${slug}/pause`)
    expect(runs.map(({ status }) => status)).toEqual(['succeeded', 'failed', 'succeeded', 'succeeded'])
    for (const { id } of runs) await board.hears('run_finished', { runId: id })
    await board.hears('run_flagged', { agent: 'succeeds' })
    await board.leave()

    const tokens = agents.slice(0, 3).map(({ home }) => readFileSync(join(home, 'token'), 'utf8'))
    for (const token of tokens) expect(token).toMatch(/^brun_.{40}/)
    const secrets = [PLAIN, AWKWARD, 'MIIEvQIBADANBgkqhkiG9w0B', 'sk-ant-of-the-server', ...tokens]
    const inside = (text: string) => secrets.flatMap(formsOf).filter((form) => text.includes(form))
    // The search finds them where they are: in the settings, which the server needs to start agents.
    const tables = await rowsOfAllTables()
    expect(inside(tables.get('agents')!)).toContain(PLAIN)
    for (const [table, text] of tables)
      if (table !== 'agents') expect([table, inside(text)]).toEqual([table, []])

    const seen: unknown[] = [board.events, board.outputs]
    for (const { id } of runs)
      for (const stream of ['stdout', 'stderr', 'system']) seen.push(board.text(id, stream))
    for (const { id } of runs)
      seen.push(await w.run(id), await w.log(id, '?limitBytes=4000000'), await w.timeline(id))
    for (const { id } of runs) seen.push((await w.call('GET', `/runs/${id}/invocation`)).body)
    for (const task of tasks)
      seen.push(await w.read(task), await w.resultsOf(task), await w.read(task, '/logs'))
    for (const { slug } of agents)
      for (const path of ['', '/wakeups', '/runtime-state', '/task-sessions', '/prompt-preview'])
        seen.push((await w.call('GET', `/agents/${slug}${path}`)).body)
    for (const one of seen) expect(inside(typeof one === 'string' ? one : JSON.stringify(one))).toEqual([])
    expect(inside(server.stdout() + server.stderr())).toEqual([])
    expect(server.stderr()).toContain('a run ended')
    // All of it was there: redacted, and the rest unchanged.
    const { content } = await w.log(runs[0].id, '?limitBytes=4000000')
    expect(content.match(/halves \[redacted\]\n/g)).toHaveLength(4)
    expect(content.match(/\[redacted\]/g).length).toBeGreaterThan(40)
    expect(runs[1].errorMessage).toContain('[redacted]')
    expect((await w.resultsOf(tasks[0]))[0].result.all).toEqual(Array(4).fill('[redacted]'))
  }, 120_000)

  /** The secret, the ways it is written, and any part of it that would be too much. */
  function formsOf(secret: string): string[] {
    const base64 = Buffer.from(secret).toString('base64').replace(/=+$/, '')
    const pieces = Array.from({ length: secret.length - 9 }, (_, i) => secret.slice(i, i + 10))
    return [...pieces, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), base64.slice(0, -2)]
  }

  /** Every row of the database as text. */
  async function rowsOfAllTables(): Promise<Map<string, string>> {
    const tables = await processes.rows<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'baton'`,
    )
    const texts = new Map<string, string>()
    for (const { name } of tables) {
      const rows = await processes.rows<{ text: string }>(`select to_jsonb(t)::text as text from "${name}" t`)
      texts.set(name, rows.map(({ text }) => text).join('\n'))
    }
    return texts
  }
})
