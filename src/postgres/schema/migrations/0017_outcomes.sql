-- outside a transaction
-- What went wrong with tasks and what was decided about them, found by type. A task that is handed out, done and accepted at once
-- never enters this index. In the words of OUTCOME_EVENTS in kinds/task/rules/outcomes.ts.

create index concurrently if not exists events_of_outcomes on events (workspace_id, type, seq) where type in (
  'task_retrying', 'task_budget_exceeded', 'task_verification_passed', 'task_verification_failed', 'task_human_review_requested',
  'task_human_approved', 'task_human_rejected', 'task_completed_by_person', 'task_result_promoted', 'task_reset');
