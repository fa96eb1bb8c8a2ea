import { z } from 'zod'
import { LimitsSchema } from '../limits.ts'
import { Instant, Name, Slug, Uuid } from './common.ts'

const ROLES = ['owner', 'admin', 'member', 'viewer'] as const
export type Role = (typeof ROLES)[number]

/**
 * The rights of a key: read; work as an agent; operate tasks; configure what agents run; administer the workspace; own it;
 * run the server: create workspaces, see its nodes, widen the limits of any workspace.
 */
const RIGHTS = ['read', 'work', 'operate', 'configure_agents', 'admin', 'own', 'instance'] as const
export type Right = (typeof RIGHTS)[number]

const RIGHTS_OF: Record<Role, readonly Right[]> = {
  viewer: ['read'],
  member: ['read', 'work', 'operate'],
  admin: ['read', 'work', 'operate', 'configure_agents', 'admin'],
  owner: ['read', 'work', 'operate', 'configure_agents', 'admin', 'own'],
}

/** The rights of a key with this role and these scopes: scopes only restrict. */
export const rightsOf = (role: Role, scopes: readonly string[] | null | undefined): Right[] =>
  RIGHTS_OF[role].filter((right) => scopes == null || scopes.includes(right))

export const KeyBody = z.strictObject({
  name: Name,
  role: z.enum(ROLES).default('member'),
  scopes: z
    .array(z.enum(['read', 'work', 'operate', 'configure_agents', 'admin']))
    .min(1)
    .optional()
    .describe('Restricts the rights of the role'),
  expiresAt: Instant.optional(),
  instanceAdmin: z
    .boolean()
    .default(false)
    .describe('May create workspaces, see the nodes and widen limits; for owners without scopes'),
  agent: Slug.optional().describe(
    'The only agent that the key may act as. It sends heartbeats, claims and writes as that agent, and has no other rights than read and work',
  ),
})

export const KeyView = z.object({
  id: z.string(),
  name: z.string(),
  prefix: z.string(),
  role: z.enum(ROLES),
  scopes: z.array(z.string()).nullable(),
  instanceAdmin: z.boolean(),
  agent: z.string().nullable().describe('The slug of the only agent that it may act as'),
  createdBy: z.string().nullable().describe('The id of the key that created it'),
  createdAt: z.string(),
  expiresAt: z.string().nullable(),
  revokedAt: z.string().nullable(),
})

/** The only answer that shows the key itself. */
export const KeyMade = KeyView.extend({ key: z.string() })

export const WorkspaceBody = z.strictObject({ name: Name })
export const WorkspaceView = z.object({ id: Uuid, name: z.string() })
export const WorkspaceMade = WorkspaceView.extend({ ownerKey: z.string() })

/** Defaults are for new workspaces; a patch names only what changes. */
export const LimitsPatch = z.strictObject(
  Object.fromEntries(
    Object.entries(LimitsSchema.shape).map(([name, field]) => [name, field.unwrap().optional()]),
  ) as {
    [K in keyof typeof LimitsSchema.shape]: z.ZodOptional<
      ReturnType<(typeof LimitsSchema.shape)[K]['unwrap']>
    >
  },
)
