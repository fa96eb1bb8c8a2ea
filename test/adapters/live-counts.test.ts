import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { AnswersUsed } from '../../src/adapters/answers-used.ts'
import { ClaudeReader, isPiece } from '../../src/adapters/claude/reader.ts'
import type { Facts, FileReader, Used } from '../../src/adapters/cli-lines.ts'
import { CodexReader } from '../../src/adapters/codex/reader.ts'
import { GeminiReader } from '../../src/adapters/gemini/reader.ts'
import { OpencodeReader } from '../../src/adapters/opencode/reader.ts'

/**
 * What runs have used, by the recorded output and files of the real programs (test/contracts). Request n of the model cost 1000·n input,
 * of which 1000·n − 600 from the cache, and 11·n output; 2·n reasoning are part of that, on top of it for gemini, none for claude.
 */

type Json = Record<string, unknown>

const folder = join(import.meta.dirname, '../contracts')
const linesOf = (name: string): string[] => readFileSync(join(folder, name), 'utf8').trimEnd().split('\n')

/** What these requests have used together, without cached input. */
const requests = (...numbers: number[]) => ({
  inputTokens: 600 * numbers.length,
  cachedInputTokens: numbers.reduce((sum, n) => sum + 1000 * n - 600, 0),
  outputTokens: numbers.reduce((sum, n) => sum + 11 * n, 0),
})
const reasoned = (...numbers: number[]) => numbers.reduce((sum, n) => sum + 2 * n, 0)
const figures = (usage: Used | null | undefined) => {
  if (!usage) return null
  const { inputTokens, cachedInputTokens, outputTokens } = usage
  return { inputTokens, cachedInputTokens, outputTokens }
}

/** The usage that was reported on the way, each once. */
function reported(reader: FileReader, lines: readonly string[]) {
  const usages = lines.flatMap((line) =>
    reader.take(line).flatMap((event) => (event.kind === 'usage' ? [figures(event.usage)] : [])),
  )
  return usages.filter((usage, i) => JSON.stringify(usage) !== JSON.stringify(usages[i - 1]))
}

const modelsAddUp = ({ usage }: Pick<Facts, 'usage'>) => {
  const sum = (figure: 'inputTokens' | 'cachedInputTokens' | 'outputTokens') =>
    usage?.models?.reduce((all, model) => all + (model[figure] ?? 0), 0)
  expect(figures(usage as Used)).toEqual({
    inputTokens: sum('inputTokens'),
    cachedInputTokens: sum('cachedInputTokens'),
    outputTokens: sum('outputTokens'),
  })
}

