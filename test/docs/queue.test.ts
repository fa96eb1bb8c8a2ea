import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, test, vi } from 'vitest'
import { freshDatabase } from '../support/database.ts'
import { freshMysqlDatabase } from '../support/servers/mysql-database.ts'
import { freshValkeyPrefix } from '../support/servers/valkey.ts'

const root = join(import.meta.dirname, '../..')

/** All examples of the page, in order, as one program. */
function program(): string {
  const page = readFileSync(join(root, 'docs/queue.md'), 'utf8')
  const blocks = [...page.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code!)
  expect(blocks.length).toBeGreaterThan(15)
  const code = blocks.join('\n')
  const imports = [...code.matchAll(/^import .* from 'baton'$/gm)].map(([line]) => line)
  const rest = code.replace(/^import .* from 'baton'$/gm, '')
  return [...imports, rest].join('\n').replaceAll("'baton'", "'../../src/queue/queue.ts'")
}

async function runOn(url: string): Promise<string[]> {
  const file = join(
    import.meta.dirname,
    `queue-docs-${process.pid}-${Math.random().toString(36).slice(2)}.tmp.ts`,
  )
  const said: string[] = []
  const log = vi.spyOn(console, 'log').mockImplementation((...words) => void said.push(words.join(' ')))
  writeFileSync(file, program())
  vi.stubEnv('QUEUE_URL', url)
  try {
    await import(file)
    return said
  } finally {
    log.mockRestore()
    vi.unstubAllEnvs()
    rmSync(file)
  }
}

function expectWhatThePageSays(said: string[]): void {
  expect(said[0]).toMatch(/^[0-9a-f-]{36} queued$/)
  expect(said[1]).toBe('pending pending')
  expect(said[2]).toBe('true')
  expect(said).toContain('failed')
  expect(said).toContain('completed')
  expect(said).toContain('Import: The file is still damaged.')
  expect(said.at(-1)).toBe('true')
}

test('every example of docs/queue.md does what it says, in memory', async () => {
  expectWhatThePageSays(await runOn('memory:'))
})

test('every example of docs/queue.md does what it says, on Postgres', async () => {
  const database = await freshDatabase()
  try {
    expectWhatThePageSays(await runOn(database.url))
  } finally {
    await database.drop()
  }
})

test.skipIf(inject('valkeyUrl') === null)(
  'every example of docs/queue.md does what it says, on Valkey',
  async () => {
    const url = new URL(inject('valkeyUrl')!)
    url.searchParams.set('prefix', freshValkeyPrefix())
    expectWhatThePageSays(await runOn(url.href))
  },
)

test.skipIf(inject('mariadbUrl') === null)(
  'every example of docs/queue.md does what it says, on MariaDB',
  async () => {
    const database = await freshMysqlDatabase(inject('mariadbUrl')!)
    try {
      expectWhatThePageSays(await runOn(database.url))
    } finally {
      await database.drop()
    }
  },
)
