import { Command } from 'ioredis'

const HEADERS = Array.from({ length: 4_096 }, (_, bytes) => `\r\n$${bytes}\r\n`)
const headerOf = (bytes: number) => HEADERS[bytes] ?? `\r\n$${bytes}\r\n`

/**
 * A command with thousands of arguments, all texts. The driver's own asks for the bytes of each argument and adds one text to
 * the other; nearly all commands are ASCII, where the bytes are the length, and all texts can be joined at once.
 */
export class LongCommand extends Command {
  override toWritable(): string {
    const text = this.#written((arg) => arg.length)
    return Buffer.byteLength(text) === text.length ? text : this.#written(Buffer.byteLength)
  }

  #written(bytesOf: (arg: string) => number): string {
    const args = this.args as string[]
    const parts = new Array<string>(2 * args.length + 2)
    parts[0] = `*${args.length + 1}${headerOf(this.name.length)}${this.name}`
    let place = 1
    for (const arg of args) {
      parts[place++] = headerOf(bytesOf(arg))
      parts[place++] = arg
    }
    parts[place] = '\r\n'
    return parts.join('')
  }
}
