/** The number of the newest event of workspace $1, as a value of a statement: of the same snapshot as its other rows. */
export const LAST_SEQ = '(select w.last_seq from workspace_counters w where w.workspace_id = $1)'
