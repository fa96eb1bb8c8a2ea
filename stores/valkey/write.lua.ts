import { WRITER_LOCK_FUNCTIONS } from './writer-lock.lua.ts'

/**
 * How old a read may be when what was decided on it is written. The version proves that no one wrote in between, but time
 * has passed: a paused process could otherwise renew, by an old clock, a lease that has expired by now, and answer its
 * holder with time that has passed. So a decision is valid for at most this long.
 */
const READ_VALID_MS = 2_000
/** For this long it can be found out whether a transaction was written. Callers ask for a few seconds at most. */
const REMEMBERED_MS = 60_000

/**
 * Writes what was decided, whole or not at all, if the workspace has not changed since it was read.
 *
 * KEYS: meta, writer lock, writer queue, the transaction. ARGV: token; the head read; the clock read, in ms; then commands,
 * each preceded by its length. Returns 'written' and the answers that commands asked for, or why not: 'changed', 'late',
 * 'locked'.
 *
 * A command that failed halfway would leave the first half written. None can: each key has one type, arguments are checked
 * before they are sent, and a server that is full, read-only or without a disk fails at the first write of a script.
 */
export const WRITE = `
${WRITER_LOCK_FUNCTIONS}
local token = ARGV[1]
if redis.call('HGET', KEYS[1], 'head') ~= ARGV[2] then return {'changed'} end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if math.abs(now - tonumber(ARGV[3])) > ${READ_VALID_MS} then return {'late'} end
local owner = redis.call('GET', KEYS[2])
if owner and owner ~= token then return {'locked'} end

local own, answers = {}, {}

-- A queue is named in its index while it is not empty, and its owner, if it has one, while the index is not.
function own.indexed(index, key, name, owners, owner)
  redis.call(redis.call('EXISTS', key) == 1 and 'SADD' or 'SREM', index, name)
  if owner then redis.call(redis.call('EXISTS', index) == 1 and 'SADD' or 'SREM', owners, owner) end
end

function own.answer(...)
  answers[#answers + 1] = redis.call(...)
end

-- No entry stays at zero.
function own.count(key, field, change)
  if redis.call('HINCRBY', key, field, change) <= 0 then redis.call('HDEL', key, field) end
end

-- These tasks have ended, or were opened again. The tasks that depend on them are to be checked. Most have none: one command
-- finds that out.
function own.ended(unsettled, version, neededBy, ...)
  local names = {...}
  for i, id in ipairs(names) do names[i] = neededBy .. id end
  if redis.call('EXISTS', unpack(names)) == 0 then return end
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
if owner then passOn(KEYS[2], KEYS[3]) end
return {'written', answers, now}
`

/** Nothing is to be written: the writer lock is passed on. KEYS: writer lock, writer queue. ARGV: token. */
export const PASS = `
${WRITER_LOCK_FUNCTIONS}
if redis.call('GET', KEYS[1]) == ARGV[1] then passOn(KEYS[1], KEYS[2]) end
`

/**
 * Whether a transaction was written whose answer was lost. If it was not, it never will be, even if it is still in transit:
 * the head it expects is gone. Asked too late, the answer is unknown. KEYS: meta, the transaction. ARGV: the head and the
 * clock it carries, and a new head. Returns 'written', 'void' or 'unknown'.
 */
export const SETTLE = `
if redis.call('EXISTS', KEYS[2]) == 1 then return 'written' end
if redis.call('HGET', KEYS[1], 'head') == ARGV[1] then
  redis.call('HSET', KEYS[1], 'head', ARGV[3])
  return 'void'
end
local time = redis.call('TIME')
return time[1] * 1000 - tonumber(ARGV[2]) < ${REMEMBERED_MS / 2} and 'void' or 'unknown'
`
