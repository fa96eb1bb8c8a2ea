-- A task belongs to a mission of its own workspace, or to none: checked for all rows of a statement at once, as projects are.
create or replace function tasks_belong() returns trigger language plpgsql as $$
begin
  if exists (select from added a where a.project_id <> 0 and not exists (
      select from projects p where p.workspace_id = a.workspace_id and p.project_id = a.project_id)) then
    raise foreign_key_violation using message = 'a task must belong to a project of its workspace';
  end if;
  if exists (select from added a where a.parent_id is not null and not exists (
      select from tasks t where t.workspace_id = a.workspace_id and t.id = a.parent_id)) then
    raise foreign_key_violation using message = 'a part must belong to a task of its workspace';
  end if;
  if exists (select from added a where a.mission_id is not null and not exists (
      select from missions m where m.workspace_id = a.workspace_id and m.mission_id = a.mission_id)) then
    raise foreign_key_violation using message = 'a task must belong to a mission of its workspace';
  end if;
  return null;
end $$;
