import { type ChainableCommander, Redis, ReplyError } from 'ioredis'
import { StoreUnavailable } from '../../src/kernel/store/store.ts'
import { StartRefused } from '../../src/pure/refusal.ts'

const CONNECT_WITHIN_MS = 3_000
/** Longer than any answer takes, so that only a dead connection is given up. */
export const ANSWER_WITHIN_MS = 5_000
/**
 * For a connection that is being re-established. A longer wait would build a queue of requests for an unreachable server.
 */
const RECONNECT_WITHIN_MS = 300
const LONGEST_PAUSE_MS = 500

/** `valkey:` is an alias of `redis:`. */
export function redisUrl(url: string): string {
  const translated = url.replace(/^valkey(s?):\/\//i, (_, secure: string) => `redis${secure}://`)
  if (!/^rediss?:\/\//i.test(translated) || !URL.canParse(translated))
    throw new StartRefused(
      'The address of the Valkey server must begin with valkey://, valkeys://, redis:// or rediss://.',
    )
  return translated
}

/**
 * A connection that sends each command once, at once or not at all: a write that is sent again after a reconnect might be
 * done twice, and one that waits for an unreachable server would be done when no caller waits for it any longer.
 */
export function connection(url: string, answerWithinMs: number): Redis {
  const client = new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout: answerWithinMs,
    connectTimeout: CONNECT_WITHIN_MS,
    // A connection that gives no answers is dropped at once, without waiting for QUIT.
    disconnectTimeout: 100,
    keepAlive: 10_000,
    noDelay: true,
    retryStrategy: (attempt) => Math.min(10 * 2 ** Math.min(attempt, 10), LONGEST_PAUSE_MS),
  })
  // The caller gets the error from its command. Without a listener each attempt would be printed.
  client.on('error', () => undefined)
  return client
}

/** Resolves when commands can be sent. */
export async function connected(client: Redis, withinMs = RECONNECT_WITHIN_MS): Promise<void> {
  if (client.status === 'ready') return
  if (client.status === 'end') throw new StoreUnavailable('The store is closed.')
  const isReady = await new Promise<boolean>((resolve) => {
    const settle = (ready: boolean) => {
      clearTimeout(timer)
      client.off('ready', yes)
      resolve(ready)
    }
    const yes = () => settle(true)
    const timer = setTimeout(() => settle(false), withinMs)
    client.on('ready', yes)
  })
  if (!isReady) throw new StoreUnavailable('The Valkey server cannot be reached.')
}

export const isFromServer = (error: unknown): error is Error => error instanceof ReplyError

/** What the server answers when it cannot serve now, though the command was valid. Nothing was written then. */
const NOT_NOW =
  /^(OOM|READONLY|MISCONF|LOADING|BUSY|MASTERDOWN|NOREPLICAS|CLUSTERDOWN|TRYAGAIN|MOVED|ASK|NOAUTH|NOPERM|UNKILLABLE)\b/

const saysNotNow = (error: unknown) => isFromServer(error) && NOT_NOW.test(error.message)

/** For driver errors: errors of the server stay as they are, all others come from the connection. */
export function asUnavailable(error: unknown): unknown {
  if (error instanceof StoreUnavailable || (isFromServer(error) && !saysNotNow(error))) return error
  return new StoreUnavailable((error as Error).message ?? String(error), { cause: error })
}

/** Sends when there is a connection; connection errors become StoreUnavailable. */
export async function ask<T>(client: Redis, question: (client: Redis) => Promise<T>): Promise<T> {
  try {
    await connected(client)
    return await question(client)
  } catch (error) {
    throw asUnavailable(error)
  }
}

type Commands = (string | number)[][]

/** Several commands as one atomic transaction. Answers in their order. */
export const together = (client: Redis, commands: Commands) =>
  answersTo(client, commands, (given) => client.multi(given))

/** The same without atomicity: for commands that need not be consistent with each other. */
export const pipelined = (client: Redis, commands: Commands) =>
  answersTo(client, commands, (given) => client.pipeline(given))

async function answersTo(
  client: Redis,
  commands: Commands,
  send: (commands: [string, ...unknown[]][]) => ChainableCommander,
): Promise<unknown[]> {
  if (commands.length === 0) return []
  return ask(client, async () => {
    const answers = await send(commands as [string, ...unknown[]][]).exec()
    return answers!.map(([error, answer]) => {
      if (error) throw error
      return answer
    })
  })
}
