-- Followers of the log are run by the leader, under its term, so a cursor needs no lease of its own.
alter table log_cursors drop column if exists holder, drop column if exists lease_until;
