/**
 * Who may write while several processes want to. Most of the time nobody has the turn, and whoever writes first is first.
 * One that lost a race insists: it takes the turn, or stands in line for it, and while somebody has the turn nobody else
 * can write. So the one whose turn it is loses no race again, and everybody in line gets there. A turn ends by itself,
 * sooner while its owner has not come for it. Should it end too soon, a race may be lost again, but nothing else.
 */

/** Longer than a look may be old when it is written: the turn does not end under a writer in time. */
const TURN_MS = 3_000
/** A process that died in line stops the others for this long. Those who live ask every few milliseconds. */
const HANDED_MS = 1_000
/** So much of it is enough for nearly every batch: a longer turn would be one more thing to write. */
const ENOUGH_MS = 700

/** `turn` and `line` are keys, `token` is the process that asks. */
export const TURN_FUNCTIONS = `
local function take(turn, token, ms)
  redis.call('SET', turn, token, 'PX', ms)
end

-- The next in line has it now; or nobody, and who comes first is first.
local function handOn(turn, line)
  local first = redis.call('LPOP', line)
  if first then take(turn, first, ${HANDED_MS}) else redis.call('DEL', turn) end
end

-- True when others may not write before us, false when nobody has the turn, nil when somebody else has it.
local function turnOf(turn, line, token, insists)
  local owner = redis.call('GET', turn)
  if not owner then
    owner = redis.call('LPOP', line)
    if not owner and not insists then return false end
    owner = owner or token
    if owner ~= token then take(turn, owner, ${HANDED_MS}) end
  end
  if owner == token then
    if redis.call('PTTL', turn) < ${ENOUGH_MS} then take(turn, token, ${TURN_MS}) end
    return true
  end
  if not redis.call('LPOS', line, token) then redis.call('RPUSH', line, token) end
  return nil
end
`
