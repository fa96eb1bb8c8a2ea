import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isAlive } from '../../support/adapter-runs.ts'
import type { Json } from '../../support/http-workspace.ts'
import { endWaitOn, planned } from '../../support/planned.ts'
import { eventually } from '../../support/recovery.ts'
import { type Seen, scripts, useFleets } from '../../support/runs.ts'

/** What the plan of a task says about how its agent is run: through a whole server, with programs that are really run. */

const { served, fleet } = useFleets()

describe('the plan of a task reaches claude', () => {
  test('model, system prompt and the tools that the settings of its agent let tasks have', async () => {
    const w = await fleet()
    const dev = await w.claude('dev', '', { config: { model: 'haiku', grantableTools: ['Read', 'Edit'] } })
    const asks = {
      ...{ model: 'opus', systemPrompt: '--be brief', toolsRequested: ['Read', 'Bash', 'Edit'] },
      successCriteria: 'Two lines.',
      outputSchema: { type: 'object', required: ['lines'] },
    }
    const [task] = await planned(w, [{ tempId: 'a', agent: 'dev', ...asks }])
    await w.taskIn(task, 'completed')
    const [{ args, prompt }] = dev.calls() as [Seen]
    expect(args[args.indexOf('--model') + 1]).toBe('opus')
    expect(args).toContain('--append-system-prompt=--be brief')
    expect(args).toContain('--allowedTools=Read,Edit')
    expect(args.join(' ')).not.toContain('Bash')
    for (const said of ['Two lines.', '"required":["lines"]']) expect(prompt).toContain(said)
    const [run] = await w.over('dev')
    expect((await w.log(run.id)).content).toContain('its agent may not use: Bash.')
  })

  test('and the flag in its own settings is not replaced: the system prompt goes to the head of the prompt', async () => {
    const w = await fleet()
    const config = { extraArgs: ['--append-system-prompt', 'From its settings'] }
    const dev = await w.claude('dev', '', { config })
    const [task] = await planned(w, [{ tempId: 'a', agent: 'dev', systemPrompt: 'From the plan' }])
    await w.taskIn(task, 'completed')
    const [{ args, prompt }] = dev.calls() as [Seen]
    expect(args.filter((arg: string) => arg.startsWith('--append-system-prompt'))).toHaveLength(1)
    expect(prompt.startsWith('From the plan\n\n')).toBe(true)
  })

  test('a model it cannot take fails the task and not the agent', async () => {
    const w = await fleet()
    await w.claude('dev')
    const [bad, good] = await planned(w, [
      { tempId: 'bad', agent: 'dev', model: '--dangerously skip' },
      { tempId: 'good', agent: 'dev' },
    ])
    expect(await w.taskIn(bad, 'failed')).toMatchObject({
      failureClass: 'invalid',
      error: expect.stringContaining('is not a valid model name'),
    })
    await w.taskIn(good, 'completed')
    await w.isIn('dev', 'idle')
  })
})

describe('the plan of a task reaches an agent without flags for it', () => {
  test('codex gets the model as a flag and the system prompt at the head of its prompt', async () => {
    const w = await fleet()
    const dev = await w.codex('dev')
    const asks = { model: 'gpt-x', systemPrompt: 'Be brief', toolsRequested: ['Bash'] }
    const [task] = await planned(w, [{ tempId: 'a', agent: 'dev', ...asks }])
    await w.taskIn(task, 'completed')
    const [{ args, prompt }] = dev.calls() as [Seen]
    expect(args[args.indexOf('--model') + 1]).toBe('gpt-x')
    expect(args.join(' ')).not.toContain('Bash')
    expect(prompt.startsWith('Be brief\n\n')).toBe(true)
  })

  test('a program has the model in its environment', async () => {
    const w = await fleet()
    await w.script('dev', `console.log(JSON.stringify({ result: { model: process.env.BATON_MODEL } }))`)
    const [task] = await planned(w, [{ tempId: 'a', agent: 'dev', model: 'gpt-x', systemPrompt: 'Be brief' }])
    await w.taskIn(task, 'completed')
    expect((await w.resultsOf(task))[0].result).toEqual({ model: 'gpt-x' })
  })
})

