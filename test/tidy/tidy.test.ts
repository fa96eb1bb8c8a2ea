import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { KIND_USES, USES } from './rooms.ts'
import * as rules from './rules.ts'
import { dissect, functionsOf, importsOf } from './source.ts'

const repository = resolve(import.meta.dirname, '../..')
const NOT_OURS = new Set(['node_modules', 'dist', '.git', '.baton', 'results'])
const TEXT = /\.(ts|tsx|mjs|js|json|md|sql|ya?ml|sh)$/

function readAll(folder: string, found: rules.Files = {}): rules.Files {
  for (const entry of readdirSync(join(repository, folder), { withFileTypes: true })) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (entry.isDirectory() && !NOT_OURS.has(entry.name)) readAll(path, found)
    else if (entry.isFile() && TEXT.test(entry.name))
      found[path] = readFileSync(join(repository, path), 'utf8')
  }
  return found
}

const files = readAll('')
const withoutLock = Object.fromEntries(Object.entries(files).filter(([path]) => path !== 'package-lock.json'))
/** Asserts that a rule finds this many faults in a sample, so that no rule accepts everything. */
const bites = (faults: string[], count = 1) => expect(faults, faults.join('\n')).toHaveLength(count)
const source = (path: string, ...lines: string[]) => ({ [path]: `${lines.join('\n')}\n` })

describe('folders import each other in one direction', () => {
  test('in our sources', () => {
    expect(Object.keys(files).filter((path) => path.startsWith('src/')).length).toBeGreaterThan(40)
    expect(rules.arrows(files)).toEqual([])
    expect(rules.cyclesIn(USES)).toEqual([])
  })

  test('and the rule finds violations', () => {
    const imports = (path: string, ...lines: string[]) => rules.arrows(source(path, ...lines))
    bites(imports('src/pure/a.ts', `import { b } from '../kernel/b.ts'`))
    bites(imports('src/kinds/task/rules/a.ts', `import type { b } from '../acts/b.ts'`))
    bites(imports('src/kinds/task/record.ts', `import type { b } from './postgres.ts'`))
    bites(imports('src/kernel/deep/a.ts', `export * from '../../kinds/task/acts.ts'`))
    bites(imports('src/views/board/acts.ts', `const b = await import('../../server/b.ts')`))
    bites(imports('src/kinds/task/acts/a.ts', `import '../../../upkeep/b.ts'`))
    bites(imports('src/server/a.ts', `import {`, `  b,`, `} from '../upkeep/b.ts'`))
    bites(imports('src/kernel/a.ts', `import b from '../../test/b.ts'`))
    bites(imports('src/kernel/a.ts', `import b from '../start.ts'`))
    bites(imports('stores/valkey/a.ts', `import b from '../../src/door/b.ts'`))
    bites(imports('src/attic/a.ts', ``))
    bites(imports('src/door/a.ts', `import type { b } from '../kinds/task/postgres.ts'`))
    bites(imports('src/kinds/task/acts.ts', `import { b } from '../../store/b.ts'`))
    bites(imports('src/server/a.ts', `import b from '../kinds/task/acts.ts'`, `// from '../upkeep/b.ts'`), 0)
    bites(rules.cyclesIn({ a: ['b'], b: ['a'], c: ['a'] }))
  })
})

describe('what kinds store and do uses other kinds in one direction', () => {
  test('in our sources', () => {
    expect(rules.arrowsBetweenKinds(files)).toEqual([])
    expect(rules.cyclesIn(KIND_USES)).toEqual([])
  })

  test('and the rule finds violations', () => {
    const imports = (path: string, target: string) =>
      rules.arrowsBetweenKinds(source(path, `import { b } from '${target}'`))
    bites(imports('src/kinds/task/acts.ts', '../mission/acts/b.ts'))
    bites(imports('src/kinds/task/postgres/a.ts', '../../mission/postgres.ts'))
    bites(imports('src/kinds/attic/acts.ts', '../task/acts.ts'))
    bites(imports('src/kinds/attic/acts.ts', './postgres.ts'), 0)
    bites(imports('src/kinds/mission/acts/a.ts', '../../task/acts.ts'), 0)
    bites(imports('src/kinds/task/acts.ts', '../mission/rules/b.ts'), 0)
    bites(imports('src/kinds/task/rules/a.ts', '../../mission/record.ts'), 0)
  })
})

