import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openWorkspace, type Workspace } from '../support/http-workspace.ts'
import { until } from '../support/nodes.ts'
import { startWatchedServer, type WatchedServer } from '../support/watched-server.ts'

/** Output of agents that is made to use up the time of the server, when it is printed and when it is read. */

const LONGEST_HOLD_MS = 200

let server: WatchedServer
let w: Workspace
beforeAll(async () => {
  server = await startWatchedServer()
  w = await openWorkspace(server)
}, 120_000)
afterAll(() => server?.close())

/** Runs a program that prints this, as JavaScript, and returns the run when it is over. */
async function printed(script: string): Promise<{ id: string; status: string }> {
  const agent = `printer-${crypto.randomUUID().slice(0, 8)}`
  const adapterConfig = { command: process.execPath, args: ['-e', script] }
  const made = await w.call('PUT', `/agents/${agent}`, {
    adapterType: 'process',
    adapterConfig,
    coordinatorEnabled: false,
  })
  expect(made.status, JSON.stringify(made.body)).toBeLessThan(300)
  await w.post(`/agents/${agent}/wakeup`)
  return until(async () => {
    const [run] = (await w.call('GET', `/runs?agent=${agent}`)).body.items
    return run && /succeeded|failed/.test(run.status) && run
  })
}

/** Once all of the log was read. */
async function stepsOf({ id }: { id: string }): Promise<{ text: string; kind: string }[]> {
  for (;;) {
    const { status, body } = await w.call('GET', `/runs/${id}/transcript`)
    expect(status, JSON.stringify(body).slice(0, 300)).toBe(200)
    if (body.isComplete) return body.steps
  }
}

const write = (js: string) => `process.stdout.write(${js})`

describe('what an agent prints', () => {
  test.each([
    ['lines of 8 MB of {}', write(`('{"result":[' + '{},'.repeat(2_600_000) + '1]}\\n').repeat(2)`)],
    ['a line of 8 MB of brackets', write(`'{"result":' + '['.repeat(8_000_000) + '\\n'`)],
    [
      'a line nested 200,000 levels deep',
      write(`'{"result":' + '['.repeat(200_000) + ']'.repeat(200_000) + '}\\n'`),
    ],
    [
      'a line of 8 MB of text',
      write(`JSON.stringify({ baton: 'status', message: 'x'.repeat(8_000_000) }) + '\\n'`),
    ],
    ['very many short lines', write(`'x\\n'.repeat(300_000)`)],
  ])(
    '%s',
    async (_, script) => {
      let run: { id: string; status: string }
      const heldMs = await server.heldBy(async () => {
        run = await printed(script)
      })
      expect(run!.status).toBe('succeeded')
      expect(heldMs).toBeLessThan(LONGEST_HOLD_MS)
      let steps: { text: string; kind: string }[] = []
      const heldByReadingMs = await server.heldBy(async () => {
        steps = await stepsOf(run)
        expect((await w.call('GET', `/runs/${run.id}/log/outline`)).status).toBe(200)
      })
      expect(steps[0]!.text.length).toBeGreaterThan(10)
      expect(steps[0]!.text.length).toBeLessThanOrEqual(4_000)
      expect(heldByReadingMs).toBeLessThan(LONGEST_HOLD_MS)
    },
    300_000,
  )

  test('a line that is too deep is shown as it was printed', async () => {
    const run = await printed(write(`'{"result":' + '['.repeat(300) + ']'.repeat(300) + '}\\n'`))
    const [step] = await stepsOf(run)
    expect(step).toMatchObject({ kind: 'log', text: `{"result":${'['.repeat(300)}${']'.repeat(300)}}` })
  })
})

describe('a search', () => {
  let run: { id: string }
  beforeAll(async () => {
    // Lines of 256 kB: a hundred megabytes of them.
    const line = `'a'.repeat(256 * 1024) + '\\n'`
    run = await printed(
      `const line = ${line}; let n = 400; const more = () => n-- > 0 && process.stdout.write(line, more); more()`,
    )
  }, 120_000)

  test.each([
    ['with a hit at every character', 'a'],
    ['with no hit, for a text that is nearly everywhere', `${'a'.repeat(150)}b`],
    ['over line ends', 'aaab'],
  ])(
    'of lines of 256 kB is a matter of milliseconds at a time: %s',
    async (_, q) => {
      const heldMs = await server.heldBy(async () => {
        let cursor: string | null = null
        for (let i = 0; i < 5; i++) {
          const at: string = cursor === null ? '' : `&after=${encodeURIComponent(cursor)}`
          const found = await w.call('GET', `/runs/${run.id}/log/search?q=${q}&limit=50${at}`)
          expect(found.status, JSON.stringify(found.body)).toBe(200)
          for (const { excerpt } of found.body.hits) expect(excerpt.length).toBeLessThan(700)
          cursor = found.body.nextCursor
          if (cursor === null) break
        }
      })
      expect(heldMs).toBeLessThan(LONGEST_HOLD_MS)
    },
    300_000,
  )
})