describe('claude', () => {
  /** Results as older versions print them. */
  const withoutTurns = (lines: readonly string[]) =>
    lines.map((line) => {
      const { model_usage_since_last_result: _, ...event } = JSON.parse(line)
      return JSON.stringify(event)
    })
  const isResult = (line: string) => line.includes('"type":"result"')
  const stdout = (name: string) => linesOf(`claude.${name}.stdout`)
  const session = (name: string) => linesOf(`claude.${name}.session.jsonl`)
  /** What stood in the file of a resumed session: up to the line of the run before it. */
  const earlier = (name: string, lines: number) => session(name).slice(0, lines)
  const costStates = (name: string) =>
    session(name).flatMap((line, i) => (line.includes('"cost-state"') ? [i] : []))

  test.each([
    ['live', requests(1, 2), '0.004635'],
    ['live_partial', requests(1, 2), '0.004635'],
    ['live_resume', requests(3, 4), '0.006495'],
    ['live_fork', requests(5, 6), '0.008355'],
    ['live_killed_resume', requests(3, 4), '0.006495'],
    ['live_terminated_resume', requests(3, 4), '0.006495'],
    ['live_subagent', requests(1, 2, 3, 4), '0.01113'],
  ])('%s: its end tells what its own requests used, whatever the session used before', (name, used, cost) => {
    const reader = new ClaudeReader({})
    const told = reported(reader, stdout(name))
    const facts = reader.facts()
    expect(figures(facts.usage as Used)).toEqual(used)
    expect(told.at(-1)).toEqual(used)
    expect(facts).toMatchObject({ usageBasis: 'reported', costUsd: cost })
    expect(facts.usage?.models).toMatchObject([{ model: 'claude-sonnet-4-5', ...used, costUsd: cost }])
  })

  test('live_partial: each answer counts when its stream is complete, and never by its placeholder', () => {
    const lines = stdout('live_partial').filter((line) => !isResult(line))
    expect(reported(new ClaudeReader({}), lines)).toEqual([requests(1), requests(1, 2)])
  })

  test('live_partial: an older version that does not name the message in its pieces is counted the same', () => {
    const lines = stdout('live_partial').map((line) => {
      const { api_message_id: _, ...event } = JSON.parse(line)
      return JSON.stringify(event)
    })
    expect(reported(new ClaudeReader({}), lines)).toEqual([requests(1), requests(1, 2)])
  })

  test('live_partial: pieces that end with the output alone have the input of their beginning', () => {
    const lines = stdout('live_partial').map((line) => {
      const event = JSON.parse(line)
      if (event.event?.type === 'message_delta')
        event.event.usage = { output_tokens: event.event.usage.output_tokens }
      return JSON.stringify(event)
    })
    expect(reported(new ClaudeReader({}), lines)).toEqual([requests(1), requests(1, 2)])
  })

  test('live_partial: a cut stream counts what was complete', () => {
    const lines = stdout('live_partial')
    const ends = lines.flatMap((line, i) => (line.includes('"message_delta"') ? [i] : []))
    const upTo = (end: number) => {
      const reader = new ClaudeReader({})
      for (const line of lines.slice(0, end)) reader.take(line)
      return reader.facts()
    }
    expect(upTo(ends[0]!).usage).toBe(null)
    for (const end of [ends[0]! + 1, ends[1]!])
      expect(upTo(end)).toMatchObject({ usage: requests(1), usageBasis: 'partial', costUsd: null })
    expect(upTo(ends[1]! + 1).usage).toMatchObject(requests(1, 2))
  })

  test('live_partial: its pieces, and only they, are left out of the log', () => {
    const kept = stdout('live_partial').filter((line) => !isPiece(line))
    expect(kept.map((line) => JSON.parse(line).type)).toEqual([
      ...['system', 'system', 'assistant', 'assistant', 'user', 'system', 'assistant', 'result'],
    ])
    const quoted = JSON.stringify({
      type: 'user',
      message: { content: '{"type":"stream_event"}' },
      a: 'stream_event',
    })
    expect(isPiece(quoted)).toBe(false)
  })

  test.each([
    ['live', requests(1, 2)],
    ['live_resume', requests(3, 4)],
    ['live_fork', requests(5, 6)],
    ['live_killed_resume', requests(3, 4)],
    ['live_terminated_resume', requests(3, 4)],
  ])(
    '%s: without a stream its session file tells the same, of the messages that the output has shown',
    (name, used) => {
      const reader = new ClaudeReader({})
      for (const line of stdout(name).filter((one) => !isResult(one))) reader.take(line)
      for (const line of session(name)) reader.written(line)
      expect(figures(reader.usage())).toEqual(used)
      expect(reader.facts().usageBasis).toBe('partial')
    },
  )

  test('live: the file may be read before the output', () => {
    const reader = new ClaudeReader({})
    for (const line of session('live')) reader.written(line)
    expect(reader.usage()).toBe(null)
    for (const line of stdout('live').filter((one) => !isResult(one))) reader.take(line)
    expect(figures(reader.usage())).toEqual(requests(1, 2))
  })

  test.each(['live_killed', 'live_terminated'])('%s: the request that was cut off does not count', (name) => {
    const reader = new ClaudeReader({})
    for (const line of stdout(name)) reader.take(line)
    for (const line of session(`${name}_resume`)) reader.written(line)
    expect(figures(reader.usage())).toEqual(requests(1))
    expect(reader.facts()).toMatchObject({ usageBasis: 'partial', costUsd: null })
  })

  test('live_subagent: a subagent counts by its file, and until it has one by its placeholder', () => {
    const reader = new ClaudeReader({})
    const lines = stdout('live_subagent')
    const first = lines.findIndex(isResult)
    for (const line of lines.slice(0, first)) reader.take(line)
    for (const line of session('live_subagent').slice(0, 14)) reader.written(line)
    // Its stdout has shown one of 22 tokens.
    expect(figures(reader.usage())).toEqual({ ...requests(1, 2, 3), outputTokens: 11 + 1 + 33 })
    expect(reader.traces().agents).toEqual(['a8f81e77a5e4b61bc'])
    for (const line of linesOf('claude.live_subagent.subagent.jsonl')) reader.written(line)
    expect(figures(reader.usage())).toEqual(requests(1, 2, 3))
  })

  test('live_subagent: what was used after a result, by a run that was killed then, is added to what it told', () => {
    const reader = new ClaudeReader({})
    for (const line of stdout('live_subagent').slice(0, -1)) reader.take(line)
    for (const line of session('live_subagent')) reader.written(line)
    const facts = reader.facts()
    expect(figures(facts.usage as Used)).toEqual(requests(1, 2, 3, 4))
    expect(facts).toMatchObject({ usageBasis: 'partial', costUsd: null })
    expect(facts.usage?.models).toEqual([
      expect.objectContaining({ ...requests(1, 2, 3), costUsd: '0.00765' }),
      expect.not.objectContaining({ costUsd: expect.anything() }),
    ])
    modelsAddUp(facts)
  })

  test.each([
    [
      'live_resume',
      requests(3, 4),
      '0.006495',
      () => earlier('live_resume', costStates('live_resume')[0]! + 1),
    ],
    // Its cost was written when it was terminated, and not when it was killed.
    [
      'live_terminated_resume',
      requests(3, 4),
      '0.006495',
      () => earlier('live_terminated_resume', costStates('live_terminated_resume')[0]! + 1),
    ],
    ['live_killed_resume', requests(3, 4), '0.006495', () => []],
  ])(
    '%s: an older version is charged for more than what its session file says',
    (name, used, cost, before) => {
      const reader = new ClaudeReader({})
      for (const line of before()) reader.before(line)
      for (const line of withoutTurns(stdout(name))) reader.take(line)
      expect(figures(reader.facts().usage as Used)).toEqual(used)
      expect(reader.facts().costUsd).toBe(cost)
    },
  )

  test('live_subagent: an older version is charged for its last totals', () => {
    const reader = new ClaudeReader({})
    for (const line of withoutTurns(stdout('live_subagent'))) reader.take(line)
    expect(figures(reader.facts().usage as Used)).toEqual(requests(1, 2, 3, 4))
    expect(reader.facts().costUsd).toBe('0.01113')
  })

  test('whose totals go up by less than it was seen to use is charged for what was seen', () => {
    // The totals before the run as if they had what the killed run used, which the program has lost.
    const counted = { sessionId: 'a715a1c7-4b3c-4d9e-bb6e-e9c0c9d15d16', costUsd: '0.002' }
    const state = { counted: { ...counted, models: { 'claude-sonnet-4-5': [600, 11, 400, 0] } } }
    const reader = new ClaudeReader(state)
    for (const line of withoutTurns(stdout('live_killed_resume'))) reader.take(line)
    expect(figures(reader.facts().usage as Used)).toEqual(requests(3, 4))
    expect(reader.facts().costUsd).toBe('0.006495')
    // And where no reading is enough, what was seen counts, without a cost.
    const low = new ClaudeReader({})
    for (const line of stdout('live_partial')) {
      const event = JSON.parse(line)
      if (event.type === 'result') event.model_usage_since_last_result['claude-sonnet-4-5'].outputTokens = 32
      low.take(JSON.stringify(event))
    }
    expect(low.facts()).toMatchObject({ usage: requests(1, 2), usageBasis: 'partial', costUsd: null })
  })

  test.each([
    ['live_killed', requests(1)],
    ['live_resume', requests(3, 4)],
  ])(
    '%s: a lost run is counted from its log and its file, without what other runs wrote there',
    (name, used) => {
      const reader = new ClaudeReader({})
      for (const line of stdout(name).filter((one) => !isResult(one))) reader.take(line)
      for (const line of session(name === 'live_killed' ? 'live_killed_resume' : name)) reader.left(line)
      expect(figures(reader.usage())).toEqual(used)
    },
  )

  test('does not count what no model has said', () => {
    const reader = new ClaudeReader({})
    const usage = { input_tokens: 5, output_tokens: 5 }
    reader.take(JSON.stringify({ type: 'assistant', message: { id: 'a', model: '<synthetic>', usage } }))
    expect(reader.usage()).toBe(null)
  })

  test('is not charged for what its agent writes into its session file', () => {
    const reader = new ClaudeReader({})
    for (const line of stdout('live_killed')) reader.take(line)
    for (const line of session('live_killed_resume').slice(0, 15)) reader.written(line)
    const forged = (id: string, usage: Json) =>
      JSON.stringify({ type: 'assistant', message: { id, model: 'claude-sonnet-4-5', usage } })
    reader.written(forged('msg_99', { input_tokens: 5000, output_tokens: 5000 }))
    reader.written(forged('msg_01', { input_tokens: 0, output_tokens: 0 }))
    reader.written(forged('msg_01', { input_tokens: 1e6, output_tokens: 1e6 }))
    expect(figures(reader.usage())).toEqual(requests(1))
  })
})