describe('kinds are listed in one file', () => {
  test('in our sources', () => expect(rules.kindsAreListedOnce(files)).toEqual([]))

  test('and the rule finds violations', () => {
    const kinds = (path: string, ...names: string[]) =>
      rules.kindsAreListedOnce(
        source(path, ...names.map((name) => `import { ${name} } from '../kinds/${name}/kind.ts'`)),
      )
    bites(kinds('src/kernel/a.ts', 'agent', 'mission', 'routine'))
    bites(kinds('src/kernel/a.ts', 'agent', 'mission'), 0)
    bites(kinds('src/kinds/all.ts', 'agent', 'mission', 'routine'), 0)
  })
})

describe('the list of kinds has every part of each', () => {
  test('in our sources', () => expect(rules.partsAreListed(files)).toEqual([]))

  test('and the rule finds violations', () => {
    const list = source('src/kinds/all.ts', "const a = async () => (await import('./note/acts.ts')).noteActs")
    const part = (path: string, text: string) => rules.partsAreListed({ ...list, ...source(path, text) })
    bites(part('src/kinds/note/acts.ts', 'export const noteActs = actsOf(api)({'), 0)
    bites(part('src/kinds/tag/acts.ts', 'export const tagActs = actsOf(api)({'))
    bites(part('src/kinds/tag/events.ts', 'export const tagEvents = {'))
    bites(part('src/kinds/tag/kind.ts', 'export const tagKind: Kind<TagTypes> = {'))
    bites(part('src/kinds/tag/api.ts', 'export const listTags = endpoint({'))
    bites(part('src/kinds/tag/postgres.ts', "export const storedTags = plainKind('tag', {"))
    bites(part('src/views/tags/upkeep.ts', 'export const tagSteps: readonly UpkeepStep[] = ['))
    bites(part('src/kinds/tag/rules.ts', 'export const oldest = (tags: Tag[]) => tags[0]'), 0)
  })
})

describe('only the start and the opener of queues import a store', () => {
  test('in our sources', () => expect(rules.storesBehindInterfaces(files)).toEqual([]))

  test('and the rule finds violations', () => {
    const imports = (path: string, target: string) =>
      rules.storesBehindInterfaces(source(path, `import type { a } from '${target}'`))
    bites(imports('src/kernel/a.ts', '../store/store.ts'))
    bites(imports('src/kernel/a.ts', '../../stores/mysql/store.ts'))
    bites(imports('src/start.ts', './store/store.ts'), 0)
    bites(imports('src/upkeep/a.ts', '../door/server-store.ts'), 0)
  })
})

describe('the web app uses nothing that only Node has', () => {
  test('in our sources', () => expect(rules.appIsForBrowsers(files)).toEqual([]))

  test('and the rule finds violations', () => {
    const line = (text: string) => rules.appIsForBrowsers(source('web/src/live/a.ts', text))
    bites(line("import { join } from 'node:path'"))
    bites(line('const a = process.env.A'))
    bites(line('const a = Buffer.from("a")'))
    bites(line('const a = run.process.pid // process.env'), 0)
  })
})

describe('rooms of the web app import each other in one direction', () => {
  test('in our sources', () => {
    expect(Object.keys(files).filter((path) => path.startsWith('web/src/')).length).toBeGreaterThan(40)
    expect(rules.webArrows(files)).toEqual([])
  })

  test('and the rule finds violations', () => {
    const web = (path: string, target: string) =>
      rules.webArrows(source(`web/src/${path}`, `import { b } from '${target}'`))
    bites(web('theme/a.ts', '../parts/b.tsx'))
    bites(web('parts/a.tsx', '../pages/board/b.tsx'))
    bites(web('live/a.ts', '../parts/b.tsx'))
    bites(web('pages/board/a.tsx', '../../shell/b.tsx'))
    bites(web('attic/a.ts', './b.ts'))
    bites(web('live/a.ts', '../../../src/kinds/task/acts.ts'))
    bites(web('live/a.ts', '../../../src/kinds/task/rules/b.ts'), 0)
    bites(web('pages/board/a.tsx', '../../parts/b.tsx'), 0)
    bites(web('things/task/a.tsx', '../../pages/board/b.tsx'))
  })
})

