-- A claim under a budget writes one of these rows. Whether its workspace exists is known by then: the batch has read its limits, and the
-- policy refuses rows of any other. Looking it up for each row again took longer than writing the row. Events have no such look either.
alter table budget_reservations drop constraint budget_reservations_workspace_id_fkey;
