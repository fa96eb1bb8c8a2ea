import type { KnownSecrets } from '../pure/secrets/redaction.ts'
import { LoginFile } from './login-file.ts'
import { prepareSecrets } from './secrets.ts'

/** The length of all tokens together. The oldest are forgotten: a program that keeps renewing them must not fill the memory. */
const MOST_CHARACTERS = 64 * 1024

/**
 * The secrets of a run: those known from its start, and the tokens in the login files, which are read again when they change.
 * That is checked before each piece of output is redacted, and needs no timer: a token is in its file before it is printed.
 */
export class RunSecrets {
  readonly #fixed: readonly string[]
  readonly #files: readonly LoginFile[]
  readonly #tokens = new Set<string>()
  #characters = 0
  #known: KnownSecrets | null = null
  #checking: Promise<unknown> = Promise.resolve()
  #next: Promise<KnownSecrets> | null = null

  constructor(secrets: readonly string[], loginFiles: readonly string[] = []) {
    this.#fixed = secrets
    this.#files = loginFiles.map((path) => new LoginFile(path))
  }

  /** All that are known by now. Callers get their answers in the order of their calls. */
  current(): Promise<KnownSecrets> {
    // A check that has begun may have missed what the caller is about to print. One that waits has not: it serves all callers.
    this.#next ??= this.#checking.then(() => {
      this.#next = null
      const check = this.#check()
      this.#checking = check
      return check
    })
    return this.#next
  }

  async #check(): Promise<KnownSecrets> {
    const renewed = await Promise.all(this.#files.map((file) => file.renewed()))
    let isChanged = this.#known === null
    for (const token of renewed.flatMap((tokens) => tokens ?? [])) isChanged = this.#add(token) || isChanged
    if (isChanged) this.#known = await prepareSecrets([...this.#fixed, ...this.#tokens])
    return this.#known!
  }

  /** Whether it is new. */
  #add(token: string): boolean {
    const isNew = !this.#tokens.delete(token)
    this.#tokens.add(token)
    if (isNew) this.#characters += token.length
    for (const oldest of this.#tokens) {
      if (this.#characters <= MOST_CHARACTERS) break
      this.#tokens.delete(oldest)
      this.#characters -= oldest.length
    }
    return isNew
  }
}
