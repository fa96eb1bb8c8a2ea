import { describe, expect, test } from 'vitest'
import { type AgentPolicy, objectionsTo, runsAs } from '../../../src/kinds/agent/rules/allowed-on-node.ts'
import { inHome } from '../../../src/pure/home-folder.ts'

/** What agents may consist of on a node, as its operator configures it. */

const NOTHING_SAID: AgentPolicy = { adapters: [], commands: null, env: [] }
const fields = (
  agent: {
    adapterType: string
    config?: Record<string, unknown>
    defaultCommand?: string
    isFirst?: boolean
  },
  policy: Partial<AgentPolicy> = {},
) =>
  objectionsTo(
    {
      adapterType: agent.adapterType,
      config: agent.config ?? {},
      defaultCommand: agent.defaultCommand,
      isOfFirstWorkspace: agent.isFirst ?? true,
    },
    { ...NOTHING_SAID, ...policy },
  ).map(({ field }) => field)

describe('kinds of agents', () => {
  test('the first workspace may use all of them, the others those that run nothing on the node', () => {
    for (const adapterType of [
      'external',
      'simulated',
      'http',
      'process',
      'claude_local',
      'of_a_third_party',
    ]) {
      expect(fields({ adapterType })).toEqual([])
      const isHarmless = ['external', 'simulated', 'http'].includes(adapterType)
      expect(fields({ adapterType, isFirst: false })).toEqual(isHarmless ? [] : ['adapterType'])
    }
  })

  test('the operator allows more by name, or all of them', () => {
    const adapters = ['process']
    expect(fields({ adapterType: 'process', isFirst: false }, { adapters })).toEqual([])
    expect(fields({ adapterType: 'codex_local', isFirst: false }, { adapters })).toEqual(['adapterType'])
    expect(fields({ adapterType: 'http', isFirst: false }, { adapters })).toEqual([])
    expect(fields({ adapterType: 'codex_local', isFirst: false }, { adapters: ['*'] })).toEqual([])
  })
})

describe('commands', () => {
  const commands = ['node', '/usr/bin/python3']
  test.each([
    ['node', true],
    ['/usr/bin/python3', true],
    ['/tmp/node', false],
    ['./node', false],
    ['bin/node', false],
    ['python3', false],
    ['/usr/bin/../bin/python3', false],
    ['/usr/bin//python3', false],
    ['NODE', false],
    ['', false],
  ])('%j is allowed literally: %s', (command, isAllowed) => {
    const wanted = isAllowed ? [] : ['adapterConfig.command']
    for (const isFirst of [true, false])
      expect(
        fields({ adapterType: 'process', config: { command }, isFirst }, { commands, adapters: ['*'] }),
      ).toEqual(wanted)
  })

  test('the default command of an adapter must be allowed, too', () => {
    const agent = { adapterType: 'claude_local', defaultCommand: 'claude' }
    expect(fields(agent)).toEqual([])
    expect(fields(agent, { commands })).toEqual(['adapterConfig.command'])
    expect(fields(agent, { commands: ['claude'] })).toEqual([])
    expect(fields({ adapterType: 'http' }, { commands: [] })).toEqual([])
  })
})

describe('variables', () => {
  const env = (...names: string[]) => ({
    adapterType: 'process',
    config: { env: Object.fromEntries(names.map((name) => [name, 'x'])) },
  })
  const REFUSED = [
    ...['LD_PRELOAD', 'LD_LIBRARY_PATH', 'LD_AUDIT', 'DYLD_INSERT_LIBRARIES', 'NODE_OPTIONS', 'NODE_PATH'],
    ...['BASH_ENV', 'ENV', 'PATH', 'IFS', 'SHELLOPTS', 'PS4', 'PROMPT_COMMAND', 'EDITOR', 'VISUAL', 'PAGER'],
    ...['PYTHONPATH', 'PYTHONSTARTUP', 'PYTHONHOME', 'PERL5OPT', 'PERL5LIB', 'RUBYOPT', 'RUBYLIB'],
    ...['JAVA_TOOL_OPTIONS', '_JAVA_OPTIONS', 'JDK_JAVA_OPTIONS', 'GIT_SSH_COMMAND', 'GIT_CONFIG_COUNT'],
    ...['npm_config_script_shell', 'NPM_CONFIG_PREFIX'],
  ]
  test.each(REFUSED)('%s is refused unless the operator allows it, in every workspace', (name) => {
    expect(fields(env(name))).toEqual([`adapterConfig.env.${name}`])
    expect(fields(env(name), { env: [name] })).toEqual([])
    expect(fields(env(name), { env: [`${name.slice(0, 3)}*`] })).toEqual([])
    expect(fields(env(name), { env: ['SOMETHING_ELSE'] })).toEqual([`adapterConfig.env.${name}`])
  })

  test('names that only look alike are not', () => {
    const harmless = [
      'API_KEY',
      'LD',
      'MY_PATH',
      'PATHS',
      'ENVIRONMENT',
      'NODE_ENV',
      'GITHUB_TOKEN',
      'PYTHONUNBUFFERED',
    ]
    expect(fields(env(...harmless))).toEqual([])
  })

  test('an agent that runs elsewhere may have any', () => {
    expect(fields({ ...env('LD_PRELOAD'), adapterType: 'external', isFirst: false })).toEqual([])
  })
})

test('programs run as the user of Baton, or as root; kinds that start none run as nobody', () => {
  for (const type of ['process', 'claude_local', 'of_a_third_party'])
    expect([runsAs(type, false), runsAs(type, true)]).toEqual(['baton', 'root'])
  for (const type of ['external', 'simulated', 'http'])
    expect([runsAs(type, false), runsAs(type, true)]).toEqual([null, null])
})

describe('folders with ~', () => {
  test.each([
    ['~', '/srv/baton'],
    ['~/', '/srv/baton'],
    ['~/shop/', '/srv/baton/shop'],
    ['/srv/~/x', '/srv/~/x'],
    ['./~x', './~x'],
    ['shop', 'shop'],
  ])('%s is %s', (folder, path) => {
    expect(inHome(folder, '/srv/baton/')).toEqual({ ok: true, path })
  })

  test('of other users, or without a home, are refused', () => {
    expect(inHome('~anna/shop', '/srv/baton')).toMatchObject({ ok: false })
    expect(inHome('~/shop', null)).toMatchObject({ ok: false })
    expect(inHome('shop', null)).toEqual({ ok: true, path: 'shop' })
  })
})
