import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { useServer } from '../support/http-workspace.ts'

const { served, workspace } = useServer()

/** All examples of the page, in order, as one program. */
function program(): string {
  const page = readFileSync(join(import.meta.dirname, '../../docs/client.md'), 'utf8')
  const blocks = [...page.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code!)
  expect(blocks.length).toBeGreaterThan(3)
  return blocks.join('\n').replace("'baton/client'", "'../../src/client/client.ts'")
}

test('every example of docs/client.md does what it says', async () => {
  const { ownerKey } = await workspace()
  const file = join(import.meta.dirname, `client-docs-${process.pid}.tmp.ts`)
  const said: unknown[] = []
  const log = vi.spyOn(console, 'log').mockImplementation((word) => void said.push(word))
  vi.stubEnv('BATON_URL', served().url)
  vi.stubEnv('BATON_KEY', ownerKey)
  writeFileSync(file, program())
  try {
    await import(file)
  } finally {
    log.mockRestore()
    vi.unstubAllEnvs()
    rmSync(file)
  }
  const page = program()
  const announced = [...page.matchAll(/console\.log\(.*\) \/\/ (\w+)$/gm)].map(([, word]) => word)
  expect(announced).toHaveLength(3)
  expect(said).toEqual(announced)
})
