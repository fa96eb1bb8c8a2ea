import { createHash, randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { scriptOf } from '../../support/clis/runs.ts'
import { expectRefusal, type Json } from '../../support/http-workspace.ts'
import { superuser } from '../../support/nodes.ts'
import { callsIn, type Fleet, type Seen, useFleets } from '../../support/runs.ts'
import { tablesWith } from '../../support/seed.ts'

/** Agent settings: invalid ones are refused when they are set, and nothing is started. */

const { served, folder, fleet } = useFleets()
const PROCESS = { command: process.execPath, args: [] as string[] }

const put = (w: Fleet, body: Json, slug = 'dev') => w.call('PUT', `/agents/${slug}`, body)

describe('settings are refused in one sentence that names them', () => {
  const process_ = (more: Json) => ({ adapterType: 'process', adapterConfig: { ...PROCESS, ...more } })
  const claude = (more: Json) => ({ adapterType: 'claude_local', adapterConfig: more })
  const runtime = (runtimeConfig: Json) => ({ ...process_({}), runtimeConfig })
  const heartbeats = (heartbeat: Json) => runtime({ heartbeat })

  test.each<[what: string, body: Json, field: string, message: string | RegExp]>([
    [
      'an unknown adapter',
      { adapterType: 'magic' },
      'adapterType',
      /^is unknown; known types are external, claude_local, .*simulated$/,
    ],
    ['no command', { adapterType: 'process' }, 'adapterConfig', 'command is missing.'],
    [
      'a setting of another adapter',
      process_({ url: 'http://127.0.0.1' }),
      'adapterConfig',
      'url is not a setting of process.',
    ],
    [
      'an argument list for a typed adapter',
      claude({ args: ['-x'] }),
      'adapterConfig',
      'args is not a setting of claude_local.',
    ],
    ['a number for a text', process_({ cwd: 7 }), 'adapterConfig', 'cwd must be a string.'],
    ['no time at all', process_({ timeoutSec: 0 }), 'adapterConfig', 'timeoutSec must not be less than 1.'],
    ['a grace of years', process_({ graceSec: 1e6 }), 'adapterConfig', 'graceSec must not be more than 600.'],
    [
      'a variable of Baton’s own',
      process_({ env: { BATON_API_KEY: 'mine' } }),
      'adapterConfig',
      /^env.BATON_API_KEY cannot be set/,
    ],
    [
      'a variable that is none',
      process_({ env: { 'A=B': 'x' } }),
      'adapterConfig',
      /^env.A=B is not a valid variable name/,
    ],
    [
      'a command that is a flag',
      process_({ command: '--eval' }),
      'adapterConfig',
      'command must not begin with a dash.',
    ],
    [
      'a branch that is a flag',
      process_({ baseBranch: '--upload-pack=x' }),
      'adapterConfig',
      'baseBranch must not begin with a dash.',
    ],
    [
      'a model that is a flag',
      claude({ model: '--dangerously-skip-permissions' }),
      'adapterConfig',
      'model is not a valid model name.',
    ],
    [
      'a model that is a script',
      claude({ model: 'opus; touch x' }),
      'adapterConfig',
      'model is not a valid model name.',
    ],
    [
      'a model over two lines',
      claude({ model: 'opus\n--verbose' }),
      'adapterConfig',
      'model is not a valid model name.',
    ],
    [
      'an argument that is the adapter’s own',
      claude({ extraArgs: ['--output-format=text'] }),
      'adapterConfig',
      /^extraArgs\[0\] contains --output-format=text, which the adapter sets itself/,
    ],
    [
      'the address of a metadata service',
      { adapterType: 'http', adapterConfig: { url: 'http://169.254.169.254/latest/' } },
      'adapterConfig',
      'url must not be a link-local address or a metadata service.',
    ],
    [
      'an address that is none',
      { adapterType: 'http', adapterConfig: { url: 'file:///etc/passwd' } },
      'adapterConfig',
      /^url must be a complete http or https URL/,
    ],
    [
      'a header over two lines',
      { adapterType: 'http', adapterConfig: { url: 'http://127.0.0.1', headers: { 'X-A': 'a\r\nX-B: b' } } },
      'adapterConfig',
      /^headers.X-A has characters that are not allowed in a header/,
    ],
    [
      'a step that is none',
      { adapterType: 'simulated', adapterConfig: { steps: [{ dance: true }] } },
      'adapterConfig',
      /^steps\[0\]/,
    ],
    [
      'a typo in the template',
      process_({ promptTemplate: 'Do it.\nNow: {{task.titel}}' }),
      'adapterConfig.promptTemplate',
      'line 2, column 6: there is no variable "task.titel"; did you mean task.title?',
    ],
    [
      'a tag that is not closed',
      process_({ promptTemplate: 'Do {{task.title' }),
      'adapterConfig.promptTemplate',
      /^line 1, column 4: \{\{ is not closed/,
    ],
    [
      'a section that is not closed',
      process_({ promptTemplate: '{{#task.id}}x' }),
      'adapterConfig.promptTemplate',
      /^line 1, column 1: \{\{#task.id\}\} is not closed/,
    ],
    [
      'an interval of less than nothing',
      heartbeats({ intervalSec: -5 }),
      'runtimeConfig',
      'heartbeat.intervalSec must not be less than 1.',
    ],
    [
      'an interval that is a word',
      heartbeats({ intervalSec: 'soon' }),
      'runtimeConfig',
      'heartbeat.intervalSec must be a number.',
    ],
    [
      'half a second',
      heartbeats({ intervalSec: 0.5 }),
      'runtimeConfig',
      /^heartbeat.intervalSec must be a whole number/,
    ],
    [
      'a wake that is none',
      heartbeats({ wakeOnMoon: true }),
      'runtimeConfig',
      'heartbeat.wakeOnMoon is not a setting of runtimeConfig.',
    ],
    [
      'a pause of less than nothing',
      heartbeats({ cooldownSec: -1 }),
      'runtimeConfig',
      'heartbeat.cooldownSec must not be less than 0.',
    ],
    [
      'no wakeups at all',
      heartbeats({ maxWakeupsPerTaskPerHour: 0 }),
      'runtimeConfig',
      'heartbeat.maxWakeupsPerTaskPerHour must not be less than 1.',
    ],
    [
      'yes for true',
      heartbeats({ enabled: 'yes' }),
      'runtimeConfig',
      'heartbeat.enabled must be true or false.',
    ],
    ['a list for a heartbeat', runtime({ heartbeat: [] }), 'runtimeConfig', 'heartbeat must be an object.'],
    [
      'a loop of one call',
      runtime({ watch: { sameCalls: 1 } }),
      'runtimeConfig',
      'watch.sameCalls must be 0 (off) or at least 2.',
    ],
    [
      'a stop before the flag',
      runtime({ watch: { silentSec: 60, stopSilentSec: 30 } }),
      'runtimeConfig',
      'watch.stopSilentSec must not be shorter than silentSec.',
    ],
    [
      'a rule that is none',
      runtime({ watch: { boredSec: 1 } }),
      'runtimeConfig',
      'watch.boredSec is not a setting of runtimeConfig.',
    ],
    ['a node without a name', runtime({ node: '' }), 'runtimeConfig', 'node must not be shorter than 1.'],
  ])('%s', async (_what, body, field, message) => {
    const w = await fleet()
    const answer = await put(w, body)
    expectRefusal(answer, 400, 'VALIDATION_FAILED')
    const expected = typeof message === 'string' ? message : expect.stringMatching(message)
    expect(answer.body.errors[0]).toMatchObject({ field, message: expected })
    expect(answer.body.detail.startsWith(`${field}: `), answer.body.detail).toBe(true)
    expect((await w.call('GET', '/agents/dev')).status, 'no agent was registered').toBe(404)
  })

  test('all of them at once, each by name, with line and column where there are lines', async () => {
    const w = await fleet()
    const { body } = await put(w, {
      ...process_({ url: 'x', timeoutSec: 'long', promptTemplate: '{{a.b}}\n{{c.d}}' }),
      runtimeConfig: { heartbeat: { intervalSec: 0 } },
    })
    expect(body.errors).toMatchObject([
      { field: 'adapterConfig', message: expect.stringContaining('timeoutSec') },
      { field: 'adapterConfig', message: expect.stringContaining('url') },
      { field: 'adapterConfig.promptTemplate', line: 1, column: 1, position: 0 },
      { field: 'adapterConfig.promptTemplate', line: 2, column: 1, position: 8 },
      { field: 'runtimeConfig' },
    ])
  })

  test('when they arrive one after the other, too: a setting that conflicts with stored ones is refused', async () => {
    const w = await fleet()
    expect((await put(w, process_({ cwd: folder() }))).status).toBe(201)
    for (const body of [
      { adapterType: 'http' },
      { adapterType: 'nobody' },
      { adapterConfig: { url: 'http://127.0.0.1' } },
      { adapterConfig: null },
      { runtimeConfig: { heartbeat: { intervalSec: -1 } } },
    ])
      expectRefusal(await put(w, body), 400, 'VALIDATION_FAILED')
    expect(await w.agent('dev')).toMatchObject({ adapterType: 'process', version: 1, runtimeConfig: null })
    const moved = { adapterType: 'http', adapterConfig: { url: 'http://127.0.0.1' } }
    expect((await put(w, moved)).body).toMatchObject({ ...moved, version: 2 })
  })

  test('agents that run elsewhere may have any, without errors', async () => {
    const w = await fleet()
    const odd = { promptTemplate: 5, env: 'a text', headers: ['x'], steps: { a: 1 } }
    const { body } = await put(w, { adapterType: 'external', adapterConfig: odd })
    expect(body.adapterConfig).toEqual({ ...odd, env: '********', headers: '********' })
    expect((await w.call('GET', '/agents/dev/prompt-preview')).status).toBe(200)
    expect((await w.post('/agents/dev/test')).body).toMatchObject({ ok: true })
    await put(w, { adapterConfig: { promptTemplate: '{{nonsense' } })
    expectRefusal(await w.call('GET', '/agents/dev/prompt-preview'), 400, 'VALIDATION_FAILED', {
      errors: [expect.objectContaining({ field: 'adapterConfig.promptTemplate', line: 1, column: 1 })],
    })
  })
})

describe('no shell ever interprets a value', () => {
  const evil = (file: string) =>
    `$(touch ${file}) \`touch ${file}\`; touch ${file} | touch ${file} && touch ${file}\n--version\n-rf`

  test('text of a task, a wakeup or the settings reaches the program unchanged', async () => {
    const w = await fleet()
    const canary = join(folder(), 'canary')
    const words = evil(canary)
    const { home } = await w.script(
      'dev',
      `import { writeFileSync } from 'node:fs'
       let prompt = ''
       for await (const chunk of process.stdin.setEncoding('utf8')) prompt += chunk
       writeFileSync('told.json', JSON.stringify({ prompt, args: process.argv.slice(1), env: process.env.WORDS }))`,
      { env: { WORDS: words }, config: { promptTemplate: '{{task.title}}\n{{task.description}}' } },
    )
    const { adapterConfig } = await w.agent('dev')
    const args = [...adapterConfig.args, '--', words, '-x', '$HOME']
    await put(w, { adapterConfig: { ...adapterConfig, args, env: { WORDS: words } } })
    const title = words.replaceAll('\n', ' ')
    await w.assign('dev', { title, description: words })
    const [{ status, errorMessage }] = await w.over('dev')
    expect([status, errorMessage]).toEqual(['succeeded', null])
    expect(readdirSync(home)).toEqual(['told.json'])
    const reported = JSON.parse(readFileSync(join(home, 'told.json'), 'utf8'))
    expect(reported).toEqual({ prompt: `${title}\n${words}`, args: [words, '-x', '$HOME'], env: words })
    expect(existsSync(canary)).toBe(false)
  })

  test('a prompt that looks like a flag is no flag of the agent’s program', async () => {
    const w = await fleet()
    const canary = join(folder(), 'second-canary')
    const { home } = await w.claude('dev', '', {
      config: { promptTemplate: '{{task.title}}', model: 'opus[1m]' },
    })
    const title = `--dangerously-skip-permissions $(touch ${canary})`
    await w.assign('dev', { title })
    await w.over('dev')
    const [call] = callsIn(home)
    expect(call!.prompt.trim()).toBe(title)
    expect(call!.args.filter((arg) => arg.includes('touch') || arg.startsWith('--dangerously'))).toEqual([])
    expect(existsSync(canary)).toBe(false)
  })

  test.each([
    ['a command with arguments in it', `${process.execPath} --version`],
    ['a command with another behind it', 'true; touch canary'],
    ['a command to be filled in', '$(echo node)'],
  ])('%s is the name of a program that does not exist', async (_what, command) => {
    const w = await fleet()
    const home = await w.freshHome()
    await w.put('dev', { adapterType: 'process', adapterConfig: { command, cwd: home } })
    await w.wake('dev')
    const [{ status, errorCode, pid }] = await w.over('dev')
    expect([status, errorCode, pid]).toEqual(['failed', 'adapter_not_installed', null])
    expect(readdirSync(home)).toEqual([])
    expect(await w.isIn('dev', 'error')).toMatchObject({
      stateReason: expect.stringContaining('adapter_not_installed'),
    })
  })

  test('a folder with a placeholder is a folder that does not exist', async () => {
    const w = await fleet()
    await w.put('dev', { adapterType: 'process', adapterConfig: { ...PROCESS, cwd: `$(echo ${folder()})` } })
    await w.wake('dev')
    expect((await w.over('dev'))[0]).toMatchObject({
      errorCode: 'invalid_working_directory',
      pid: null,
      log: null,
    })
  })

  test.each(['-rf', '--help', '$(id)', '`id`', 'a b', 'a\nb', '..', '.hidden', ''])(
    'the agent %j cannot be registered',
    async (slug) => {
      const w = await fleet()
      const answer = await w.call('PUT', `/agents/${encodeURIComponent(slug)}`, {
        adapterType: 'process',
        adapterConfig: PROCESS,
      })
      expect([400, 404]).toContain(answer.status)
      expect((await w.call('GET', '/agents')).body.items).toEqual([])
    },
  )
})

describe('secrets in settings', () => {
  const hashed = (text: string) => createHash('sha256').update(text).digest('hex')
  const tells = `
    import { createHash, randomUUID } from 'node:crypto'
    const told = Object.keys(process.env).filter((name) => name.startsWith('SECRET')).sort()
      .map((name) => name + ' ' + createHash('sha256').update(process.env[name]).digest('hex'))
    console.log(JSON.stringify({ result: told }))`
  const SECRET = 'hunter2-hunter2-hunter2'
  async function secretsSeen(w: Fleet, runs: number): Promise<string[]> {
    await w.wake('dev')
    return (await w.over('dev', runs)).at(-1).result
  }

  test('are shown masked; a mask keeps the value, a new value replaces it, an omitted one is deleted', async () => {
    const w = await fleet()
    await w.script('dev', tells, {
      env: { SECRET_A: SECRET, SECRET_B: 'second-secret' },
      coordinatorEnabled: false,
    })
    const shown = async (): Promise<Seen> => (await w.agent('dev')).adapterConfig
    expect((await shown()).env).toEqual({ SECRET_A: '********', SECRET_B: '********' })
    expect(await secretsSeen(w, 1)).toEqual([
      `SECRET_A ${hashed(SECRET)}`,
      `SECRET_B ${hashed('second-secret')}`,
    ])
    expect((await put(w, { adapterConfig: await shown() })).status).toBe(200)
    expect(await secretsSeen(w, 2)).toEqual([
      `SECRET_A ${hashed(SECRET)}`,
      `SECRET_B ${hashed('second-secret')}`,
    ])
    const changed = { ...(await shown()), env: { SECRET_A: SECRET, SECRET_C: 'third-secret' } }
    expect((await put(w, { adapterConfig: changed })).status).toBe(200)
    expect(await secretsSeen(w, 3)).toEqual([
      `SECRET_A ${hashed(SECRET)}`,
      `SECRET_C ${hashed('third-secret')}`,
    ])
    const { env: _env, ...without } = await shown()
    expect((await put(w, { adapterConfig: without })).status).toBe(200)
    expect(await secretsSeen(w, 4)).toEqual([])
  })

  test('never become masks: a mask without a stored value is refused', async () => {
    const w = await fleet()
    const masked = { adapterType: 'process', adapterConfig: { ...PROCESS, env: { SECRET_A: '********' } } }
    expectRefusal(await put(w, masked), 400, 'VALIDATION_FAILED')
    expect((await w.call('GET', '/agents')).body.items).toEqual([])
  })

  test('are in the settings and nowhere else: no answer, no event, no other table', async () => {
    const w = await fleet()
    const secret = `only-here-${randomUUID()}`
    await w.script(
      'dev',
      `console.log(process.env.SECRET); console.error(process.env.SECRET); console.log(JSON.stringify({ result: process.env.SECRET, summary: process.env.SECRET }))`,
      { env: { SECRET: secret } },
    )
    await w.assign('dev')
    const [run] = await w.over('dev')
    expect(run.status).toBe('succeeded')
    await put(w, { name: 'renamed' })
    const answers = []
    for (const path of [
      '/agents',
      '/agents/dev',
      '/runs',
      `/runs/${run.id}/events`,
      `/runs/${run.id}/log`,
      '/events?limit=200',
      '/agents/dev/prompt-preview',
      '/agents/dev/runtime-state',
      '/agents/dev/task-sessions',
      '/coordinator/logs',
    ])
      answers.push((await w.call('GET', path)).body)
    answers.push((await w.post('/agents/dev/test')).body)
    expect(JSON.stringify(answers)).not.toContain(secret)
    expect(await tablesWith(served().databaseUrl, secret)).toEqual(['agents'])
  })
})

test('a preview of the prompt shows the text, but never the key', async () => {
  const w = await fleet()
  await w.script('dev', '', {
    config: {
      promptTemplate:
        '{{agent.name}} does {{task.title}} with {{credentials.apiKey}} at {{credentials.apiBaseUrl}}',
    },
  })
  const { body } = await w.call('GET', '/agents/dev/prompt-preview')
  expect(body).toEqual({
    agent: 'dev',
    prompt: `dev does Fix login with [credentials.apiKey] at ${served().url}`,
    sensitive: ['credentials.apiKey'],
  })
  await w.script('plain', '')
  const plain = (await w.call('GET', '/agents/plain/prompt-preview')).body
  expect([plain.prompt.includes('# Your task'), plain.sensitive]).toEqual([true, []])
  expect(await w.runsOf('dev'), 'no agent was woken for that').toEqual([])
})

describe('the probe reports check by check whether an agent could run, with a hint for each failure', () => {
  const tried = async (w: Fleet, adapterType: string, adapterConfig: Json): Promise<Seen> => {
    await w.put('dev', { adapterType, adapterConfig })
    const { status, body } = await w.post('/agents/dev/test')
    expect([status, body.agent]).toEqual([200, 'dev'])
    for (const { name, ok, detail, hint } of body.checks)
      expect([typeof name, typeof detail, typeof hint], detail).toEqual([
        'string',
        'string',
        ok ? expect.anything() : 'string',
      ])
    return body
  }
  const failing = ({ ok, checks }: Seen) => [
    ok,
    ...checks.filter((one: Seen) => !one.ok).map(({ name }: Seen) => name),
  ]
  const check = ({ checks }: Seen, name: string) => checks.find((one: Seen) => one.name === name)

  test('all checks pass', async () => {
    const w = await fleet()
    const cwd = await w.freshHome()
    const claude = await tried(w, 'claude_local', {
      command: scriptOf('claude'),
      cwd,
      env: { ANTHROPIC_API_KEY: 'sk-x', FAKE_CLI_HOME: cwd },
    })
    expect(failing(claude), JSON.stringify(claude)).toEqual([true])
    expect(claude.checks.map(({ name }: Seen) => name)).toEqual(
      expect.arrayContaining(['settings', 'template', 'folder', 'program', 'login']),
    )
    expect(failing(await tried(w, 'process', { command: 'node', cwd }))).toEqual([true])
    expect(failing(await tried(w, 'process', PROCESS)), 'in a folder of its own').toEqual([true])
    expect(failing(await tried(w, 'simulated', { steps: [] }))).toEqual([true])
    expect(await w.runsOf('dev'), 'nothing was run').toEqual([])
  })

  test.each(['claude_local', 'codex_local', 'gemini_local', 'opencode_local', 'process'])(
    'the program of %s does not exist',
    async (adapterType) => {
      const w = await fleet()
      const missing = await tried(w, adapterType, { command: join(folder(), 'no-such-program') })
      expect(failing(missing)).toEqual([false, 'program'])
      expect(check(missing, 'program').detail).toContain('no-such-program')
      expect(failing(await tried(w, adapterType, { command: 'no-such-program-on-path' }))).toEqual([
        false,
        'program',
      ])
      writeFileSync(join(folder(), 'no-program'), 'text')
      expect(failing(await tried(w, adapterType, { command: join(folder(), 'no-program') }))).toEqual([
        false,
        'program',
      ])
    },
  )

  test('the folder is a file, does not exist, or is a broken link', async () => {
    const w = await fleet()
    const home = await w.freshHome()
    writeFileSync(join(home, 'file'), '')
    symlinkSync(join(home, 'loop'), join(home, 'loop'))
    for (const [cwd, detail] of [
      [join(home, 'file'), 'is a file, not a folder'],
      [join(home, 'file', 'inside'), 'is a file'],
      [join(home, 'nowhere'), 'does not exist'],
      [join(home, 'loop'), 'is a circular link'],
    ]) {
      const seen = await tried(w, 'process', { ...PROCESS, cwd })
      expect(failing(seen)).toEqual([false, 'folder'])
      expect(check(seen, 'folder').detail).toContain(detail)
    }
    const plain = await tried(w, 'process', { ...PROCESS, cwd: home, workspace: 'git_worktree' })
    expect(check(plain, 'folder').detail).toContain('not in a git repository')
  })

  test('a link beside the data points outside: the probe reports it, and the run is refused and nothing is spawned', async () => {
    const w = await fleet()
    const beside = join(served().dataFolder, '..')
    const name = `baton-link-${randomUUID()}`
    symlinkSync('/etc', join(beside, name))
    const seen = await tried(w, 'process', { ...PROCESS, cwd: name })
    expect(failing(seen)).toEqual([false, 'folder'])
    expect(check(seen, 'folder').detail).toContain('resolves to /etc, which is outside')
    await w.wake('dev')
    expect((await w.over('dev'))[0]).toMatchObject({ errorCode: 'invalid_working_directory', pid: null })
    rmSync(join(beside, name))
  })

  test('settings that were stored before validation existed are reported as such', async () => {
    const w = await fleet()
    await w.put('dev', { adapterType: 'process', adapterConfig: PROCESS })
    const { id } = await w.agent('dev')
    const store = (type: string, config: Json) =>
      superuser(served().databaseUrl, (client) =>
        client.query('update baton.agents set adapter_type = $2, adapter_config = $3 where agent_id = $1', [
          ...[id, type, JSON.stringify(config)],
        ]),
      )
    const probe = async (): Promise<Seen> => (await w.post('/agents/dev/test')).body
    await store('process', { url: 'http://127.0.0.1' })
    expect(failing(await probe())).toEqual([false, 'settings'])
    expect(check(await probe(), 'settings')).toMatchObject({
      detail: expect.stringContaining('url is not a setting of process'),
      hint: 'Correct what is named.',
      problems: expect.arrayContaining([
        { field: 'adapterConfig.url', message: 'is not a setting of process.' },
        { field: 'adapterConfig.command', message: 'is missing.' },
      ]),
    })
    await store('process', { ...PROCESS, promptTemplate: '{{task.titel}}' })
    expect(failing(await probe())).toEqual([false, 'template'])
    expect(check(await probe(), 'template').detail).toContain('task.titel')
    await store('gone', {})
    expect(failing(await probe())).toEqual([false, 'settings'])
    await w.wake('dev')
    expect((await w.over('dev'))[0]).toMatchObject({
      status: 'failed',
      errorCode: 'invalid_configuration',
      pid: null,
    })
  })
})
