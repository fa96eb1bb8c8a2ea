import type { AnswerTo } from '../../../../src/client/client.ts'
import { allRightsOf } from '../../../../src/kinds/key/granting.ts'
import { type Right, ROLES, type Role, rightsOf } from '../../../../src/pure/rights.ts'

/** Keys in the words of the page. Pure. */

export type Key = AnswerTo<'GET', '/keys'>['items'][number]

export const ROLE_WORDS: Record<Role, { words: string; text: string }> = {
  owner: { words: 'Owner', text: 'Everything, also making other owners.' },
  admin: { words: 'Admin', text: 'Everything but making owners.' },
  member: { words: 'Member', text: 'Works and operates tasks; changes no agents, keys or limits.' },
  viewer: { words: 'Viewer', text: 'Reads only.' },
}

export const RIGHT_WORDS: Record<Right, string> = {
  read: 'read',
  work: 'work on tasks',
  operate: 'operate tasks',
  configure_agents: 'configure agents',
  admin: 'administer',
  own: 'own the workspace',
  instance: 'run the server',
  metrics: 'read its metrics',
}

/** What a key may do, in one line: all that its role may, or what is left of it. */
export function rightsWords({
  role,
  scopes,
  instanceAdmin,
  agent,
}: Pick<Key, 'role' | 'scopes' | 'instanceAdmin' | 'agent'>) {
  const has = [...allRightsOf({ role, scopes: scopes as Right[] | null, instanceAdmin, agent })]
  if (has.length === 0) return 'nothing'
  return has.map((right) => RIGHT_WORDS[right]).join(', ')
}

/** The roles that somebody with these rights may give: no key grants more than it has. */
export const rolesWithin = (rights: ReadonlySet<Right>): Role[] =>
  ROLES.filter((role) => rightsOf(role, null).every((right) => rights.has(right)))

/** The rights of a role that a key can be restricted to. Owning cannot be taken from an owner alone: it goes with the rest. */
export const scopesOf = (role: Role) => rightsOf(role, null).filter(isOfWorkspace)
export type Scope = Exclude<Right, 'own' | 'instance' | 'metrics'>
const isOfWorkspace = (right: Right): right is Scope => !['own', 'instance', 'metrics'].includes(right)

export type KeyStatus = 'valid' | 'expired' | 'revoked'
export const statusOf = (
  { revokedAt, expiresAt }: Pick<Key, 'revokedAt' | 'expiresAt'>,
  now: number,
): KeyStatus =>
  revokedAt !== null ? 'revoked' : expiresAt !== null && Date.parse(expiresAt) <= now ? 'expired' : 'valid'

const DAY_MS = 86_400_000
export const EXPIRIES = [
  { value: 'never', words: 'Never', days: null },
  { value: 'day', words: 'In a day', days: 1 },
  { value: 'week', words: 'In 7 days', days: 7 },
  { value: 'month', words: 'In 30 days', days: 30 },
  { value: 'quarter', words: 'In 90 days', days: 90 },
  { value: 'year', words: 'In a year', days: 365 },
] as const
type Expiry = (typeof EXPIRIES)[number]['value']

/** What is written of a new key, and not sent yet. */
export interface KeyDraft {
  name: string
  role: Role
  /** Null: all rights of the role. */
  scopes: readonly Scope[] | null
  expiry: Expiry
  /** Empty: it is bound to none. */
  agent: string
}
export const EMPTY_KEY: KeyDraft = { name: '', role: 'member', scopes: null, expiry: 'never', agent: '' }

export function missingIn({ name, scopes }: KeyDraft): string | null {
  if (name.trim() === '') return 'Give it a name first.'
  return scopes?.length === 0 ? 'Choose at least one right.' : null
}

export function bodyOf({ name, role, scopes, expiry, agent }: KeyDraft, now: number) {
  const days = EXPIRIES.find(({ value }) => value === expiry)?.days ?? null
  return {
    name: name.trim(),
    role,
    ...(scopes !== null && { scopes: scopesOf(role).filter((right) => scopes.includes(right)) }),
    ...(days !== null && { expiresAt: new Date(now + days * DAY_MS).toISOString() }),
    ...(agent !== '' && { agent }),
  }
}

/** A first request with the key, to paste into a terminal. */
export const curlOf = (origin: string, key: string) =>
  `curl -H "Authorization: Bearer ${key}" ${origin}/api/v1/session`

const BROWSERS: readonly [RegExp, string][] = [
  [/\bEdg(?:A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:HeadlessChrome|Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
]
const SYSTEMS: readonly [RegExp, string][] = [
  [/\biPhone\b/, 'an iPhone'],
  [/\biPad\b/, 'an iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'a Mac'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
]
const named = (table: typeof BROWSERS, text: string) => table.find(([pattern]) => pattern.test(text))?.[1]

/** "Firefox on a Mac", from what the browser says of itself. */
export function browserWords(userAgent: string | null): string {
  if (userAgent === null) return 'An unknown program'
  const [browser, system] = [named(BROWSERS, userAgent), named(SYSTEMS, userAgent)]
  if (!browser && !system) return userAgent
  return `${browser ?? 'A browser'}${system ? ` on ${system}` : ''}`
}
