-- outside a transaction
-- Missions that have ended and whose end nobody has seen: items of the inbox. Those that had ended before count as seen. No table is
-- rewritten, and none is scanned while it is locked. There is no check that an unseen mission has ended: nodes of the version before open
-- missions again without knowing of it, so readers ask for both.

alter table missions add column if not exists unseen boolean not null default false;

create index concurrently if not exists missions_unseen on missions (workspace_id, completed_at, mission_id)
  where unseen and completed_at is not null;
