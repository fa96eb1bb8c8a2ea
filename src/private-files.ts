import type { Stats } from 'node:fs'
import { lstat, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { StartRefused } from './pure/refusal.ts'

/**
 * A user who can write to the data folder can run programs as Baton's user, and a user who can read the owner key has all
 * rights of the owner. So both must be private, as with ssh: owned by this user or root, and not accessible to others.
 */
export async function refuseUnsafeData(folder: string, self = process.geteuid?.()): Promise<void> {
  // Platforms without user ids have nothing to check.
  if (self === undefined) return
  await refuseUnsafe(folder, self, {
    what: 'data folder',
    closedTo: 0o022,
    fix: 'chmod go-w',
    can: 'be written by other users',
    otherwise: 'or choose another folder with BATON_DATA',
  })
  await refuseUnsafe(join(folder, 'owner-key'), self, {
    what: 'owner key',
    closedTo: 0o077,
    fix: 'chmod 600',
    can: 'be used by other users',
    otherwise: 'and replace the key if another user may have read it',
  })
}

interface Rule {
  what: string
  /** Permission bits that must not be set. */
  closedTo: number
  fix: string
  can: string
  otherwise: string
}

async function refuseUnsafe(path: string, self: number, rule: Rule): Promise<void> {
  const itself = await statOf(path, lstat)
  if (!itself) return
  // Another user can point their link elsewhere at any time.
  if (itself.isSymbolicLink() && isForeign(itself, self))
    throw new StartRefused(
      `The ${rule.what} ${path} is a link that belongs to user ${itself.uid}, and Baton runs as user ${self}; run "chown -h ${self} ${quoted(path)}", or use the path that it points to.`,
    )
  const target = itself.isSymbolicLink() ? await statOf(path, stat) : itself
  if (!target) return
  if (isForeign(target, self))
    throw new StartRefused(
      `The ${rule.what} ${path} belongs to user ${target.uid}, and Baton runs as user ${self}; start Baton as user ${target.uid}, or run "chown ${self} ${quoted(path)}", ${rule.otherwise}.`,
    )
  if ((target.mode & rule.closedTo) !== 0)
    throw new StartRefused(
      `The ${rule.what} ${path} can ${rule.can} (mode ${modeOf(target)}); run "${rule.fix} ${quoted(path)}", ${rule.otherwise}.`,
    )
}

/** Errors are ignored here: the code that needs the file reports them. */
const statOf = (path: string, how: (path: string) => Promise<Stats>) => how(path).catch(() => null)

const isForeign = ({ uid }: Stats, self: number) => uid !== self && uid !== 0
const modeOf = ({ mode }: Stats) => (mode & 0o7777).toString(8).padStart(4, '0')
const quoted = (path: string) => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`)
