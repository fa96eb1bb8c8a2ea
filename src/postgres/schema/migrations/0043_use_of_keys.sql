-- When a key was last used, exact to a minute: people ask before they revoke one.
alter table api_keys add column last_used_at timestamptz;
