import { dirname, join, normalize } from 'node:path'
import { RUN_STATES, WAKEUP_STATES } from '../../src/kinds/run/states.ts'
import { shortestCycles } from '../../src/pure/graph.ts'
import { KIND_USES, kindOf, roomOf, THE_LIST, USES } from './rooms.ts'
import { dissect, functionsOf, importsAtOnce, importsAtRunTime, importsOf, lineAt } from './source.ts'

/** A file's path in the repository, with its text. */
export type Files = Record<string, string>
/** What is wrong, one sentence each. */
type Rule = (files: Files) => string[]

const overSource = (files: Files, check: (path: string, text: string) => string[]) =>
  Object.entries(files)
    .filter(([path]) => /^(src|stores)\/.*\.ts$/.test(path))
    .flatMap(([path, text]) => check(path, text))

const RUN_OR_WAKEUP = [...new Set([...RUN_STATES, ...WAKEUP_STATES])].join('|')

/** Outside the rules, what a run or a wakeup may do is asked of kinds/run/states.ts: a state named elsewhere misses new ones. */
export const statesFromTables: Rule = (files) =>
  overSource(files, (path, text) => {
    if (['pure', 'rules', 'adapters', 'transcript'].includes(roomOf(path))) return []
    const compared = new RegExp(`\\bstatus [!=]== '(?:${RUN_OR_WAKEUP})'`, 'g')
    return [...text.matchAll(compared)].map(
      (found) => `${path}:${lineAt(text, found.index)} compares ${found[0]}; ask kinds/run/states.ts.`,
    )
  })

/** Imports go in one direction. */
export const arrows: Rule = (files) =>
  overSource(files, (path, text) => {
    const room = roomOf(path)
    const uses = USES[room]
    if (!uses)
      return [`${path} is in no folder that the tidy test knows: add to its table what ${room} may import.`]
    return targetsOf(path, text)
      .filter((target) => ![room, ...uses].includes(roomOf(target)))
      .map((target) => `${path} must not import ${target}: ${room} uses only ${[room, ...uses].join(', ')}.`)
  })

/** What a kind stores and does may use other kinds only along one table. Their pure files may know each other. */
export const arrowsBetweenKinds: Rule = (files) =>
  overSource(files, (path, text) => {
    const kind = kindOf(path)
    if (kind === null) return []
    const uses = KIND_USES[kind] ?? []
    return targetsOf(path, text)
      .filter((target) => ![kind, ...uses, null].includes(kindOf(target)))
      .map((target) => `${path} must not import ${target}: ${kind} uses only ${uses.join(', ') || 'itself'}.`)
  })

/** Kinds, and folders, that use each other. */
export const cyclesIn = (table: Readonly<Record<string, readonly string[]>>): string[] => {
  const names = Object.keys(table)
  const graph = names.map((name) => table[name]!.map((used) => names.indexOf(used)).filter((at) => at >= 0))
  return shortestCycles(graph).map((cycle) => cycle.map((at) => names[at]).join(' → '))
}

const MOST_KINDS = 2

/** Kinds are listed once: whoever needs all of them takes that list. */
export const kindsAreListedOnce: Rule = (files) =>
  overSource(files, (path, text) => {
    if (path === THE_LIST) return []
    const named = targetsOf(path, text).filter((target) => /^src\/kinds\/[^/]+\/kind\.ts$/.test(target))
    return new Set(named).size > MOST_KINDS
      ? [`${path} imports ${named.join(', ')}: take the list in src/kinds/all.ts.`]
      : []
  })