describe('pages of the web app do not import each other', () => {
  test('in our sources', () => expect(rules.pagesAlone(files)).toEqual([]))

  test('and the rule finds violations', () => {
    const page = (line: string) => rules.pagesAlone(source('web/src/pages/board/a.tsx', line))
    bites(page(`import { b } from '../task/b.tsx'`))
    bites(page(`const b = lazy(() => import('../task/b.tsx'))`))
    bites(page(`import { b } from './b.tsx'`), 0)
    bites(page(`import { b } from '../../things/task/b.tsx'`), 0)
  })
})

describe('colours of the web app are tokens', () => {
  test('in our sources', () => expect(rules.coloursAreTokens(files)).toEqual([]))

  test('and the rule finds violations', () => {
    const web = (line: string) => rules.coloursAreTokens(source('web/src/parts/a.tsx', line))
    bites(web(`<p className="text-[#ff0000]">a</p>`))
    bites(web(`const style = { color: 'rgb(0 0 0)' }`))
    bites(web(`<p className="text-muted">#1042</p>`), 0)
  })
})

describe('files do not import each other in cycles', () => {
  test('in our sources', () => expect(rules.noImportCycles(files)).toEqual([]))

  test('and the rule finds violations', () => {
    const a = source('src/pure/a.ts', `import type { B } from './b.ts'`)
    bites(rules.noImportCycles({ ...a, ...source('src/pure/b.ts', `export * from './a.ts'`) }))
    bites(rules.noImportCycles({ ...a, ...source('src/pure/b.ts', `export type B = 1`) }), 0)
  })
})

describe('clients load no shapes', () => {
  test('in our sources', () => {
    expect(Object.keys(files).filter((path) => path.startsWith('src/client/')).length).toBeGreaterThan(3)
    expect(rules.noShapesInClients(files)).toEqual([])
  })

  test('and the rule finds violations', () => {
    const shapes = {
      ...source('src/pure/shapes/a.ts', `import { z } from 'zod'`),
      ...source('src/pure/b.ts', `export { a } from './shapes/a.ts'`),
      ...source('src/pure/c.ts', `import type { a } from './shapes/a.ts'`),
    }
    const loads = (path: string, ...lines: string[]) =>
      rules.noShapesInClients({ ...shapes, ...source(path, ...lines) })
    bites(loads('src/client/d.ts', `import { a } from '../pure/shapes/a.ts'`))
    bites(loads('src/client/d.ts', `import { type A } from '../pure/b.ts'`))
    bites(loads('web/src/d.tsx', `import { z } from 'zod'`, `import { a } from '../../src/pure/b.ts'`), 2)
    bites(loads('web/src/d.ts', `const a = await import('../../src/pure/b.ts')`))
    bites(loads('web/src/d.ts', `import type { z } from 'zod'`, `import { c } from '../../src/pure/c.ts'`), 0)
    bites(loads('src/client/d.ts', `import type {`, `  A,`, `} from '../pure/shapes/a.ts'`), 0)
    bites(loads('src/client/d.ts', `export type * from '../pure/b.ts'`), 0)
    bites(loads('src/client/d.ts', `type A = typeof import('../pure/b.ts')`), 0)
    bites(loads('src/server/d.ts', `import { a } from '../pure/shapes/a.ts'`), 0)
  })
})

