import { TURN_FUNCTIONS } from './writer-lock.lua.ts'

/**
 * How old a look may be when what was decided on it is written. The version proves that nobody wrote in between, but time
 * went on: a process that slept could otherwise renew a lease, with the clock of long ago, that is over by now, and answer
 * its holder with time that has passed. So what is decided holds for at most this long before it is written.
 */
const LOOK_HOLDS_MS = 2_000
/** For this long it can be found out whether a transaction was written. Nobody asks longer than a few seconds. */
const REMEMBERED_MS = 60_000

/**
 * Writes what was decided, whole or not at all, if the workspace is still as it was seen.
 *
 * KEYS: meta, turn, line, the transaction. ARGV: token; the version seen; the clock seen, in ms; then commands, each
 * after its length. Answers 'written', or why not: 'changed', 'late', 'turn'.
 *
 * A command that failed halfway would leave the first half written. None can: each key has one type, arguments are checked
 * before they are sent, and a server that is full, read-only or without a disk says so at the first write of a script.
 */
export const WRITE = `
${TURN_FUNCTIONS}
local token = ARGV[1]
if redis.call('HGET', KEYS[1], 'version') ~= ARGV[2] then return 'changed' end
local time = redis.call('TIME')
if time[1] * 1000 + math.floor(time[2] / 1000) - tonumber(ARGV[3]) > ${LOOK_HOLDS_MS} then return 'late' end
local owner = redis.call('GET', KEYS[2])
if owner and owner ~= token then return 'turn' end

local own = {}

-- A queue is named in its index while it is not empty.
function own.indexed(index, key, name)
  redis.call(redis.call('EXISTS', key) == 1 and 'SADD' or 'SREM', index, name)
end

-- Nobody is listed with nothing.
function own.count(key, field, change)
  if redis.call('HINCRBY', key, field, change) <= 0 then redis.call('HDEL', key, field) end
end

-- These tasks have ended. Whatever waits for them is to be looked at.
function own.ended(unsettled, version, neededBy, ...)
  for _, id in ipairs({...}) do
    if redis.call('EXISTS', neededBy .. id) == 1 then redis.call('ZADD', unsettled, version, 'd' .. id) end
  end
end

local at = 4
while at <= #ARGV do
  local last = at + tonumber(ARGV[at])
  local name = ARGV[at + 1]
  if own[name] then own[name](unpack(ARGV, at + 2, last)) else redis.call(unpack(ARGV, at + 1, last)) end
  at = last + 1
end
redis.call('SET', KEYS[4], '1', 'PX', ${REMEMBERED_MS})
if owner then handOn(KEYS[2], KEYS[3]) end
return 'written'
`

/** Nothing is to be written: the turn goes on. KEYS: turn, line. ARGV: token. */
export const PASS = `
${TURN_FUNCTIONS}
if redis.call('GET', KEYS[1]) == ARGV[1] then handOn(KEYS[1], KEYS[2]) end
`

/**
 * Whether a transaction was written whose answer was lost. If it was not, it never will be, even if it is still on its
 * way: the version it carries is past. Asked too late, nobody knows any more. KEYS: meta, the transaction. ARGV: the
 * version and the clock it carries. Answers 'written', 'void' or 'unknown'.
 */
export const SETTLE = `
if redis.call('EXISTS', KEYS[2]) == 1 then return 'written' end
if redis.call('HGET', KEYS[1], 'version') == ARGV[1] then
  redis.call('HINCRBY', KEYS[1], 'version', 1)
  return 'void'
end
local time = redis.call('TIME')
return time[1] * 1000 - tonumber(ARGV[2]) < ${REMEMBERED_MS / 2} and 'void' or 'unknown'
`