test('the prompt counts turns within an attempt, and attempts, apart', async () => {
  const w = await fleet()
  const promptTemplate = '{{task.attempt}}/{{task.maxAttempts}} {{task.turn}}/{{task.maxTurns}}'
  // The first turn continues, the second fails, and so on: its prompts are in its checkpoint.
  const source = `
    import { appendFileSync, readFileSync } from 'node:fs'
    let prompt = ''
    for await (const chunk of process.stdin.setEncoding('utf8')) prompt += chunk
    appendFileSync('told', prompt + '\\n')
    const turns = readFileSync('told', 'utf8').trim().split('\\n')
    if (turns.length % 2 === 1) console.log(JSON.stringify({ continue: true }))
    else if (turns.length < 4) process.exit(1)
    else console.log(JSON.stringify({ result: turns }))`
  await w.script('dev', source, { config: { promptTemplate } })
  const task = await w.assign('dev', { maxRetries: 2, maxContinuations: 4 })
  await w.taskIn(task, 'awaiting_retry')
  await endWaitOn(served(), task)
  await w.taskIn(task, 'completed')
  expect((await w.resultsOf(task))[0].result).toEqual(['1/3 1/5', '1/3 2/5', '2/3 1/5', '2/3 2/5'])
})

test('a template of its own is left as it is: the system prompt comes before it', async () => {
  const w = await fleet()
  await w.script('dev', scripts.echoes, { config: { promptTemplate: 'Do {{task.title}}' } })
  const [task] = await planned(w, [
    { tempId: 'a', title: 'it', agent: 'dev', systemPrompt: 'Be {{task.title}}' },
  ])
  await w.taskIn(task, 'completed')
  expect((await w.resultsOf(task))[0].result.prompt).toBe('Be {{task.title}}\n\nDo it')
})

describe('a run whose time is over is stopped, with all its processes', () => {
  const cases: [says: string, timeouts: Json, ends: Json][] = [
    ['that of its attempt', { attemptSeconds: 1 }, { state: 'awaiting_retry', failureClass: 'timeout' }],
    ['that of all attempts', { deadlineSeconds: 1 }, { state: 'failed', failureClass: 'timeout' }],
  ]
  test.each(cases)('%s', async (_, timeouts, ends) => {
    const w = await fleet()
    const dev = await w.script('dev', scripts.withGrandchild)
    const [task] = await planned(w, [{ tempId: 'a', agent: 'dev', timeouts }])
    const [run] = await w.over('dev')
    expect(await w.taskIn(task, ends.state as string)).toMatchObject({ ...ends, timeouts })
    expect(run).toMatchObject({ status: 'cancelled', errorCode: 'claim_lost' })
    for (const name of ['own.pid', 'grandchild.pid']) {
      const file = join(dev.home, name)
      if (existsSync(file)) expect(isAlive(Number(readFileSync(file, 'utf8')))).toBe(false)
    }
  })

  test('and the next attempt gets twice the time', async () => {
    const w = await fleet()
    await w.script('dev', scripts.stays)
    const task = await w.assign('dev', { timeouts: { attemptSeconds: 1 } })
    const error = (seconds: number) => `The attempt was not done within ${seconds} s.`
    expect(await w.taskIn(task, 'awaiting_retry')).toMatchObject({ error: error(1), attempt: 1 })
    expect((await w.on(task, 'retry')).status).toBe(200)
    expect(
      await eventually(async () => {
        const seen = await w.read(task)
        return seen.state === 'awaiting_retry' && seen.error !== error(1) && seen
      }),
    ).toMatchObject({ error: error(2), timeouts: { attemptSeconds: 1 } })
  })

  test('a task of POST /tasks has such times, too', async () => {
    const w = await fleet()
    const task = await w.make({ timeouts: { attemptSeconds: 7, deadlineSeconds: 1 } })
    expect(await w.taskIn(task, 'failed')).toMatchObject({
      timeouts: { attemptSeconds: 7, deadlineSeconds: 1 },
      error: 'The task was not done within its 1 s.',
    })
  })
})

