import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { expectRefusal } from '../../support/http-workspace.ts'
import { superuser } from '../../support/nodes.ts'
import { type Fleet, type Seen, scripts, useFleets } from '../../support/runs.ts'

/** “What was it told?”: the prompt of a run, and how its agent was called. */

const { served, fleet } = useFleets({ ANTHROPIC_API_KEY: 'sk-ant-of-the-server' })

const SECRET = 'planted-Zx81kQ-secret'
const told = async (w: Fleet, id: string): Promise<Seen> =>
  (await w.call('GET', `/runs/${id}/invocation`)).body

/** All that Postgres has of it. */
const rowOf = (id: string): Promise<string> =>
  superuser(served().databaseUrl, async (client) => {
    const { rows } = await client.query('select i::text from baton.run_invocations i where run_id = $1', [id])
    return rows[0]?.i ?? ''
  })

describe('what a run was told', () => {
  test('is its prompt, its command line and the names of its variables, without secrets, as soon as it runs', async () => {
    const w = await fleet()
    await w.script('dev', scripts.stays, {
      env: { API_KEY: SECRET, REGION: 'north' },
      config: {
        args: [
          '--input-type=module',
          '--eval',
          scripts.stays,
          '--',
          '--password',
          'blue',
          `--with=${SECRET}`,
        ],
        promptTemplate: `Grüße 🙂: {{task.title}} with ${SECRET} as {{credentials.apiKey}}.`,
      },
    })
    await w.assign('dev', { title: 'Count the words' })
    const { id } = await w.saying('dev', 'up')
    const seen = await told(w, id)
    expect(seen).toMatchObject({
      ...{ runId: id, status: 'available', request: null, systemPrompt: null },
      prompt: {
        text: expect.stringContaining('Grüße 🙂: Count the words with [redacted] as [redacted].'),
        isCut: false,
      },
    })
    const { command, args, env, isCut } = seen.program
    expect([command, isCut]).toEqual([process.execPath, false])
    expect(args.slice(0, 2)).toEqual(['--input-type=module', '--eval'])
    expect(args.slice(3)).toEqual(['--', '--password', '[redacted]', '--with=[redacted]'])
    expect(env).toEqual(
      expect.arrayContaining(['API_KEY', 'BATON_API_KEY', 'BATON_PROMPT_FILE', 'PATH', 'REGION']),
    )
    for (const text of [JSON.stringify(seen), await rowOf(id)]) {
      expect(text).toContain('REGION')
      for (const secret of [SECRET, 'north', 'brun_', 'blue']) expect(text).not.toContain(secret)
    }
    await w.post(`/runs/${id}/cancel`)
    await w.over('dev')
    expect(await told(w, id)).toEqual(seen)
  })

  test('of a program for agents has the session and the flags in its arguments, and never the prompt', async () => {
    const w = await fleet()
    await w.claude('dev', '', { config: { promptTemplate: 'Only on stdin: {{task.title}}' } })
    await w.assign('dev', { title: 'Say it', systemPrompt: 'Answer in German.' })
    const [{ id, sessionIdAfter }] = await w.over('dev')
    const { prompt, systemPrompt, program } = await told(w, id)
    expect(prompt.text).toMatch(/^Only on stdin: Say it/)
    expect(systemPrompt).toMatchObject({ text: 'Answer in German.' })
    expect(program.args).toEqual(expect.arrayContaining(['--session-id', sessionIdAfter]))
    expect(program.args).toContain('--append-system-prompt=Answer in German.')
    expect(program.args.join(' ')).not.toContain('Only on stdin')
    expect(program.env).toContain('ANTHROPIC_API_KEY')
  })

  test('by HTTP is the address without the values of its query, the names of the headers, and the prompt', async () => {
    const w = await fleet()
    const server = createServer((_, response) => response.end('{"result":1}')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    await w.put('far', {
      adapterType: 'http',
      adapterConfig: {
        url: `http://127.0.0.1:${port}/hook?key=${SECRET}&mode=fast`,
        headers: { 'x-token': 'Bearer of-the-agent-only' },
        promptTemplate: 'Far away: {{task.title}}, of-the-agent-only',
      },
    })
    await w.assign('far', { title: 'Say it' })
    const [{ id }] = await w.over('far')
    const seen = await told(w, id)
    expect(seen).toMatchObject({
      prompt: { text: 'Far away: Say it, [redacted]' },
      program: null,
      request: {
        ...{ method: 'POST', url: `http://127.0.0.1:${port}/hook?key=…&mode=…` },
        headers: ['accept', 'content-type', 'x-token'],
      },
    })
    expect(JSON.stringify(seen)).not.toContain(SECRET)
  })

  test('of an agent without a program is its prompt alone', async () => {
    const w = await fleet()
    await w.put('slow', {
      adapterType: 'simulated',
      adapterConfig: { steps: [{ result: 1 }], promptTemplate: 'Go.' },
    })
    await w.assign('slow')
    const [{ id }] = await w.over('slow')
    expect(await told(w, id)).toMatchObject({
      prompt: { text: 'Go.', bytes: 3 },
      program: null,
      request: null,
    })
  })

  test('is read by people of its workspace, and with the token of the run itself alone', async () => {
    const w = await fleet()
    const { id: other } = await (async () => {
      await w.script('other', '')
      await w.wake('other')
      return (await w.over('other'))[0]
    })()
    const asks = `
      const { BATON_URL, BATON_API_KEY, BATON_RUN_ID } = process.env
      const read = async (id) => (await fetch(BATON_URL + '/api/v1/runs/' + id + '/invocation',
        { headers: { authorization: 'Bearer ' + BATON_API_KEY } })).status
      console.log(JSON.stringify({ result: [await read(BATON_RUN_ID), await read('${other}')] }))`
    await w.script('curious', asks)
    const task = await w.assign('curious')
    await w.over('curious')
    expect((await w.resultsOf(task))[0].result).toEqual([200, 403])
    expect((await told(w, other)).status).toBe('available')
    expectRefusal(await (await fleet()).call('GET', `/runs/${other}/invocation`), 404, 'NOT_FOUND')
  })
})
