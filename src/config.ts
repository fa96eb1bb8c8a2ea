import { resolve } from 'node:path'
import { z } from 'zod'
import { StartRefused } from './core/refusal.ts'

/** Everything that can be set from outside. Read once, here; nobody else looks at the environment. */
export interface Config {
  host: string
  port: number
  dataFolder: string
  /** Null: the embedded Postgres in the data folder. */
  databaseUrl: string | null
  databaseRole: string
  hosts: string[]
  origins: string[]
  logLevel: string
  /** How this process is called among those on the database. */
  nodeName: string | undefined
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

const Environment = z.object({
  BATON_HOST: z.string().min(1).default('127.0.0.1'),
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
    host: set.BATON_HOST,
    port: set.BATON_PORT,
    dataFolder: resolve(set.BATON_DATA),
    databaseUrl: set.DATABASE_URL ?? null,
    databaseRole: set.BATON_DATABASE_ROLE,
    hosts: [...LOOPBACK, ...set.BATON_ALLOWED_HOSTS.map((host) => host.toLowerCase())],
    origins: set.BATON_ALLOWED_ORIGINS,
    logLevel: set.BATON_LOG_LEVEL,
    nodeName: set.BATON_NODE_NAME,
  }
}