describe('a queue in a library loads no driver before it opens its store', () => {
  test('in our sources', () => {
    expect(files['src/queue/queue.ts']).toContain('import ')
    expect(rules.queueLoadsNoDriver(files)).toEqual([])
  })

  test('and the rule finds violations', () => {
    const loads = (...lines: string[]) =>
      rules.queueLoadsNoDriver({
        ...source('src/queue/queue.ts', `import { a } from '../kernel/a.ts'`),
        ...source('src/kernel/a.ts', ...lines),
        ...source('src/postgres/b.ts', `import pg from 'pg'`),
      })
    bites(loads(`import pg from 'pg'`))
    bites(loads(`import { b } from '../postgres/b.ts'`))
    bites(loads(`import mysql from 'mysql2/promise'`))
    bites(loads(`import type pg from 'pg'`, `const b = await import('../postgres/b.ts')`), 0)
  })
})

describe('states of runs and wakeups are named in the rules only', () => {
  test('in our sources', () => expect(rules.statesFromTables(files)).toEqual([]))

  test('and the rule finds violations', () => {
    bites(rules.statesFromTables(source('src/kernel/a.ts', `if (run.status === 'queued') start()`)))
    bites(rules.statesFromTables(source('src/postgres/a.ts', `const isIdle = wakeup?.status !== 'claimed'`)))
    bites(
      rules.statesFromTables(source('src/kinds/run/rules/a.ts', `if (run.status === 'queued') start()`)),
      0,
    )
    bites(rules.statesFromTables(source('src/kernel/a.ts', `if (isLive(run.status)) stop()`)), 0)
  })
})

describe('the walks of ARCHITECTURE.md are short and name files that exist', () => {
  test('in our sources', () => expect(rules.walksAreShort(files)).toEqual([]))

  test('and the rule finds violations', () =>
    bites(rules.walksAreShort({ 'ARCHITECTURE.md': '## A claim, file by file\n`src/a.ts`\n' }), 3))
})

describe('rules are pure', () => {
  test('in our sources', () => expect(rules.pureRules(files)).toEqual([]))

  test('and the rule finds violations', () => {
    const core = (...lines: string[]) => rules.pureRules(source('src/kinds/task/rules/a.ts', ...lines))
    bites(core(`import { join } from 'node:path'`))
    bites(core(`import pg from 'pg'`))
    bites(core(`import { z } from 'zod'`, `import { Parser } from 'yaml'`), 0)
    bites(core(`export async function a() {}`))
    bites(core(`const b = await c`))
    bites(core(`const now = Date.now()`))
    bites(core(`const now = new Date()`))
    bites(core(`const now = Date()`))
    bites(core(`const now = performance.now()`))
    bites(core(`const chance = Math.random()`))
    bites(core(`const id = crypto.randomUUID()`), 1)
    bites(core(`setTimeout(later, 10)`))
    bites(core(`const { pid } = process.memoryUsage()`))
    bites(core(`const text = \`at \${Date.now()}\``))
    bites(core(`import { z } from 'zod'`, `const text = new Date(ms).toISOString() // never Date.now()`), 0)
    bites(core(`const state = 'await' + "async"`, `/* process.env */`), 0)
    bites(rules.pureRules(source('src/kinds/task/acts.ts', `const now = Date.now()`)), 0)
    bites(rules.pureRules(source('src/pure/a.ts', `const now = Date.now()`)))
    bites(rules.pureRules(source('src/kinds/task/shapes.ts', `const now = Date.now()`)))
  })
})

describe('SQL is only in files and folders called postgres', () => {
  test('in our sources', () => expect(rules.sqlInPlace(files)).toEqual([]))

  test('and the rule finds violations', () => {
    const sql = (line: string, path = 'src/server/a.ts') => rules.sqlInPlace(source(path, line))
    bites(sql(`pool.query('select 1')`))
    bites(sql(`pool.query(\`select title from tasks where id = \${id}\`)`))
    bites(sql('pool.query(`\n  SELECT * FROM tasks`)'))
    bites(sql(`pool.query("select count(*) from tasks")`))
    bites(sql(`pool.query('insert into tasks values (1)')`))
    bites(sql(`pool.query('update tasks set state = 1')`))
    bites(sql(`pool.query('update tasks t set state = 1')`))
    bites(sql(`pool.query('delete from tasks')`))
    bites(sql(`pool.query('create table a (b int)')`))
    bites(sql('pool.query(`with a as (select 1) select 2`)'))
    bites(sql(`pool.query('commit')`))
    bites(sql(`pool.query('select 1')`, 'src/kinds/task/acts.ts'))
    bites(sql(`pool.query('select 1')`, 'src/kinds/task/postgres.ts'), 0)
    bites(sql(`pool.query('select 1')`, 'src/kinds/task/postgres/a.ts'), 0)
    bites(sql(`pool.query('select 1')`, 'src/postgres/deep/a.ts'), 0)
    bites(sql(`summary('Create a task, select an agent, update what it says or delete from the board')`), 0)
    bites(sql(`// pool.query('select 1')`), 0)
  })
})

