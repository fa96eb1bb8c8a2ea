export const ROLES = ['owner', 'admin', 'member', 'viewer'] as const
export type Role = (typeof ROLES)[number]

/**
 * The rights of a key: read; work as an agent; operate tasks; configure what agents run; administer the workspace; own it;
 * run the server: create workspaces, see its nodes, widen the limits of any workspace; read its metrics, of all workspaces.
 */
const RIGHTS = ['read', 'work', 'operate', 'configure_agents', 'admin', 'own', 'instance', 'metrics'] as const
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
