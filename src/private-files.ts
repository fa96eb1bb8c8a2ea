import type { Stats } from 'node:fs'
import { lstat, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { StartRefused } from './core/refusal.ts'

/**
 * Whoever can write to the data folder can run programs as Baton's user, and whoever can read the owner key can do all that
 * its owner can. So both must be nobody else's, as ssh has it: owned by this user or root, and closed to the others.
 */
export async function refuseUnsafeData(folder: string, self = process.geteuid?.()): Promise<void> {
  // Where there are no such users, there is nothing to look at.
  if (self === undefined) return
  await refuseUnsafe(folder, self, {
    what: 'data folder',
    closedTo: 0o022,
    cure: 'chmod go-w',
    can: 'be written by other users',
    otherwise: 'or choose another folder with BATON_DATA',
  })
  await refuseUnsafe(join(folder, 'owner-key'), self, {
    what: 'owner key',
    closedTo: 0o077,
    cure: 'chmod 600',
    can: 'be used by other users',
    otherwise: 'and replace the key if somebody may have read it',
  })
}

interface Rule {
  what: string
  /** Permissions that nobody may have. */
  closedTo: number
  cure: string
  can: string
  otherwise: string
}

async function refuseUnsafe(path: string, self: number, rule: Rule): Promise<void> {
  const itself = await look(path, lstat)
  if (!itself) return
  // A link of somebody else's can be pointed elsewhere tomorrow.
  if (itself.isSymbolicLink() && isForeign(itself, self))
    throw new StartRefused(
      `The ${rule.what} ${path} is a link that belongs to user ${itself.uid}, and Baton runs as user ${self}; run "chown -h ${self} ${quoted(path)}", or name the place itself.`,
    )
  const target = itself.isSymbolicLink() ? await look(path, stat) : itself
  if (!target) return
  if (isForeign(target, self))
    throw new StartRefused(
      `The ${rule.what} ${path} belongs to user ${target.uid}, and Baton runs as user ${self}; start Baton as user ${target.uid}, or run "chown ${self} ${quoted(path)}", ${rule.otherwise}.`,
    )
  if ((target.mode & rule.closedTo) !== 0)
    throw new StartRefused(
      `The ${rule.what} ${path} can ${rule.can} (mode ${modeOf(target)}); run "${rule.cure} ${quoted(path)}", ${rule.otherwise}.`,
    )
}

/** What cannot be looked at is told by whoever needs it. */
const look = (path: string, how: (path: string) => Promise<Stats>) => how(path).catch(() => null)

const isForeign = ({ uid }: Stats, self: number) => uid !== self && uid !== 0
const modeOf = ({ mode }: Stats) => (mode & 0o7777).toString(8).padStart(4, '0')
const quoted = (path: string) => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`)