describe('only the entry point reads the environment', () => {
  test('in our sources', () => expect(rules.environmentInMain(files)).toEqual([]))

  test('and the rule finds violations', () => {
    const environment = (line: string, path = 'src/kernel/a.ts') =>
      rules.environmentInMain(source(path, line))
    bites(environment(`const port = process.env.PORT`))
    bites(environment(`const { env } = process`))
    bites(environment(`const port = process['env'].PORT`))
    bites(environment(`import { env } from 'node:process'`))
    bites(environment(`readConfig(process.env)`, 'src/main.ts'), 0)
    bites(environment(`function readConfig(env: NodeJS.ProcessEnv) {}`, 'src/config.ts'), 0)
  })
})

describe('files and functions are small', () => {
  test('in our sources', () => expect(rules.small(files)).toEqual([]))

  test('and the rule finds violations', () => {
    const lines = (count: number) => Array.from({ length: count }, (_, i) => `  a(${i})`)
    const small = (...text: string[]) => rules.small(source('src/kernel/a.ts', ...text))
    bites(small(...lines(401)))
    bites(small(...lines(400)), 0)
    bites(small('function a() {', ...lines(69), '}'))
    bites(small('function a() {', ...lines(68), '}'), 0)
    bites(small('export async function a(', '  b: string,', '): Promise<{ c: number }> {', ...lines(70), '}'))
    bites(small('const a = (b: number) => {', ...lines(70), '}'))
    bites(small('class A {', '  async #b(): Promise<void> {', ...lines(70), '  }', '}'))
    bites(small('class A {', ...lines(90), '}'), 0)
    bites(small('if (a(b)) {', ...lines(90), '}'), 0)
    bites(small('const table = {', ...lines(90), '}'), 0)
  })
})

describe('nothing is postponed, and nothing names a machine of ours', () => {
  test('in our files', () => {
    expect(rules.nothingForLater(withoutLock)).toEqual([])
    expect(rules.noMachineOfOurs(withoutLock)).toEqual([])
  })

  test('and the rules find violations', () => {
    bites(rules.nothingForLater(source('a.ts', `// ${'TO'}${'DO'}: later`, `// ${'FIX'}${'ME'}`)), 2)
    bites(rules.nothingForLater(source('a.md', 'all is done, todos are for others')), 0)
    const path = (...parts: string[]) => source('a.ts', `const a = '${['', ...parts].join('/')}'`)
    bites(rules.noMachineOfOurs(path('home', 'ada', 'baton')))
    bites(rules.noMachineOfOurs(path('Users', 'ada', 'baton')))
    bites(rules.noMachineOfOurs(path('work', 'main')))
    bites(rules.noMachineOfOurs(source('a.md', `see C:${'\\'}Users${'\\'}ada`)))
    bites(rules.noMachineOfOurs(path('tmp', 'work', 'main')), 0)
    bites(rules.noMachineOfOurs(source('a.ts', `import '../work/main.ts'`)), 0)
  })
})

describe('migrations are numbered without gaps', () => {
  test('in our folder', () => expect(rules.migrationsInOrder(files)).toEqual([]))

  test('and the rule finds violations', () => {
    const named = (...names: string[]) =>
      rules.migrationsInOrder(
        Object.fromEntries(names.map((name) => [`src/postgres/schema/migrations/${name}`, ''])),
      )
    bites(named('0002_more.sql'))
    bites(named('0001_one.sql', '0003_three.sql'))
    bites(named('0001_one.sql', '0001_other.sql'))
    bites(named('0001_One.sql'))
    bites(named('0001_one.sql', 'notes.txt'))
    bites(named('0001_one.sql', '0002_two.sql'), 0)
  })
})

