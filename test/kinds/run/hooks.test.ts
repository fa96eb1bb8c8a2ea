import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { objectionsTo } from '../../../src/kinds/agent/rules/allowed-on-node.ts'
import { isAlive } from '../../support/adapter-runs.ts'
import { eventually } from '../../support/recovery.ts'
import { numberIn, scripts, useFleets } from '../../support/runs.ts'

/** Programs before and after a run, from the settings of its agent: really run. */

const { fleet } = useFleets()

const sh = (source: string, timeoutSeconds = 30) => ({
  command: '/bin/sh',
  args: ['-c', source],
  timeoutSeconds,
})
const works = `console.log(JSON.stringify({ result: 'made' }))`

test('run in its folder with its environment, and their output is in its log, without secrets', async () => {
  const w = await fleet()
  const dev = await w.script('dev', works, {
    env: { TOKEN: 'very-secret-value' },
    config: {
      hooks: {
        before: sh('echo "first $BATON_HOOK $TOKEN"; echo $BATON_RUN_ID > before'),
        after: sh('echo "last $BATON_RUN_OUTCOME"; pwd > after'),
      },
    },
  })
  const task = await w.assign('dev')
  await w.taskIn(task, 'completed')
  const [run] = await w.over('dev')
  const { content } = await w.log(run.id)
  expect(content).toMatch(/first before \S+[\s\S]*made[\s\S]*last succeeded/)
  expect(content).not.toContain('very-secret-value')
  expect(readFileSync(join(dev.home, 'before'), 'utf8').trim()).toBe(run.id)
  expect(readFileSync(join(dev.home, 'after'), 'utf8').trim()).toBe(dev.home)
})

test.each([
  ['fails', sh('echo "no very-secret-value" >&2; exit 3'), 'exited with code 3'],
  ['takes too long', sh('sleep 60', 1), 'exceeded its timeout'],
])('one before the run that %s aborts it: the agent is not started', async (_, before, message) => {
  const w = await fleet()
  const source = `import { writeFileSync } from 'node:fs'; writeFileSync('started', '')`
  const dev = await w.script('dev', source, {
    env: { TOKEN: 'very-secret-value' },
    config: { hooks: { before } },
  })
  const task = await w.assign('dev')
  const [run] = await w.over('dev')
  expect(run).toMatchObject({ status: 'failed', errorCode: 'hook_failed' })
  expect(run.errorMessage).toContain(message)
  expect(run.errorMessage).not.toContain('very-secret-value')
  expect(await w.taskIn(task, 'awaiting_retry')).toMatchObject({ failureClass: 'infrastructure' })
  expect(existsSync(join(dev.home, 'started'))).toBe(false)
})

test('one after the run that fails is an event, and the result counts', async () => {
  const w = await fleet()
  await w.script('dev', works, { config: { hooks: { after: sh('exit 4') } } })
  const task = await w.assign('dev')
  await w.taskIn(task, 'completed')
  const [run] = await w.over('dev')
  expect(run.status).toBe('succeeded')
  const events = await w.timeline(run.id)
  expect(events.find(({ message }) => message === 'hook_failed')).toMatchObject({
    payload: { hook: 'after', error: expect.stringContaining('exited with code 4') },
  })
})

test('one that is running when the run is cancelled is ended with all its processes', async () => {
  const w = await fleet()
  const before = sh('sleep 600 & echo $! > child.pid; echo $$ > own.pid; wait', 600)
  const dev = await w.script('dev', scripts.stays, { config: { hooks: { before } } })
  await w.assign('dev')
  const pids = [await numberIn(dev.home, 'own.pid'), await numberIn(dev.home, 'child.pid')]
  const run = await eventually(async () => (await w.runsOf('dev'))[0])
  expect((await w.run(run.id)).pid ?? pids[0]).toBe(pids[0])
  await w.post(`/runs/${run.id}/cancel`, { reason: 'enough' })
  expect((await w.over('dev'))[0]).toMatchObject({ status: 'cancelled' })
  expect(pids.map(isAlive)).toEqual([false, false])
})

test('the operator’s list of commands applies to them, and settings that are no hooks are refused', async () => {
  const judged = {
    ...{ adapterType: 'process', defaultCommand: undefined, isOfFirstWorkspace: true },
    config: { command: 'node', hooks: { before: { command: 'sh' }, after: { command: 'node' } } },
  }
  const policy = { adapters: [], commands: ['node'], env: [] }
  expect(objectionsTo(judged, policy).map(({ field }) => field)).toEqual([
    'adapterConfig.hooks.before.command',
  ])
  const w = await fleet()
  const hooks = { before: 'rm -rf /' }
  const answer = await w.call('PUT', '/agents/dev', {
    ...{ adapterType: 'process', adapterConfig: { command: 'node', hooks } },
  })
  expect(answer).toMatchObject({ status: 400 })
})
