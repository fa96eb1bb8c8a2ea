/** What happened, line by line: the last lines for people, and a hash of all of them to compare two runs by. */
export class Trace {
  readonly #keep: number
  readonly #last: string[] = []
  #hash = 0x811c9dc5
  lines = 0

  constructor(keep: number) {
    this.#keep = keep
  }

  add(line: string): void {
    this.lines += 1
    // FNV-1a: the hash tells runs apart, it protects nothing.
    for (let i = 0; i < line.length; i++) this.#hash = Math.imul(this.#hash ^ line.charCodeAt(i), 0x01000193)
    this.#last.push(line)
    if (this.#last.length > this.#keep) this.#last.shift()
  }

  get hash(): string {
    return `${this.lines}-${(this.#hash >>> 0).toString(16).padStart(8, '0')}`
  }

  get last(): readonly string[] {
    return this.#last
  }
}