describe('the lock file names no hosts', () => {
  test('in our lock file', () => {
    expect(files['package-lock.json']).toContain('"packages"')
    expect(rules.lockWithoutHosts(files)).toEqual([])
  })

  test('and the rule finds violations', () => {
    const packages = {
      'node_modules/a': { resolved: 'https://registry.example/a.tgz' },
      'node_modules/b': {},
    }
    bites(rules.lockWithoutHosts({ 'package-lock.json': JSON.stringify({ packages }) }))
  })
})

describe('links between documents point to something', () => {
  test('in our documents', () =>
    expect(rules.linksLeadSomewhere(files, (path) => existsSync(join(repository, path)))).toEqual([]))

  test('and the rule finds violations', () => {
    const links = (text: string) =>
      rules.linksLeadSomewhere(source('docs/a.md', text), (path) => path === 'docs/b.md')
    bites(links('[b](c.md)'))
    bites(links('[b](../b.md)'))
    bites(links('![b](b.png "a picture")'))
    bites(links('[b](c.md#part) and [b](b.md#part)'))
    bites(
      links('[b](b.md), [b](./b.md), [b](https://example.org/c.md), [b](#part), [b](mailto:a@example.org)'),
      0,
    )
    bites(links('`[b](c.md)`\n```\n[b](c.md)\n```'), 0)
  })
})

describe('the map in ARCHITECTURE.md names every folder', () => {
  test('if there is one', () => expect(rules.roomsAreOnTheMap(files)).toEqual([]))

  test('and the rule finds violations', () => {
    const cluster = { 'src/pure/a.ts': '', 'src/kernel/a.ts': '', 'src/main.ts': '' }
    bites(
      rules.roomsAreOnTheMap({
        ...cluster,
        'ARCHITECTURE.md': '`src/pure/` holds the words; the kernel is elsewhere.',
      }),
    )
    bites(
      rules.roomsAreOnTheMap({ ...cluster, 'ARCHITECTURE.md': '```\n  pure/  words\n  kernel/  steps\n```' }),
      0,
    )
  })
})

describe('the parser of sources', () => {
  test('distinguishes code from comments, strings, templates and patterns', () => {
    const text = `const a = 'x // y' // z\nconst b = \`p\${c + \`q\${d}\`}r\` /* s */ + /[/'\`]t/.test(e) + f / g / h\n`
    const { code, strings } = dissect(text)
    expect(code).toHaveLength(text.length)
    expect(code.replace(/ +/g, ' ')).toBe(
      `const a = ' '\u0020\nconst b = \` \${c + \` \${d}\`}\u0020\` + / /.test(e) + f / g / h\n`,
    )
    expect(strings.map((string) => string.text)).toEqual(['x // y', 'p', 'q', '', 'r'])
    expect(strings.map((string) => string.line)).toEqual([1, 2, 2, 2, 2])
  })

  test('reads elements as code', () => {
    const { code } = dissect(`const a = <b c="d">it's</b>\nconst e = f / g + <h />\nconst i = 'j'\n`)
    expect(code).toBe(`const a = <b c=" ">it'     \nconst e = f / g + <h />\nconst i = ' '\n`)
  })

  test('finds imports of every kind, and none in comments', () => {
    const text = `import a from 'a'\nimport 'b'\nexport { c } from "c"\nconst d = await import('d')\n// from 'e'\n`
    expect(importsOf(text)).toEqual(['a', 'b', 'c', 'd'])
  })

  test('measures functions of every kind', () => {
    const text = [
      'export async function one(',
      '  a: string,',
      '): Promise<void> {',
      '  await a',
      '}',
      'const two = async () => {',
      '  call((x) => {',
      '    x()',
      '  })',
      '}',
    ].join('\n')
    expect(functionsOf(text).map(({ line, lines }) => [line, lines])).toEqual([
      [1, 5],
      [6, 5],
      [7, 3],
    ])
  })
})
