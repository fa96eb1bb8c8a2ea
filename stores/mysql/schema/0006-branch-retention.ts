/** A limit of every workspace. A queue has no branches: it is only stored here. */
export const BRANCH_RETENTION = [
  'alter table baton_workspaces add column branch_retention_days int not null default 30',
]
