import { z } from 'zod'
import { ROLES } from '../../pure/rights.ts'
import { Instant, Name, Slug, Uuid } from '../../pure/shapes.ts'
import { LimitsSchema } from './limits.ts'

export const KeyBody = z.strictObject({
  name: Name,
  role: z.enum(ROLES).default('member'),
  scopes: z
    .array(z.enum(['read', 'work', 'operate', 'configure_agents', 'admin', 'metrics']))
    .min(1)
    .optional()
    .describe(
      'Restricts the rights of the role. "metrics" is the right to read the metrics of the whole instance, which only a key with the right "instance" can give',
    ),
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
  lastUsedAt: z
    .string()
    .nullable()
    .describe('By a program or in a browser, exact to a minute; null: not yet'),
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