/** What a part of a kind exports for the list. */
const PARTS =
  /^export const \w+(: \S+)? = (eventsAbout|actsOf\(|endpoint\(|plainKind\()|^export const \w+(Events = \{|(: | = )(Kind|Stored|StoredKind|readonly \(?(UpkeepStep|FollowingStep))\b)/m

/** Every part of a kind or a view is in the list, or nothing would use it. */
export const partsAreListed: Rule = (files) => {
  const list = files[THE_LIST]
  if (list === undefined) return []
  const listed = new Set(importsOf(list).map((name) => targetOf(THE_LIST, name)))
  return overSource(files, (path, text) =>
    /^src\/(kinds|views)\/[^/]+\//.test(path) && PARTS.test(text) && !listed.has(path)
      ? [`${path} has a part of its kind that ${THE_LIST} does not name.`]
      : [],
  )
}

const STORE = /^(src\/(store|memory)|stores)\//
const MAY_OPEN_STORES = ['src/start.ts', 'src/first-start.ts', 'src/queue/open-store.ts']

const targetsOf = (path: string, text: string) =>
  (path === THE_LIST ? importsAtOnce : importsOf)(text).flatMap((name) =>
    name.startsWith('.') ? targetOf(path, name) : [],
  )

const targetOf = (path: string, name: string) => normalize(join(dirname(path), name))

/** Everything but the start works with the interfaces of stores, not with one of them. */
export const storesBehindInterfaces: Rule = (files) =>
  overSource(files, (path, text) => {
    if (STORE.test(path) || MAY_OPEN_STORES.includes(path)) return []
    return targetsOf(path, text)
      .filter((target) => STORE.test(target))
      .map((target) => `${path} must not import ${target}: use src/kernel/store/store.ts or server-store.ts.`)
  })

/** Which rooms of the web app a room may import, beside itself (theme ← parts ← logs, graphs, forms ← things ← pages). */
const DRAWN = ['theme', 'parts', 'keys', 'live', 'requests', 'links.tsx', 'search-params.ts']
const WEB_USES: Record<string, readonly string[]> = {
  theme: [],
  parts: ['theme'],
  keys: ['theme', 'parts'],
  // What is asked and kept knows no components; the words of states are a table of the theme.
  requests: ['live', 'theme'],
  live: ['requests'],
  logs: DRAWN,
  graphs: DRAWN,
  forms: DRAWN,
  notifications: [...DRAWN, 'things'],
  shell: [...DRAWN, 'notifications'],
  // What several pages show of a task, a run, a mission or an agent.
  things: [...DRAWN, 'logs', 'graphs', 'forms'],
  pages: [...DRAWN, 'logs', 'graphs', 'forms', 'things', 'notifications'],
  'links.tsx': [],
  'search-params.ts': [],
  'page-route.ts': ['parts', 'search-params.ts'],
  'routes.tsx': ['pages', 'things', 'shell', 'page-route.ts', 'search-params.ts'],
  'app.tsx': [...DRAWN, 'shell', 'routes.tsx'],
  'main.tsx': [...DRAWN, 'pages', 'app.tsx'],
  'globals.d.ts': [],
}
/** What of the server's sources the app may import. */
const FOR_THE_APP = ['client', 'pure', 'rules', 'transcript']

const overApp = (files: Files, check: (path: string, text: string) => string[]) =>
  Object.entries(files)
    .filter(([path]) => /^web\/src\/.*\.tsx?$/.test(path))
    .flatMap(([path, text]) => check(path, text))

/** Imports within the web app go in one direction, and reach only the pure part of the server. */
export const webArrows: Rule = (files) =>
  overApp(files, (path, text) => {
    const roomIn = (one: string) => one.split('/')[2]!
    const room = roomIn(path)
    const uses = WEB_USES[room]
    if (!uses)
      return [`${path} is in no room that the tidy test knows: add to its table what ${room} may import.`]
    const isAllowed = (target: string) =>
      target.startsWith('web/src/')
        ? [room, ...uses].includes(roomIn(target))
        : FOR_THE_APP.includes(roomOf(target))
    return targetsOf(path, text)
      .filter((target) => !isAllowed(target))
      .map((target) => `${path} must not import ${target}: ${room} uses only ${[room, ...uses].join(', ')}.`)
  })

const PAGE = /^web\/src\/pages\/([^/]+)\//

/** A page imports no other page: what two of them show is a thing. */
export const pagesAlone: Rule = (files) =>
  overApp(files, (path, text) => {
    const page = PAGE.exec(path)?.[1]
    if (page === undefined) return []
    return targetsOf(path, text)
      .filter((target) => (PAGE.exec(target)?.[1] ?? page) !== page)
      .map((target) => `${path} must not import ${target}: move what both pages show to web/src/things.`)
  })

const OF_NODE = /(?<![.\w])(process|Buffer|global|setImmediate|__dirname|require)\b(?=\s*[.(])/g

/** The app is for browsers: the compiler, which reads it together with the server's types, would accept what only Node has. */
export const appIsForBrowsers: Rule = (files) =>
  overApp(files, (path, text) => [
    ...importsOf(text)
      .filter((name) => name.startsWith('node:'))
      .map((name) => `${path} must not import ${name}: browsers have no such module.`),
    ...[...dissect(text).code.matchAll(OF_NODE)].map(
      (match) => `${path}:${lineAt(text, match.index)} uses ${match[1]}: browsers have none.`,
    ),
  ])

const RAW_COLOUR = /#[0-9a-f]{3,8}\b|\b(rgb|hsl|oklch)a?\(/i

/** Colours are tokens, so that both themes have them. The browser's own tab has no theme of ours. */
export const coloursAreTokens: Rule = (files) =>
  overApp(files, (path, text) =>
    path === 'web/src/shell/favicon.ts'
      ? []
      : dissect(text)
          .strings.filter((string) => RAW_COLOUR.test(string.text))
          .map(
            ({ line, text: colour }) =>
              `${path}:${line} has a colour of its own ("${colour.slice(0, 40)}"): use a token.`,
          ),
  )

/** No file imports itself by way of others, not even for types. */
export const noImportCycles: Rule = (files) => {
  const sources = Object.keys(files).filter((path) => /^(src|stores|web\/src)\/.*\.tsx?$/.test(path))
  const placeOf = new Map(sources.map((path, place) => [path, place]))
  const graph = sources.map((path) =>
    targetsOf(path, files[path]!).flatMap((target) => placeOf.get(target) ?? []),
  )
  return shortestCycles(graph).map(
    (cycle) => `These files import each other: ${cycle.map((place) => sources[place]).join(' → ')}.`,
  )
}

const CLIENTS = /^(src\/client|web\/src)\/.*\.tsx?$/

/** Clients take their types from the shapes, and load none of them: zod would be a tenth of what a browser loads. */
export const noShapesInClients: Rule = (files) => {
  const known = new Map<string, boolean>()
  const bringsZod = (path: string): boolean => {
    const answer = known.get(path) ?? loadedBy(path).some((name) => name === 'zod' || bringsZod(name))
    known.set(path, answer)
    return answer
  }
  const loadedBy = (path: string) =>
    importsAtRunTime(files[path] ?? '').map((name) => (name.startsWith('.') ? targetOf(path, name) : name))
  return Object.keys(files)
    .filter((path) => CLIENTS.test(path))
    .flatMap((path) =>
      loadedBy(path)
        .filter((target) => !CLIENTS.test(target) && (target === 'zod' || bringsZod(target)))
        .map((target) => `${path} must not load ${target}, which brings zod: import its types only.`),
    )
}

const QUEUE = 'src/queue/queue.ts'
const LOADED_WHEN_USED = ['pg', 'mysql2', 'ioredis', 'fastify']

/** A queue in a library loads a driver when its store is opened, not before: the acts it shares with the server name the pools by type only. */
export const queueLoadsNoDriver: Rule = (files) => {
  const loadedBy = new Map<string, string>([[QUEUE, '']])
  for (const path of loadedBy.keys())
    for (const name of importsAtOnce(files[path] ?? '')) {
      const target = name.startsWith('.') ? targetOf(path, name) : name
      if (!loadedBy.has(target)) loadedBy.set(target, path)
    }
  return [...loadedBy]
    .filter(([target]) => LOADED_WHEN_USED.some((name) => target === name || target.startsWith(`${name}/`)))
    .map(([target, path]) => `${path} must not load ${target}: ${QUEUE} imports it.`)
}

/** How many files a reader of ARCHITECTURE.md visits for each walk through the code. */
const LONGEST_WALKS = { 'A claim': 20, 'An expiry': 15, 'A run': 32 }

/** The walks are short, and every file that ARCHITECTURE.md names exists. */
export const walksAreShort = (files: Files): string[] => {
  const text = files['ARCHITECTURE.md']
  if (text === undefined) return []
  const named = (part: string) =>
    new Set([...part.matchAll(/`(src\/[\w/.-]+\.ts)`/g)].map(([, path]) => path!))
  const missing = [...named(text)].filter((path) => files[path] === undefined)
  const long = Object.entries(LONGEST_WALKS).flatMap(([name, most]) => {
    const [, walk = ''] = text.split(`## ${name}, file by file`)
    const { size } = named(walk.split('\n## ')[0]!)
    return size > 0 && size <= most
      ? []
      : [`The walk "${name}" names ${size} files; at most ${most} are allowed.`]
  })
  return [...missing.map((path) => `ARCHITECTURE.md names ${path}, which does not exist.`), ...long]
}

const IMPURE: [RegExp, string][] = [
  [/\b(async|await)\b/g, 'waits'],
  [/\bDate\.now\b|\bnew Date\(\s*\)|(?<!new )\bDate\(/g, 'reads the clock'],
  [/\bMath\.random\b|\bcrypto\b/g, 'uses chance'],
  [/\bperformance\b/g, 'reads the clock'],
  [/\bset(Timeout|Interval|Immediate)\b|\bqueueMicrotask\b/g, 'sets a timer'],
  [/\b(process|globalThis|console|fetch|require)\b(?=[.(])/g, 'reaches outside'],
]

const OTHERS_IN_RULES = ['zod', 'yaml']

/** Rules decide: no clock, no randomness, no I/O, and no package but zod and yaml. */
export const pureRules: Rule = (files) =>
  overSource(files, (path, text) => {
    if (!['pure', 'rules'].includes(roomOf(path))) return []
    const foreign = importsOf(text).filter((name) => !name.startsWith('.') && !OTHERS_IN_RULES.includes(name))
    const { code } = dissect(text)
    return [
      ...foreign.map(
        (name) => `${path} must not import ${name}: rules use only ${OTHERS_IN_RULES.join(' and ')}.`,
      ),
      ...IMPURE.filter(([, does]) => path !== THE_LIST || does !== 'waits').flatMap(([pattern, does]) =>
        [...code.matchAll(pattern)].map(
          (match) => `${path}:${lineAt(text, match.index)} ${does} (${match[0]}): rules are pure.`,
        ),
      ),
    ]
  })

const SQL = new RegExp(
  [
    'select\\s+(\\d|\\*|set_config|[\\w."]+\\s*(,|\\(|from\\b|as\\b))',
    'insert\\s+into\\s',
    'update\\s+\\S+\\s+(as\\s+)?(\\w+\\s+)?set\\s',
    'delete\\s+from\\s',
    '(create|alter|drop)\\s+(unique\\s+)?(table|index|role|schema|database|function|policy|sequence|view)\\s',
    'with\\s+\\w+\\s+as\\s*\\(',
    '(begin|commit|rollback|truncate|set\\s+(local\\s+)?\\w+\\s*=)\\b\\s*;?$',
  ]
    .map((statement) => `^\\s*${statement}`)
    .join('|'),
  'i',
)

/** SQL is in files and folders called postgres, in the server's store, and in the stores on other databases. */
export const sqlInPlace: Rule = (files) =>
  overSource(files, (path, text) =>
    /^stores\/|^src\/(embedded-postgres|store)\/|\/postgres(\.ts$|\/)/.test(path)
      ? []
      : dissect(text)
          .strings.filter((string) => SQL.test(string.text))
          .map(
            ({ line, text: sql }) =>
              `${path}:${line} has SQL ("${sql.trim().slice(0, 40)}"): it belongs into a file called postgres.ts.`,
          ),
  )

/** Configuration is read once and passed on: only the entry point reads the environment. */
export const environmentInMain: Rule = (files) =>
  overSource(files, (path, text) => {
    if (path === 'src/main.ts') return []
    const { code } = dissect(text)
    const pattern = /\bprocess\s*\.\s*env\b|\bprocess\s*\[|\{[^{}]*\benv\b[^{}]*\}\s*=\s*process\b/g
    const read = [...code.matchAll(pattern)].map(
      (match) => `${path}:${lineAt(text, match.index)} reads the environment: only src/main.ts does.`,
    )
    const imported = importsOf(text).filter((name) => /^(node:)?process$/.test(name))
    return [...read, ...imported.map((name) => `${path} must not import ${name}.`)]
  })

const LONGEST_FILE = 400
const LONGEST_FUNCTION = 70
/** Half of a component is markup. */
const LONGEST_COMPONENT = 100

/** A long file holds more than one idea, a long function more than one step. */
export const small: Rule = (files) =>
  Object.entries(files)
    .filter(([path]) => /^(src|stores|scripts|web\/src)\/.*\.(tsx?|mjs)$/.test(path))
    .flatMap(([path, text]) => {
      const lines = text.split('\n').length - 1
      const longest = path.endsWith('.tsx') ? LONGEST_COMPONENT : LONGEST_FUNCTION
      return [
        ...(lines > LONGEST_FILE ? [`${path} has ${lines} lines; ${LONGEST_FILE} are enough.`] : []),
        ...functionsOf(text)
          .filter((one) => one.lines > longest)
          .map(
            (one) =>
              `${path}:${one.line} has a function of ${one.lines} lines; ${longest} are enough: ${one.name}`,
          ),
      ]
    })

const everyLine = (files: Files, pattern: RegExp, says: string) =>
  Object.entries(files).flatMap(([path, text]) =>
    text.split('\n').flatMap((line, i) => {
      const [found] = pattern.exec(line) ?? []
      return found ? [`${path}:${i + 1} ${says}: ${found.trim()}`] : []
    }),
  )

// Put together from parts, so that this file does not break its own rules.
const LATER = new RegExp(
  `\\b(${['TO', 'FIX'].map((word) => word + (word === 'TO' ? 'DO' : 'ME')).join('|')})\\b`,
)
const PERSONAL_PATHS = /(^|[\s'"`(=:,])(\/(home|Users|root|work)\/[\w.-]+|[A-Z]:\\Users\\)/

export const nothingForLater: Rule = (files) => everyLine(files, LATER, 'puts something off')
export const noMachineOfOurs: Rule = (files) =>
  everyLine(files, PERSONAL_PATHS, 'names a path on a personal machine')

/** Migrations are numbered from 1 without gaps, or two branches could add the same number unnoticed. */
export const migrationsInOrder: Rule = (files) =>
  Object.keys(files)
    .filter((path) => path.startsWith('src/postgres/schema/migrations/'))
    .map((path) => path.split('/').at(-1)!)
    .sort()
    .flatMap((name, i) => {
      const expected = String(i + 1).padStart(4, '0')
      return new RegExp(`^${expected}_[a-z0-9_]+\\.sql$`).test(name)
        ? []
        : [`The migration ${name} should be named ${expected}_what_it_does.sql.`]
    })

/** A lock file that names hosts installs from one registry only, and shows where it was made. */
export const lockWithoutHosts: Rule = (files) =>
  Object.entries(
    (JSON.parse(files['package-lock.json'] ?? '{}').packages ?? {}) as Record<string, { resolved?: string }>,
  )
    .filter(([, { resolved }]) => resolved !== undefined)
    .map(([name, { resolved }]) => `package-lock.json resolves ${name} at ${resolved}.`)

/** Links between documents point to something. `exists` knows files and folders of the repository. */
export const linksLeadSomewhere = (files: Files, exists: (path: string) => boolean): string[] =>
  Object.entries(files)
    .filter(([path]) => path.endsWith('.md'))
    .flatMap(([path, text]) => {
      const prose = text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '')
      const targets = [...prose.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g)].map(
        ([, target]) => target!,
      )
      return targets
        .filter((target) => !/^([a-z][a-z0-9+.-]*:|#|\/\/)/i.test(target))
        .map(
          (target) =>
            [target, normalize(join(dirname(path), decodeURI(target.replace(/[#?].*$/, ''))))] as const,
        )
        .filter(([, resolved]) => !exists(resolved))
        .map(([target]) => `${path} links to ${target}, which does not exist.`)
    })

/** The map in ARCHITECTURE.md names every folder. */
export const roomsAreOnTheMap: Rule = (files) => {
  const map = files['ARCHITECTURE.md']
  if (map === undefined) return []
  const rooms = new Set(Object.keys(files).flatMap((path) => /^src\/([^/]+)\//.exec(path)?.[1] ?? []))
  return [...rooms]
    .filter((room) => !new RegExp(`(^|[\\s\`/(])${room}/`, 'm').test(map))
    .map((room) => `ARCHITECTURE.md does not name src/${room}/.`)
}
