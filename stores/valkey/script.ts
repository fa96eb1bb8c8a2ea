import { createHash } from 'node:crypto'
import type { Redis } from 'ioredis'
import { isFromServer } from './connect.ts'
import { LongCommand } from './long-command.ts'

/** A Lua script, sent by its hash; its text is sent when the server does not know it. */
export class Script {
  readonly #text: string
  readonly #sha: string

  constructor(text: string) {
    this.#text = text
    this.#sha = createHash('sha1').update(text).digest('hex')
  }

  /** Sent when this returns, if the client is connected: what is sent afterwards runs afterwards. */
  async run<T>(
    client: Redis,
    keys: readonly string[],
    values: readonly string[],
    /** Behind the values: these may be thousands. */
    more: readonly string[] = [],
  ): Promise<T> {
    const send = (command: string, script: string) => {
      // Not client.evalsha(...values): so many arguments would not fit on the stack. Set afterwards: the constructor would
      // copy them one by one, in case they are lists.
      const sent = new LongCommand(command, [], { replyEncoding: 'utf8' })
      const args = [script, String(keys.length), ...keys, ...values]
      for (const value of more) args.push(value)
      sent.args = args
      return client.sendCommand(sent) as Promise<T>
    }
    try {
      return await send('evalsha', this.#sha)
    } catch (error) {
      if (!isFromServer(error) || !error.message.startsWith('NOSCRIPT')) throw error
      return send('eval', this.#text)
    }
  }
}
