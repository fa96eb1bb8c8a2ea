/** The time zone in which the days of budgets begin. A queue has no budgets, but its limits are those of a workspace. */
export const TIME_ZONE = [
  "alter table baton_workspaces add column time_zone varchar(64) not null default 'UTC'",
]
