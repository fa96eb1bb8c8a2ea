import { WRITER_LOCK_FUNCTIONS } from './writer-lock.lua.ts'

/** How many ready tasks are read for one queue query, or a few of each queue, whichever is more. */
const SHOWN = 2_000
const A_FEW = 4

/**
 * Everything a batch needs to read, atomically.
 *
 * KEYS: meta, writer lock, writer queue. ARGV: token; '1' to insist on the writer lock; the tag all keys begin with; the
 * queue queries as JSON (names and small numbers only), and the ones for tasks reserved for agents; how many sessions are to
 * change, and from where to where the tasks they hold are; how many claim, and the same with their names before it; then
 * commands that read, each preceded by its length.
 *
 * Returns 'wait' while another process has the writer lock, 'none' if there is no such workspace, else: 'seen', the clock,
 * whether we have the writer lock, the meta fields, the queues read (ids), which of them each query sees (from 0), what the
 * sessions hold (ids), the records of all these, session records and how much claimants hold, the answers to the commands,
 * the keys of the queues, how many tasks of each were asked for, and whether there are reserved tasks, and workers.
 */
export const READ_VIEW = `
${WRITER_LOCK_FUNCTIONS}
local token, tag = ARGV[1], ARGV[3]
local mine = acquireWriterLock(KEYS[2], KEYS[3], token, ARGV[2] == '1')
if mine == nil then return {'wait'} end
local meta = redis.call('HMGET', KEYS[1], 'head', 'version', 'seq', 'lastId', 'activeClaims', 'activeSessions', 'limits')
if not meta[1] then return {'none'} end

local at = 6
local function given()
  local count = tonumber(ARGV[at])
  local first = at + 1
  at = first + count
  return first, at - 1
end

-- In pieces: so many values do not fit on Lua's stack at once.
local function readAll(names)
  local found = {}
  for from = 1, #names, 2000 do
    for _, value in ipairs(redis.call('MGET', unpack(names, from, math.min(from + 1999, #names)))) do
      found[#found + 1] = value
    end
  end
  return found
end

local wanted = {}
local function show(id)
  wanted[#wanted + 1] = tag .. 'task:' .. string.match(id, '^0*(%d+)$')
end

-- The non-empty queues of an owner, by project, track queue and capabilities.
local queuesOf = {}
local function queues(query)
  if queuesOf[query.index] then return queuesOf[query.index] end
  local list = {}
  for _, name in ipairs(redis.call('SMEMBERS', query.index)) do
    local project, trackQueue, capabilities = string.match(name, '^(%d+)/(.*)/([^/]*)$')
    list[#list + 1] = { key = query.prefix .. name, project = project, trackQueue = trackQueue, capabilities = capabilities }
  end
  queuesOf[query.index] = list
  return list
end

local function fitting(query)
  local can, judged, wantedQueues = {}, {}, nil
  for _, one in ipairs(query.capabilities) do can[one] = true end
  if query.trackQueues then
    wantedQueues = {}
    for _, one in ipairs(query.trackQueues) do wantedQueues[one] = true end
  end
  local function isAble(capabilities)
    if judged[capabilities] == nil then
      judged[capabilities] = true
      for one in string.gmatch(capabilities, '%.[^.]*') do
        if not can[one] then judged[capabilities] = false end
      end
    end
    return judged[capabilities]
  end
  local list = {}
  for _, queue in ipairs(queues(query)) do
    if (not query.project or queue.project == query.project) and (not wantedQueues or wantedQueues[queue.trackQueue])
      and isAble(queue.capabilities) then list[#list + 1] = queue end
  end
  return list
end

-- The first tasks of each queue, up to the limit. Where there are many queues, fewer of each, but never so few that all
-- together are below the limit while more is waiting: one queue may hold nearly everything.
local shown, depth, seenBy = {}, {}, {}
local queries = cjson.decode(ARGV[4])
-- Most workspaces have no reserved tasks, and then no agent needs to be looked up.
local hasReserved = redis.call('EXISTS', tag .. 'queue-owners')
if hasReserved == 1 then
  for _, query in ipairs(cjson.decode(ARGV[5])) do queries[#queries + 1] = query end
end
for q, query in ipairs(queries) do
  local list, each = fitting(query), math.min(query.limit, ${A_FEW})
  local enough = math.max(${SHOWN}, 2 * query.limit)
  while each < query.limit do
    local total = 0
    local twice = math.min(each * 2, query.limit)
    for _, queue in ipairs(list) do
      queue.length = queue.length or redis.call('ZCARD', queue.key)
      total = total + math.min(queue.length, twice)
    end
    if total > enough then break end
    each = twice
  end
  seenBy[q] = {}
  for i, queue in ipairs(list) do
    if not queue.place then
      shown[#shown + 1] = queue
      queue.place = #shown
    end
    depth[queue.place] = math.max(depth[queue.place] or 0, each)
    seenBy[q][i] = queue.place - 1
  end
end
local queueKeys = {}
for place, queue in ipairs(shown) do
  queueKeys[place] = queue.key
  shown[place] = redis.call('ZRANGE', queue.key, 0, depth[place] - 1)
  for _, id in ipairs(shown[place]) do show(id) end
end

local first, last = given()
local holding = {}
for i = first, last, 2 do
  local held = redis.call('ZRANGE', tag .. 'holds', ARGV[i], ARGV[i + 1], 'BYLEX')
  holding[#holding + 1] = held
  for _, name in ipairs(held) do show(string.match(name, '%d+$')) end
end

-- Only workers matter, and most sessions are none.
first, last = given()
local claimants, names = {}, {}
local hasWorkers = redis.call('EXISTS', tag .. 'workers')
if hasWorkers == 1 then
  for i = first, last, 3 do names[#names + 1] = tag .. 'session:' .. ARGV[i] end
  for i, record in ipairs(readAll(names)) do
    local from = first + 3 * i - 2
    claimants[i] = record and { record, redis.call('ZLEXCOUNT', tag .. 'holds', ARGV[from], ARGV[from + 1]) } or false
  end
end

local answers = {}
while at <= #ARGV do
  first, last = given()
  answers[#answers + 1] = redis.call(unpack(ARGV, first, last))
end
return { 'seen', redis.call('TIME'), mine and 1 or 0, meta, shown, seenBy, holding, readAll(wanted), claimants, answers,
  queueKeys, depth, hasReserved, hasWorkers }
`
