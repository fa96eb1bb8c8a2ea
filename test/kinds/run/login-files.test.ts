import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { useFleets } from '../../support/runs.ts'
import { tablesWith } from '../../support/seed.ts'

/** What is secret in a run, and what is not: login files of programs, and variables with ordinary values. */

const { served, fleet } = useFleets()
const fresh = (what: string) => `${what}-${randomBytes(6).toString('hex')}`

/** A program that shows its login, renews it, and shows it again, everywhere. */
const SHOWS_LOGIN = `#!${process.execPath}
import { readFileSync, writeFileSync } from 'node:fs'
const { LOGIN_FILE, NEXT_LOGIN } = process.env
const say = (line) => new Promise((resolve) => process.stdout.write(JSON.stringify(line) + '\\n', resolve))
const tokens = () => Object.values(JSON.parse(readFileSync(LOGIN_FILE, 'utf8')).tokens)
const before = tokens()
await say({ type: 'thread.started', thread_id: 'thread-1' })
await say({ type: 'turn.started', said: before })
writeFileSync(LOGIN_FILE, readFileSync(NEXT_LOGIN))
const all = [...before, ...tokens()]
process.stderr.write('err ' + all.join(' ') + '\\n')
await say({ type: 'item.completed', item: { id: 'item_0', type: 'agent_message', text: 'said ' + all.join(' ') } })
await say({ type: 'turn.completed', usage: { input_tokens: 1, cached_input_tokens: 0, output_tokens: 1 } })
`

test('tokens in the login file of its program are redacted, also those it got during the run', async () => {
  const w = await fleet()
  const home = await w.freshHome()
  const [command, auth, next] = ['codex.mjs', '.codex/auth.json', 'next.json'].map((name) =>
    join(home, name),
  ) as [string, string, string]
  const [before, after] = [fresh('before'), fresh('after')]
  const login = (token: string) => JSON.stringify({ OPENAI_API_KEY: null, tokens: { access_token: token } })
  await mkdir(join(home, '.codex'))
  await writeFile(command, SHOWS_LOGIN, { mode: 0o755 })
  await writeFile(auth, login(before))
  await writeFile(next, login(after))
  await w.put('dev', {
    adapterType: 'codex_local',
    adapterConfig: { command, cwd: home, env: { HOME: home, LOGIN_FILE: auth, NEXT_LOGIN: next } },
    coordinatorEnabled: false,
  })
  await w.wake('dev')
  const [run] = await w.over('dev')
  expect([run.status, run.errorMessage]).toEqual(['succeeded', null])
  expect(run.result).toEqual({ text: 'said [redacted] [redacted]' })
  const { content } = await w.log(run.id)
  expect(content).toContain('err [redacted] [redacted]\n')
  expect(content.match(/\[redacted\]/g)).toHaveLength(5)
  for (const token of [before, after]) {
    expect(JSON.stringify([run, content, await w.timeline(run.id), await w.events()])).not.toContain(token)
    expect(await tablesWith(served().databaseUrl, token)).toEqual([])
  }
})

test('a program finds no token in the login file of another one that would be shown', async () => {
  const w = await fleet()
  const token = fresh('token')
  const home = await w.freshHome()
  await mkdir(join(home, '.claude'))
  await writeFile(
    join(home, '.claude', '.credentials.json'),
    JSON.stringify({ claudeAiOauth: { accessToken: token, subscriptionType: 'max' } }),
  )
  const source = `
    import { readFileSync } from 'node:fs'
    const { BATON_URL, BATON_API_KEY, BATON_TASK_ID, BATON_GENERATION, BATON_SESSION, HOME } = process.env
    const { accessToken } = JSON.parse(readFileSync(HOME + '/.claude/.credentials.json')).claudeAiOauth
    const response = await fetch(BATON_URL + '/api/v1/tasks/' + BATON_TASK_ID + '/progress', {
      method: 'POST',
      headers: { authorization: 'Bearer ' + BATON_API_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ generation: Number(BATON_GENERATION), session: BATON_SESSION, step: 'has ' + accessToken }),
    })
    console.log(response.status, accessToken)`
  await w.script('dev', source, { env: { HOME: home } })
  const task = await w.assign('dev')
  const [run] = await w.over('dev')
  expect((await w.log(run.id)).content).toBe('200 [redacted]\n')
  expect((await w.read(task)).progress).toMatchObject({ step: 'has [redacted]' })
  expect(await tablesWith(served().databaseUrl, token)).toEqual([])
})

test('an ordinary value of env is not redacted, unless secretEnv lists it', async () => {
  const w = await fleet()
  const source = `
    const { DEPLOY_TARGET, CODENAME, API_KEY, OPAQUE } = process.env
    console.log('config/' + DEPLOY_TARGET + '.yml', CODENAME, API_KEY, OPAQUE)`
  const env = {
    DEPLOY_TARGET: 'staging',
    CODENAME: 'blue-whale',
    API_KEY: 'open-sesame',
    OPAQUE: fresh('k7Qz'),
  }
  await w.script('dev', source, { env, config: { secretEnv: ['CODENAME'] }, coordinatorEnabled: false })
  // Shown or not in logs: the answers of the API show no value.
  expect((await w.agent('dev')).adapterConfig).toMatchObject({
    env: { DEPLOY_TARGET: '********', CODENAME: '********', API_KEY: '********', OPAQUE: '********' },
    secretEnv: ['CODENAME'],
  })
  await w.wake('dev')
  const [run] = await w.over('dev')
  expect((await w.log(run.id)).content).toBe('config/staging.yml [redacted] [redacted] [redacted]\n')
})