describe('answers', () => {
  test('to long requests are told apart, since they have another price', () => {
    const used = new AnswersUsed()
    const answer = (inputTokens: number, cachedInputTokens: number) => ({
      ...{ model: 'claude-sonnet-4-5', tokens: { inputTokens, cachedInputTokens, outputTokens: 1 } },
    })
    used.set('a', answer(1, 199_999))
    used.set('b', answer(1, 200_000))
    used.set('c', answer(150_000, 60_000))
    expect(used.usage()?.models).toEqual([
      {
        ...{ model: 'claude-sonnet-4-5', inputTokens: 150_002, cachedInputTokens: 459_999, outputTokens: 3 },
        longContext: { inputTokens: 150_001, cachedInputTokens: 260_000, outputTokens: 2 },
      },
    ])
  })

  test('of several models add up, unless one has no name', () => {
    const used = new AnswersUsed()
    const tokens = { inputTokens: 1, cachedInputTokens: 2, outputTokens: 3 }
    used.set('a', { model: 'x', tokens })
    used.set('b', { model: 'y', tokens })
    expect(used.usage()).toEqual({
      ...{ inputTokens: 2, cachedInputTokens: 4, outputTokens: 6 },
      models: [
        { model: 'x', ...tokens },
        { model: 'y', ...tokens },
      ],
    })
    used.set('c', { model: null, tokens })
    expect(used.usage()).toEqual({ inputTokens: 3, cachedInputTokens: 6, outputTokens: 9 })
  })

  test('are counted beyond those whose ids are remembered', () => {
    const used = new AnswersUsed()
    const tokens = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 0 }
    for (let i = 0; i < 60_000; i++) used.set(String(i), { model: 'x', tokens })
    expect(used.usage()?.inputTokens).toBe(60_000)
    expect(used.get('0')).toBe(undefined)
  })
})

