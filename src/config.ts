import { isAbsolute, resolve } from 'node:path'
import { z } from 'zod'
import type { AgentPolicy } from './kinds/agent/rules/allowed-on-node.ts'
import { isAllowable } from './outgoing/addresses.ts'
import { StartRefused } from './pure/refusal.ts'

/** All settings. Read once, here; no other code reads the environment. */
export interface Config {
  host: string
  /** The other loopback address, where Baton listens too; null: the host was chosen. */
  otherHost: string | null
  port: number
  dataFolder: string
  /** Null: the embedded Postgres in the data folder. */
  databaseUrl: string | null
  databaseRole: string
  hosts: string[]
  origins: string[]
  logLevel: string
  /** The name of this node in the cluster. */
  nodeName: string | undefined
  /** Where the output of runs is stored (BATON_LOGS, parsed by src/logs/settings.ts). */
  logs: string | undefined
  /** Retention of run logs; null: forever. */
  keepLogsDays: number | null
  /** The size limit of one run's log; null: unlimited. */
  maxLogBytes: number | null
  /** Whether the logs of finished runs are compressed. */
  compressLogs: boolean
  /** How much of each stream of its output is stored with a run. */
  excerptBytes: number
  /** Disk space that logs must leave free. */
  minFreeBytes: number
  /** Modules with third-party adapters. */
  adapterPaths: string[]
  /** Folders in which agents may work; empty: any folder. */
  agentRoots: string[]
  /** Which adapters, commands and variables agents may use on this node. */
  agentPolicy: AgentPolicy
  /** How many runs this node executes at once. */
  mostRuns: number
  /** How many connections this node holds open at once. */
  mostConnections: number
  /** How many requests with wrong keys one address may send a minute. */
  wrongKeysPerMinute: number
  /** How many streams may be open under one key. */
  streamsPerKey: number
  /** Inner addresses, nets and hosts that webhooks may be sent to. */
  webhookAllow: string[]
  /** Where metrics are served to everybody on this machine; null: only with a key. */
  metricsPort: number | null
  /** How many workspaces, and how many projects, have series of their own. */
  metricsLabels: number
  /** Where spans are sent (OTLP over HTTP); null: nothing is traced. */
  traceEndpoint: string | null
  /** The page of a trace, with {traceId} in place of its id. */
  traceUrl: string | null
  /** The URL at which agents reach this node, if not the one it listens on. */
  publicUrl: string | undefined
  /** Baton's own environment. Agents get only the variables listed in src/executor/environment.ts. */
  environment: Readonly<Record<string, string | undefined>>
}

const list = z
  .string()
  .default('')
  .transform((text) =>
    text
      .split(',')
      .map((item) => item.trim())
      .filter(Boolean),
  )

/** Two excerpts are in the row of each run, and a list has many runs. */
const MIN_EXCERPT_BYTES = 1024
const MAX_EXCERPT_BYTES = 1024 * 1024
const EXCERPT_BOUNDS = `must be a number of bytes from ${MIN_EXCERPT_BYTES} to ${MAX_EXCERPT_BYTES}`

