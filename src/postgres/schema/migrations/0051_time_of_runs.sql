-- How long runs have worked: a total of them like their tokens, in rows of its own.
alter table usage_sources add column work_ms bigint not null default 0;
alter table usage add column work_ms bigint not null default 0;
alter table usage_quarters add column work_ms bigint not null default 0;
