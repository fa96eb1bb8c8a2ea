-- outside a transaction
-- Contractors: agents that are made for a mission. No table is rewritten, and none is scanned while it is locked.

alter table agents
  add column if not exists kind text not null default 'roster',
  -- The agent it was made from, as it was then: that one may change, or go.
  add column if not exists template text collate "C",
  add column if not exists mission_id bigint,
  -- The outside id of that mission.
  add column if not exists mission uuid,
  drop constraint if exists agents_kind,
  add constraint agents_kind check (kind in ('roster', 'contractor')) not valid,
  drop constraint if exists agents_contracted,
  add constraint agents_contracted
    check (num_nulls(template, mission_id, mission) = case kind when 'contractor' then 0 else 3 end) not valid,
  -- Claims know contractors by their slugs (kinds/agent/rules/contractors.ts).
  drop constraint if exists agents_contractor_slug,
  add constraint agents_contractor_slug check (kind <> 'contractor' or slug ~ '@mission-[0-9a-f]{12}$') not valid,
  drop constraint if exists agents_of_mission,
  add constraint agents_of_mission foreign key (workspace_id, mission_id) references missions (workspace_id, mission_id) not valid;
alter table agents validate constraint agents_kind;
alter table agents validate constraint agents_contracted;
alter table agents validate constraint agents_contractor_slug;
alter table agents validate constraint agents_of_mission;

alter table missions
  -- All that were made for it, over its whole life.
  add column if not exists contractors text[] not null default '{}',
  drop constraint if exists missions_contractors,
  add constraint missions_contractors check (cardinality(contractors) <= 20) not valid;
alter table missions validate constraint missions_contractors;

-- Contractors stay readable when they have ended, and become many: lists and upkeep pass them by.
create index concurrently if not exists agents_listed on agents (workspace_id, slug)
  where kind = 'roster' or state <> 'terminated';
create index concurrently if not exists agents_at_work on agents (workspace_id, slug)
  where adapter_type <> 'external' and state <> 'terminated';
drop index concurrently if exists agents_managed;
create index concurrently if not exists agents_contracted_now on agents (workspace_id, mission_id)
  where kind = 'contractor' and state <> 'terminated';
create index concurrently if not exists agents_contracted_before on agents (workspace_id, mission_id)
  where kind = 'contractor' and state = 'terminated';
create index concurrently if not exists missions_contracting on missions (workspace_id, mission_id)
  where completed_at is null and cardinality(contractors) > 0;
