/**
 * The writer lock, for several processes that write to one workspace. Most of the time it is free, and the first write wins.
 * A process that lost a race insists: it takes the lock or joins the writer queue, and while one process has the lock no
 * other can write. So the owner does not lose a race again, and every process in the queue gets the lock. The lock expires,
 * sooner while its new owner has not come for it. If it expires too early, a race may be lost again, but nothing else.
 */

/** Longer than a read may be old when it is written: the lock does not expire under a writer that is in time. */
const LOCK_MS = 3_000
/** A process that died in the queue blocks the others for this long. Live ones ask every few milliseconds. */
const HANDED_MS = 1_000
/** This much time left is enough for nearly every batch: extending the lock would be one more write. */
const ENOUGH_MS = 700

/** `writerLock` and `writerQueue` are keys, `token` is the process that asks. */
export const WRITER_LOCK_FUNCTIONS = `
local function take(writerLock, token, ms)
  redis.call('SET', writerLock, token, 'PX', ms)
end

-- The next process in the queue gets the lock; if there is none, the lock is free.
local function passOn(writerLock, writerQueue)
  local first = redis.call('LPOP', writerQueue)
  if first then take(writerLock, first, ${HANDED_MS}) else redis.call('DEL', writerLock) end
end

-- True when we have the lock, false when it is free, nil when another process has it.
local function acquireWriterLock(writerLock, writerQueue, token, insists)
  local owner = redis.call('GET', writerLock)
  if not owner then
    owner = redis.call('LPOP', writerQueue)
    if not owner and not insists then return false end
    owner = owner or token
    if owner ~= token then take(writerLock, owner, ${HANDED_MS}) end
  end
  if owner == token then
    if redis.call('PTTL', writerLock) < ${ENOUGH_MS} then take(writerLock, token, ${LOCK_MS}) end
    return true
  end
  if not redis.call('LPOS', writerQueue, token) then redis.call('RPUSH', writerQueue, token) end
  return nil
end
`
