import { basename } from 'node:path/posix'
import { redactText, type Secrets } from '../../pure/secrets/redaction.ts'
import { textOfPath } from './worktree-git.ts'

/** What is not committed when work is saved, and why. The folder is kept for it. */

export type WhyLeftOut =
  /** The file is too large, they are too many, or too much together. */
  | 'too_large'
  | 'too_many'
  | 'too_much'
  /** It contains a known secret, or has the name of a file with secrets. */
  | 'secret'
  | 'secret_name'
  /** Its contents go through a program that Baton does not run. */
  | 'filter'
  /** A repository of its own. */
  | 'repository'
  | 'unreadable'
  /** Neither a file nor a link. */
  | 'special_file'
  /** Git does not take it, for example for its name. */
  | 'refused_by_git'

export interface LeftOut {
  /** A folder ends with a slash, all new files directly in a folder with a star. */
  path: string
  why: WhyLeftOut
  bytes?: number
  /** How many files a folder stands for. */
  files?: number
}

export interface Bounds {
  /** Of a new file. */
  mostBytes: number
  /** Of a file that was there before and has changed. */
  mostBytesOfChanged: number
  /** Of all new files together. */
  mostFiles: number
  mostBytesTogether: number
}

const MB = 1024 * 1024
export const BOUNDS: Bounds = {
  mostBytes: 10 * MB,
  mostBytesOfChanged: 100 * MB,
  mostFiles: 2_000,
  mostBytesTogether: 100 * MB,
}

const MOST_NAMED = 100
const LONGEST_PATH = 500

/** The left-out files of one saving: each path for the next steps, and a list of bounded length for people. */
export class LeftOutFiles {
  readonly #paths = new Set<string>()
  readonly named: LeftOut[] = []
  readonly #secrets: Secrets
  count = 0

  constructor(secrets: Secrets) {
    this.#secrets = secrets
  }

  /** Git writes the path of a repository with a slash at its end when it is new, and without when it is staged. */
  has(path: string): boolean {
    return this.#paths.has(path) || (path.endsWith('/') && this.#paths.has(path.slice(0, -1)))
  }

  add(path: string, why: WhyLeftOut, bytes?: number): void {
    this.#paths.add(path)
    this.#name({ path, why, ...(bytes !== undefined && { bytes }) }, 1)
  }

  addFolder(folder: string, paths: readonly string[], why: WhyLeftOut): void {
    for (const path of paths) this.#paths.add(path)
    this.#name({ path: folder, why, files: paths.length }, paths.length)
  }

  #name(one: LeftOut, files: number): void {
    this.count += files
    if (this.named.length === MOST_NAMED) return
    const path = redactText(textOfPath(one.path), this.#secrets).slice(0, LONGEST_PATH).toWellFormed()
    this.named.push({ ...one, path })
  }
}

/** Files with passwords, keys and tokens by their usual names. Examples without values are not among them. */
const SECRET_NAME =
  /^(\.env(\..+)?|.+\.env|.+\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk)|id_(rsa|dsa|ecdsa|ed25519)|\.netrc|_netrc|\.npmrc|\.pypirc|\.pgpass|\.git-credentials|\.htpasswd|credentials(\.json)?|service-account.*\.json|client_secret.*\.json)$/i
const EXAMPLE = /\.(example|sample|template|dist|defaults?|schema)$/i

export function isNamedLikeSecret(path: string): boolean {
  const name = basename(path)
  return SECRET_NAME.test(name) && !EXAMPLE.test(name)
}
