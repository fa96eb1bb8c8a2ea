-- How many tokens a changed line may take in a project; null: as usual.
alter table projects add column tokens_per_line integer check (tokens_per_line >= 1);
