const NOTHING = 0x811c9dc5

/** FNV-1a: it distinguishes runs and results, and protects nothing. */
function mixed(hash: number, text: string): number {
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash
}

const digits = (hash: number) => (hash >>> 0).toString(16).padStart(8, '0')
export const hashOf = (text: string) => digits(mixed(NOTHING, text))

/** What happened, line by line: the last lines for people, and a hash of all of them to compare two runs by. */
export class Trace {
  readonly #keep: number
  readonly #last: string[] = []
  readonly #names = new Map<string, string>()
  #hash = NOTHING
  lines = 0

  constructor(keep: number) {
    this.#keep = keep
  }

  /** Ids that are drawn outside of the seed get names, in the order of their mention. */
  note(text: string): void {
    this.add(
      `  ${text.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, (id) => {
        const name = this.#names.get(id) ?? `#${this.#names.size + 1}`
        this.#names.set(id, name)
        return name
      })}`,
    )
  }

  add(line: string): void {
    this.lines += 1
    this.#hash = mixed(this.#hash, line)
    this.#last.push(line)
    if (this.#last.length > this.#keep) this.#last.shift()
  }

  get hash(): string {
    return `${this.lines}-${digits(this.#hash)}`
  }

  get last(): readonly string[] {
    return this.#last
  }
}
