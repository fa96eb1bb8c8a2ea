-- Who made a key: another key of the workspace. Null: the first start, or a key of another workspace, made it.
alter table api_keys
  add column created_by uuid,
  add foreign key (workspace_id, created_by) references api_keys (workspace_id, key_id),
  -- A key that may make workspaces is a whole owner's: no other could stand in for the last of them.
  add check (not instance_admin or (role = 'owner' and scopes is null));

-- What ends with a key that is revoked.
create index api_keys_made_by on api_keys (workspace_id, created_by) where created_by is not null;
