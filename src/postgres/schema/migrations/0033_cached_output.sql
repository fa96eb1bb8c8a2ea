-- Output tokens that an adapter reports as cached: agent-run/v1 has them.
alter table runs
  add column cached_output_tokens bigint;