const Environment = z.object({
  BATON_HOST: z.string().min(1).optional(),
  BATON_PORT: z
    .string()
    .regex(/^\d{1,5}$/, 'must be a port number')
    .transform(Number)
    .refine((port) => port <= 65_535, 'must be a port number')
    .default(4400),
  BATON_DATA: z.string().min(1).default('.baton'),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must begin with postgres://')
    .refine((url) => URL.canParse(url), 'is not a URL')
    .optional(),
  BATON_DATABASE_ROLE: z
    .string()
    .regex(/^[a-z_][a-z0-9_]{0,62}$/, 'must be a plain role name')
    .default('baton_server'),
  BATON_ALLOWED_HOSTS: list,
  BATON_ALLOWED_ORIGINS: list,
  BATON_NODE_NAME: z.string().min(1).max(200).optional(),
  BATON_LOGS: z.string().optional(),
  BATON_KEEP_LOGS_DAYS: z
    .string()
    .regex(/^\d{1,5}$/, 'must be a number of days (0 keeps logs forever)')
    .transform(Number)
    .default(30),
  BATON_MAX_LOG_BYTES: z
    .string()
    .regex(/^\d{1,15}$/, 'must be a number of bytes (0 keeps all output)')
    .transform(Number)
    .default(256 * 1024 * 1024),
  BATON_MIN_FREE_BYTES: z
    .string()
    .regex(/^\d{1,15}$/, 'must be a number of bytes')
    .transform(Number)
    .default(1024 * 1024 * 1024),
  BATON_COMPRESS_LOGS: z
    .enum(['true', 'false'], 'must be true or false')
    .transform((value) => value === 'true')
    .default(true),
  BATON_EXCERPT_BYTES: z
    .string()
    .regex(/^\d{1,8}$/, EXCERPT_BOUNDS)
    .transform(Number)
    .refine((bytes) => bytes >= MIN_EXCERPT_BYTES && bytes <= MAX_EXCERPT_BYTES, EXCERPT_BOUNDS)
    .default(32 * 1024),
  BATON_ADAPTERS: list,
  BATON_AGENT_ROOTS: list,
  BATON_AGENT_ADAPTERS: list,
  BATON_AGENT_COMMANDS: list.refine(
    (commands) => commands.every((command) => !command.includes('/') || isAbsolute(command)),
    'must list program names and absolute paths',
  ),
  BATON_AGENT_ENV: list.refine(
    (names) => names.every((name) => /^[A-Za-z_][A-Za-z0-9_]*\*?$/.test(name)),
    'must list variable names, or prefixes followed by *',
  ),
  BATON_MAX_RUNS: z
    .string()
    .regex(/^\d{1,5}$/, 'must be a number of runs')
    .transform(Number)
    .default(64),
  BATON_MAX_CONNECTIONS: z
    .string()
    .regex(/^[1-9]\d{0,6}$/, 'must be a number of connections')
    .transform(Number)
    .default(10_000),
  BATON_WRONG_KEYS_PER_MINUTE: z
    .string()
    .regex(/^[1-9]\d{0,8}$/, 'must be a number of requests')
    .transform(Number)
    .default(50),
  BATON_STREAMS_PER_KEY: z
    .string()
    .regex(/^[1-9]\d{0,8}$/, 'must be a number of streams')
    .transform(Number)
    .default(50),
  BATON_WEBHOOK_ALLOW: list.refine(
    (allowed) => allowed.every(isAllowable),
    'must list addresses, nets such as 10.0.0.0/8, and host names',
  ),
  BATON_METRICS_PORT: z
    .string()
    .regex(/^\d{1,5}$/, 'must be a port number')
    .transform(Number)
    .refine((port) => port <= 65_535, 'must be a port number')
    .optional(),
  BATON_METRICS_LABELS: z
    .string()
    .regex(/^\d{1,4}$/, 'must be a number of workspaces, at most 1000')
    .transform(Number)
    .refine((most) => most <= 1_000, 'must be a number of workspaces, at most 1000')
    .default(100),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .string()
    .regex(/^https?:\/\//, 'must begin with http:// or https://')
    .refine((url) => URL.canParse(url), 'is not a URL')
    .optional(),
  BATON_TRACE_URL: z
    .string()
    .regex(/^https?:\/\//, 'must begin with http:// or https://')
    .refine((url) => URL.canParse(url), 'is not a URL')
    .refine((url) => url.includes('{traceId}'), 'must contain {traceId}')
    .optional(),
  BATON_PUBLIC_URL: z
    .string()
    .regex(/^https?:\/\//, 'must begin with http:// or https://')
    .refine((url) => URL.canParse(url), 'is not a URL')
    .refine((url) => !/[?#@]/.test(url), 'must not contain a password, ? or #')
    .optional(),
  BATON_LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('warn'),
})

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

export function readConfig(env: NodeJS.ProcessEnv): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const parsed = Environment.safeParse(given)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    // The value is not repeated: it may hold a password.
    throw new StartRefused(`${issue!.path.join('.')} ${issue!.message}.`)
  }
  const set = parsed.data
  return {
    host: set.BATON_HOST ?? '127.0.0.1',
    otherHost: set.BATON_HOST === undefined ? '::1' : null,
    port: set.BATON_PORT,
    dataFolder: resolve(set.BATON_DATA),
    databaseUrl: set.DATABASE_URL ?? null,
    databaseRole: set.BATON_DATABASE_ROLE,
    hosts: [...LOOPBACK, ...set.BATON_ALLOWED_HOSTS.map((host) => host.toLowerCase())],
    origins: set.BATON_ALLOWED_ORIGINS,
    logLevel: set.BATON_LOG_LEVEL,
    nodeName: set.BATON_NODE_NAME,
    logs: set.BATON_LOGS,
    keepLogsDays: set.BATON_KEEP_LOGS_DAYS === 0 ? null : set.BATON_KEEP_LOGS_DAYS,
    maxLogBytes: set.BATON_MAX_LOG_BYTES === 0 ? null : set.BATON_MAX_LOG_BYTES,
    compressLogs: set.BATON_COMPRESS_LOGS,
    excerptBytes: set.BATON_EXCERPT_BYTES,
    minFreeBytes: set.BATON_MIN_FREE_BYTES,
    adapterPaths: set.BATON_ADAPTERS,
    agentRoots: set.BATON_AGENT_ROOTS.map((root) => resolve(root)),
    agentPolicy: {
      adapters: set.BATON_AGENT_ADAPTERS,
      commands: given.BATON_AGENT_COMMANDS === undefined ? null : set.BATON_AGENT_COMMANDS,
      env: set.BATON_AGENT_ENV,
    },
    mostRuns: set.BATON_MAX_RUNS,
    mostConnections: set.BATON_MAX_CONNECTIONS,
    wrongKeysPerMinute: set.BATON_WRONG_KEYS_PER_MINUTE,
    streamsPerKey: set.BATON_STREAMS_PER_KEY,
    webhookAllow: set.BATON_WEBHOOK_ALLOW,
    metricsPort: set.BATON_METRICS_PORT ?? null,
    metricsLabels: set.BATON_METRICS_LABELS,
    traceEndpoint: set.OTEL_EXPORTER_OTLP_ENDPOINT ?? null,
    traceUrl: set.BATON_TRACE_URL ?? null,
    publicUrl: set.BATON_PUBLIC_URL?.replace(/\/+$/, ''),
    environment: env,
  }
}
