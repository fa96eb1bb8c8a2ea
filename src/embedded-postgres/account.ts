import { readFileSync, realpathSync, type Stats, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface Account {
  name: string
  uid: number
  gid: number
}

/** The account for Postgres if Baton runs as root, which Postgres refuses to run as. Undefined: Baton's own account. */
export function accountForPostgres(): Account | undefined {
  if (process.geteuid?.() !== 0) return undefined
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name, , uid, gid]) => ({ name: name!, uid: Number(uid), gid: Number(gid) }))
  const named = (name: string) => accounts.find((account) => account.name === name && account.uid > 0)
  return named('postgres') ?? named('nobody') ?? { name: 'nobody', uid: 65534, gid: 65534 }
}

/** Whether the account can enter the folder and all folders above it. */
export function canEnter(account: Account, folder: string): boolean {
  return ancestors(realpathSync(folder)).every((path) => allows(account, statSync(path), 0o1))
}

/** Whether the account can read and run the Postgres installed in this folder. */
export function canRun(account: Account, native: string): boolean {
  const parts = ['bin', 'lib', 'share', 'bin/initdb', 'bin/postgres'].map((part) => join(native, part))
  return canEnter(account, native) && parts.every((path) => allows(account, statSync(path), 0o5))
}

function ancestors(path: string): string[] {
  const parent = dirname(path)
  return parent === path ? [path] : [...ancestors(parent), path]
}

function allows(account: Account, stats: Stats, bits: number): boolean {
  const shift = stats.uid === account.uid ? 6 : stats.gid === account.gid ? 3 : 0
  return ((stats.mode >> shift) & bits) === bits
}
