-- How long the work took whose result was rejected, from its claim to its submission. Its claim is forgotten after a while, the result is
-- not. Null: rejected before this was kept.
alter table rejected_results add column processing_ms bigint;
