/** The number of the newest event of workspace $1, as a value of a statement: of the same snapshot as its other rows. */
export const LAST_SEQ = '(select w.last_seq from workspace_counters w where w.workspace_id = $1)'

/**
 * The first number of the log that was written at this time or later, by halving: the log is in the order of time, and has no index
 * by it.
 */
export const seqAt = (at: string) => `(with recursive halved (low, high) as (
    select 0::bigint, (select k.last_seq + 1 from workspace_counters k where k.workspace_id = $1)
    union all
    select case when e.at < ${at} then h.middle else h.low end, case when e.at < ${at} then h.high else h.middle end
      from (select low, high, (low + high) / 2 as middle from halved where high - low > 1) h
      cross join lateral (select x.at from events x where x.workspace_id = $1 and x.seq >= h.middle order by x.seq limit 1) e)
  select min(high) from halved)`