describe('codex', () => {
  const stdout = (name: string) => linesOf(`codex.${name}.stdout`)
  const rollout = (name: string) => linesOf(`codex.${name}.rollout.jsonl`)
  const isEnd = (line: string) => line.includes('"turn.completed"')
  /** How many lines the file had before the run. */
  const before: Record<string, number> = {
    live_resume: rollout('live').length,
    live_killed_resume: rollout('live_killed').length,
  }

  interface Reading {
    state?: Json
    withEnd?: boolean
    change?: (lines: string[]) => string[]
  }

  function read(name: string, { state = {}, withEnd = true, change = (lines) => lines }: Reading = {}) {
    const reader = new CodexReader(state)
    const file = change(rollout(name))
    const old = before[name] ?? 0
    for (const line of file.slice(0, old)) reader.before(line)
    for (const line of stdout(name)) if (!isEnd(line)) reader.take(line)
    const onTheWay = file.slice(old).map((line) => {
      reader.written(line)
      return figures(reader.usage())
    })
    for (const line of stdout(name)) if (withEnd && isEnd(line)) reader.take(line)
    const each = onTheWay.filter((usage, i) => JSON.stringify(usage) !== JSON.stringify(onTheWay[i - 1]))
    return { facts: reader.facts(), each }
  }

  const CASES: [string, number[]][] = [
    ['live', [1, 2]],
    ['live_resume', [3]],
    ['live_fork', [4, 5]],
    ['live_killed', [1]],
    ['live_killed_resume', [3]],
  ]

  test.each(CASES)('%s: each answer of the run counts when it is complete', (name, numbers) => {
    const { each, facts } = read(name)
    const growing = numbers.map((_, i) => requests(...numbers.slice(0, i + 1)))
    expect(each).toEqual([null, ...growing])
    expect(figures(facts.usage as Used)).toEqual(requests(...numbers))
    expect(facts.usage).toMatchObject({ reasoningTokens: reasoned(...numbers) })
    expect(facts.model).toBe('gpt-5.1')
    modelsAddUp(facts)
  })

  test.each(CASES)(
    '%s: an older version, whose file has only totals, is counted the same',
    (name, numbers) => {
      const change = (lines: string[]) =>
        lines.map((line) => (line.includes('"token_usage_record"') ? '{}' : line))
      expect(figures(read(name, { change }).facts.usage as Used)).toEqual(requests(...numbers))
      expect(figures(read(name, { change, withEnd: false }).facts.usage as Used)).toEqual(
        requests(...numbers),
      )
    },
  )

  test('live_fork: the last total of its parent, told again at its beginning, counts nothing', () => {
    const [total] = rollout('live_resume')
      .filter((line) => line.includes('"token_count"'))
      .slice(-1)
    const change = ([meta, ...lines]: string[]) => [meta!, total!, ...lines]
    for (const withEnd of [true, false])
      expect(figures(read('live_fork', { change, withEnd }).facts.usage as Used)).toEqual(requests(4, 5))
  })

  test('a killed run leaves the totals of its thread to the next one, which is charged for its own', () => {
    const killed = read('live_killed').facts
    expect(killed).toMatchObject({ usageBasis: 'partial' })
    expect(killed.runtimeStatePatch).toMatchObject({ counted: { input: 1000, cached: 400, output: 11 } })
    // Also if the file cannot be read the next time.
    const reader = new CodexReader(killed.runtimeStatePatch as Json)
    for (const line of stdout('live_killed_resume')) reader.take(line)
    expect(reader.facts()).toMatchObject({ usage: requests(3), usageBasis: 'delta' })
  })

  test('an answer that is recorded again counts once', () => {
    const change = (lines: string[]) => [...lines, ...lines]
    expect(figures(read('live', { change, withEnd: false }).facts.usage as Used)).toEqual(requests(1, 2))
    const reader = new CodexReader({})
    for (const line of rollout('live')) reader.before(line)
    for (const line of rollout('live_resume')) reader.written(line)
    expect(figures(reader.usage())).toEqual(requests(3))
  })

  test('what its agent adds to the file does not outlast the end, and counts nothing that no model can use', () => {
    const record = (id: string, output: number, thread = '01a1eb33-6f74-7fe0-bd77-3f1ffb11c8c8') => {
      const usage = { input_tokens: 0, output_tokens: output }
      const payload = {
        thread_id: thread,
        response_id: id,
        usage,
        thread_token_usage: usage,
        turn_token_usage: usage,
      }
      return JSON.stringify({ type: 'token_usage_record', payload })
    }
    const change = (lines: string[]) => [
      ...lines,
      record('x', 1e15),
      record('y', 70, 'another'),
      record('z', 50),
    ]
    const forged = read('live', { change, withEnd: false }).facts.usage as Used
    expect(figures(forged)).toEqual({ ...requests(1, 2), outputTokens: 33 + 50 })
    expect(figures(read('live', { change }).facts.usage as Used)).toEqual(requests(1, 2))
  })

  test.each([
    ['live_killed', 'live_killed', {}, [1]],
    ['live_resume', 'live_resume', { input: 3000, cached: 1800, output: 33 }, [3]],
    ['live_fork', 'live_fork', {}, [4, 5]],
  ])(
    '%s: a lost run is counted from its file, without what earlier runs wrote there',
    (name, file, kept, numbers) => {
      const sessionId = JSON.parse(stdout(name)[0]!).thread_id
      const reader = new CodexReader({ counted: { ...kept, ...('input' in kept && { sessionId }) } })
      for (const line of stdout(name)) if (!isEnd(line)) reader.take(line)
      for (const line of rollout(file)) reader.left(line)
      const facts = reader.facts()
      expect(figures(facts.usage as Used)).toEqual(requests(...numbers))
      expect(facts.usageBasis).toBe('partial')
    },
  )

  test('is priced by the model of its settings, whatever the file says', () => {
    const reader = new CodexReader({}, 'gpt-5.6-sol')
    for (const line of rollout('live')) reader.written(line)
    expect(reader.usage()?.models).toMatchObject([{ model: 'gpt-5.6-sol' }])
  })
})