describe('what upstream tasks made', () => {
  test('is handed on by data edges only, cut to equal shares, with the way to the whole', async () => {
    const w = await fleet()
    const long = `console.log(JSON.stringify({ result: 'x'.repeat(60_000), summary: 'long' }))`
    await w.script('long', long)
    await w.script('short', `console.log(JSON.stringify({ result: 'short-result', summary: 'brief' }))`)
    await w.script('next', scripts.echoes, { config: { promptTemplate: '{{upstream.outputs}}' } })
    const [, , , , last] = await planned(w, [
      { tempId: 'a', agent: 'long', title: 'A' },
      { tempId: 'b', agent: 'long', title: 'B' },
      { tempId: 'c', agent: 'short', title: 'C' },
      { tempId: 'hidden', agent: 'short', title: 'Only earlier' },
      { tempId: 'd', agent: 'next', dependsOn: ['a', 'b', 'c', { on: 'hidden', kind: 'order' }] },
    ])
    await w.taskIn(last, 'completed')
    const outputs: Seen[] = JSON.parse((await w.resultsOf(last))[0].result.prompt)
    expect(outputs.map(({ title, summary }) => [title, summary])).toEqual([
      ['A', 'long'],
      ['B', 'long'],
      ['C', 'brief'],
    ])
    const [a, b, c] = outputs
    expect(c).toMatchObject({ result: 'short-result', workProductRef: expect.any(String) })
    expect(a.result.length).toBe(b.result.length)
    expect(a.result.length).toBeGreaterThan(16_000)
    expect(JSON.stringify(outputs).length).toBeLessThan(34_000)
    expect((await w.call('GET', a.wholeResult.replace('/api/v1', ''))).body.items[0].result).toHaveLength(
      60_000,
    )
  })
})

test('the lease of a run fits the estimate of its task, within the limits of the workspace', async () => {
  const w = await fleet({ maxLeaseSeconds: 1_800 })
  await w.script('dev', scripts.stays, { maxConcurrentTasks: 3 })
  const leaseOf = async (more: Json) => {
    const task = await w.assign('dev', more)
    await w.taskIn(task, 'running')
    return eventually(async () => {
      const { holder } = await w.read(task)
      const seconds = Math.round((Date.parse(holder.leaseExpiresAt) - Date.now()) / 1_000)
      return (more.estimatedDurationMinutes === undefined || seconds > 310) && seconds
    })
  }
  expect(await leaseOf({})).toBeLessThanOrEqual(300)
  const fitting = await leaseOf({ estimatedDurationMinutes: 20 })
  expect([fitting > 600, fitting <= 1_200]).toEqual([true, true])
  const most = await leaseOf({ estimatedDurationMinutes: 600 })
  expect([most > 1_200, most <= 1_800]).toEqual([true, true])
})

describe('the budget of a task', () => {
  const uses = (tokens: number, then: string) => `
    console.log(JSON.stringify({ baton: 'usage', usage: { inputTokens: ${tokens}, outputTokens: 0 } }))
    ${then}`
  const isOver = async (budget: Json, model?: string) => {
    const w = await fleet()
    await w.script('dev', uses(1_000_000, 'setInterval(() => {}, 60_000)'))
    const [task] = await planned(w, [{ tempId: 'a', agent: 'dev', budget, ...(model && { model }) }])
    const [run] = await w.over('dev')
    expect(run).toMatchObject({ status: 'failed', errorCode: 'budget_blocked' })
    await w.taskIn(task, 'budget_exceeded')
    return run.errorMessage
  }

  test('stops the run that has used its tokens, and the task waits for a person', async () => {
    expect(await isOver({ maxTokens: 900_000 })).toBe(
      'The budget of the task is spent: 1000000 of 900000 tokens.',
    )
  })

  test('stops the run that has cost its dollars, by the list price of its model', async () => {
    expect(await isOver({ maxUsd: '0.5' }, 'opus')).toMatch(
      /^The budget of the task is spent: \$\d[\d.]* of \$0\.50\.$/,
    )
  })

  test('counts all runs of the task: the next one does not even start', async () => {
    const w = await fleet()
    // Reported with its last line, so that no run is stopped for it.
    const usage = { inputTokens: 600, outputTokens: 0 }
    const dev = await w.script(
      'dev',
      `console.log(JSON.stringify(${JSON.stringify({ continue: true, usage })}))`,
    )
    const [task] = await planned(w, [{ tempId: 'a', agent: 'dev', budget: { maxTokens: 1_000 } }])
    await w.taskIn(task, 'budget_exceeded')
    const runs = await w.over('dev', 3)
    expect(runs.map(({ errorCode }) => errorCode)).toEqual([null, null, 'budget_blocked'])
    expect(dev.slug).toBe('dev')
  })
})
