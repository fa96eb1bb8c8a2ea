import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { processAdapter } from '../../src/adapters/process.ts'
import { AdapterRegistry, loadAdapters } from '../../src/adapters/registry.ts'
import { simulatedAdapter } from '../../src/adapters/simulated.ts'
import { StartRefused } from '../../src/pure/refusal.ts'

/** Which kinds of agents exist, and those of third parties. */

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-registry-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let modules = 0
function moduleWith(text: string): string {
  const path = join(folder, `module-${++modules}.mjs`)
  writeFileSync(path, text)
  return path
}
const adapterText = (more = '') => `{
  type: 'parrot',
  protocolVersion: 'agent-run/v1',
  capabilities: { resumableSession: false, statusUpdates: false, logStreaming: false, tokenUsage: false },
  validateConfig: () => ({ ok: true }),
  invoke: async ({ prompt }) => ({ outcome: 'succeeded', exitCode: 0, result: prompt }),
  ${more}
}`

describe('the registry', () => {
  test('returns what was registered, by type', () => {
    const registry = new AdapterRegistry()
    registry.register(simulatedAdapter)
    registry.register(processAdapter)
    expect(registry.get('process')).toBe(processAdapter)
    expect(registry.get('nobody')).toBeUndefined()
    expect(registry.list().map(({ type }) => type)).toEqual(['process', 'simulated'])
    const [listed] = registry.list()
    expect(listed).toEqual({
      type: 'process',
      capabilities: processAdapter.capabilities,
      configSchema: processAdapter.configSchema,
    })
    expect(listed!.configSchema).toMatchObject({
      type: 'object',
      required: ['command'],
      additionalProperties: false,
      properties: {
        timeoutSec: { default: 1800 },
        graceSec: { default: 20 },
        workspace: { enum: ['cwd', 'git_worktree'] },
      },
    })
  })

  test('refuses a type that is registered already', () => {
    const registry = new AdapterRegistry()
    registry.register(processAdapter)
    expect(() => registry.register({ ...simulatedAdapter, type: 'process' })).toThrow(StartRefused)
    expect(() => registry.register({ ...simulatedAdapter, type: 'external' })).toThrow('"external"')
    expect(registry.get('process')).toBe(processAdapter)
  })
})

describe('third-party adapters', () => {
  test('are loaded from their modules: one, or a list of them', async () => {
    const registry = new AdapterRegistry()
    const one = moduleWith(`export default ${adapterText()}`)
    const two = moduleWith(`export default [${adapterText("type: 'jay',")}, ${adapterText("type: 'crow',")}]`)
    await loadAdapters([one, `./${relative(process.cwd(), two)}`], registry)
    expect(registry.list().map(({ type }) => type)).toEqual(['crow', 'jay', 'parrot'])
    const instance =
      moduleWith(`class Owl { constructor() { Object.assign(this, ${adapterText("type: 'owl', invoke: undefined,")}); delete this.invoke }
      async invoke() { return { outcome: 'succeeded', exitCode: 0 } } }
      export default new Owl()`)
    await loadAdapters([instance], registry)
    expect(registry.get('owl')).toBeDefined()
  })

  test.each([
    ['nothing is exported', 'export const adapter = 1', 'neither an adapter nor a list'],
    ['an empty list', 'export default []', 'exports an empty list of adapters.'],
    ['it has a strange type', `export default ${adapterText("type: 'Parrot 2',")}`, 'its type must be'],
    [
      'it speaks another protocol',
      `export default ${adapterText("protocolVersion: 'agent-run/v9',")}`,
      '"agent-run/v9"',
    ],
    [
      'it has no features',
      `export default ${adapterText('capabilities: {},')}`,
      'the capabilities of "parrot"',
    ],
    [
      'it cannot be invoked',
      `export default ${adapterText('invoke: 5,')}`,
      '"parrot" has no function invoke',
    ],
    [
      'its probe is none',
      `export default ${adapterText('probe: true,')}`,
      'probe of "parrot" is not a function',
    ],
    [
      'its variables are none',
      `export default ${adapterText('inheritsEnv: [5],')}`,
      'inheritsEnv of "parrot"',
    ],
    [
      'it wants to be a built-in',
      `export default ${adapterText("type: 'process',")}`,
      'already an adapter of type "process"',
    ],
    ['it wants to be Baton itself', `export default ${adapterText("type: 'external',")}`, '"external"'],
    ['it does not parse', 'export default {', 'cannot be loaded: '],
    ['it throws', 'throw new Error("not today")', 'cannot be loaded: not today'],
  ])('are refused in one sentence that names the file: %s', async (_why, text, message) => {
    const registry = new AdapterRegistry()
    registry.register(processAdapter)
    const path = moduleWith(text)
    const loading = loadAdapters([path], registry)
    await expect(loading).rejects.toThrow(StartRefused)
    await expect(loading).rejects.toThrow(path)
    await expect(loading).rejects.toThrow(message)
    expect(registry.list().map(({ type }) => type)).toEqual(['process'])
    expect(registry.get('process')).toBe(processAdapter)
  })

  test('are refused if the module has none', async () => {
    await expect(loadAdapters(['./no/such/module.mjs'], new AdapterRegistry())).rejects.toThrow(
      'There is no adapter at ./no/such/module.mjs.',
    )
  })
})