describe('gemini', () => {
  const stdout = (name: string) => linesOf(`gemini.${name}.stdout`)
  const chat = (name: string) => linesOf(`gemini.${name}.chat.jsonl`)
  const isResult = (line: string) => line.includes('"type":"result"')
  const thoughtful = (...numbers: number[]) => {
    const used = requests(...numbers)
    return { ...used, outputTokens: used.outputTokens + reasoned(...numbers) }
  }
  const growing = (reader: GeminiReader, lines: readonly string[]) => {
    const usages = lines.map((line) => {
      reader.written(line)
      return figures(reader.usage())
    })
    return usages.filter((usage, i) => JSON.stringify(usage) !== JSON.stringify(usages[i - 1]))
  }

  test('live: each answer counts once, with its thoughts as output, and the end tells the same', () => {
    const reader = new GeminiReader()
    expect(growing(reader, chat('live'))).toEqual([null, thoughtful(1), thoughtful(1, 2)])
    for (const line of stdout('live')) reader.take(line)
    const facts = reader.facts()
    expect(figures(facts.usage as Used)).toEqual(thoughtful(1, 2))
    expect(facts.usage).toMatchObject({ reasoningTokens: 6, models: [{ model: 'gemini-2.5-pro' }] })
    expect(facts.usageBasis).toBe('reported')
    const alone = new GeminiReader()
    for (const line of stdout('live')) alone.take(line)
    expect(alone.facts().usage).toEqual(facts.usage)
  })

  test.each([
    ['live_resume', 'live_resume.second_file'],
    ['live_resume_same_minute', null],
  ])('%s: the old answers in its file count nothing, with their tokens or without', (name, second) => {
    const lines = chat(name)
    const begin = lines.findIndex(
      (line, i) => i > 5 && (line.includes('"$set":{"sessionId"') || line.includes('startTime')),
    )
    const reader = new GeminiReader()
    for (const line of lines.slice(0, begin)) reader.before(line)
    for (const line of second ? chat(second) : []) reader.written(line)
    // What was there is read once more, as after the file was replaced.
    expect(growing(reader, lines)).toEqual([null, thoughtful(3)])
    for (const line of stdout('live_resume')) reader.take(line)
    expect(figures(reader.facts().usage as Used)).toEqual(thoughtful(3))
  })

  test('live_resume: a lost run is counted from its file, without what earlier runs wrote there', () => {
    const reader = new GeminiReader()
    for (const line of stdout('live_resume').filter((one) => !isResult(one))) reader.take(line)
    for (const line of chat('live_resume')) reader.left(line)
    expect(figures(reader.usage())).toEqual(thoughtful(3))
  })

  test('a run that is stopped before its end counts what its file has, and its agent cannot lower that', () => {
    const reader = new GeminiReader()
    for (const line of stdout('live').filter((one) => !isResult(one))) reader.take(line)
    for (const line of chat('live')) reader.written(line)
    const [answer] = chat('live').filter((line) => line.includes('"type":"gemini"'))
    reader.written(answer!.replaceAll(/:\d+([,}])/g, ':0$1'))
    expect(reader.facts()).toMatchObject({ usage: thoughtful(1, 2), usageBasis: 'partial' })
  })

  test('what its agent adds to the file does not outlast the end', () => {
    const reader = new GeminiReader()
    for (const line of chat('live')) reader.written(line)
    const tokens = { input: 10, output: 10, cached: 0, thoughts: 0, total: 20 }
    reader.written(JSON.stringify({ id: 'x', type: 'gemini', model: 'gemini-2.5-flash', tokens }))
    for (const line of stdout('live')) reader.take(line)
    expect(figures(reader.facts().usage as Used)).toEqual(thoughtful(1, 2))
  })
})

describe('opencode', () => {
  const stdout = (name: string) => linesOf(`opencode.${name}.stdout`)

  test.each([
    ['live', [1, 2], '0.004635'],
    ['live_resume', [3], '0.003015'],
    ['live_fork', [3], '0.003015'],
    ['live_unpriced', [1], null],
  ])(
    '%s: each step counts when it is done, with its reasoning, and none of those before the run',
    (name, numbers, cost) => {
      const reader = new OpencodeReader('fake/m1')
      const usages = stdout(name).flatMap((line) =>
        reader.take(line).flatMap((event) => (event.kind === 'usage' ? [event.usage] : [])),
      )
      expect(usages.map(figures)).toEqual(numbers.map((_, i) => requests(...numbers.slice(0, i + 1))))
      reader.end({ code: 0, stderrTail: '' })
      const facts = reader.facts()
      expect(figures(facts.usage as Used)).toEqual(requests(...numbers))
      expect(facts).toMatchObject({ usageBasis: 'reported', costUsd: cost })
      expect(facts.usage).toMatchObject({
        reasoningTokens: reasoned(...numbers),
        models: [{ model: 'fake/m1' }],
      })
      expect(facts.usage?.models?.[0]?.costUsd ?? null).toBe(cost)
    },
  )
})
