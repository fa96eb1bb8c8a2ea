-- outside a transaction
-- Results that Baton gets a verdict on, and the tasks that give it. No table is rewritten, and none is scanned while it is locked.

alter table tasks
  add column if not exists serves json,
  drop constraint if exists tasks_review_check,
  drop constraint if exists tasks_review,
  drop constraint if exists tasks_serves,
  add constraint tasks_review check (review in ('none', 'human', 'verifier', 'baton')) not valid,
  add constraint tasks_serves check ((purpose = 'verification') = (serves is not null)) not valid;
alter table tasks validate constraint tasks_review;
alter table tasks validate constraint tasks_serves;

-- Open tasks that serve others. Work never enters it.
create index concurrently if not exists tasks_serving on tasks (workspace_id, id) where purpose <> 'work' and completed_at is null;
-- The verifications of a task.
create index concurrently if not exists tasks_verifications on tasks (workspace_id, ((serves ->> 'taskId')::bigint), id)
  where serves is not null;
