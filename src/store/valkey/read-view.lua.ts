import { TURN_FUNCTIONS } from './writer-lock.lua.ts'

/** So many waiting tasks are shown for one head, or a few of each line, whichever is more. */
const SHOWN = 2_000
const A_FEW = 4

/**
 * Everything a batch needs to see, in one moment.
 *
 * KEYS: meta, turn, line. ARGV: token; '1' to insist on a turn; the tag all keys begin with; the heads of the queue as
 * JSON (names and small numbers only); how many sessions are to change, and their names; how many claim, and their names;
 * then commands that read, each after its length.
 *
 * Answers 'wait' while somebody else has the turn, 'none' where there is no workspace, else: 'seen', the clock, whether
 * we have the turn, the meta fields, the queues shown (ids), which of them each head sees (from 0), what the sessions
 * hold (ids), the records of all these, session records and how much claimants hold, and the answers to the commands.
 */
export const READ_VIEW = `
${TURN_FUNCTIONS}
local token, tag = ARGV[1], ARGV[3]
local mine = turnOf(KEYS[2], KEYS[3], token, ARGV[2] == '1')
if mine == nil then return {'wait'} end
local meta = redis.call('HMGET', KEYS[1], 'version', 'seq', 'lastId', 'activeClaims', 'activeSessions', 'limits')
if not meta[1] then return {'none'} end

local at = 5
local function given()
  local count = tonumber(ARGV[at])
  local first = at + 1
  at = first + count
  return first, count
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

-- The queues of an owner that are not empty, by project, line and capabilities.
local queuesOf = {}
local function queues(head)
  if queuesOf[head.index] then return queuesOf[head.index] end
  local list = {}
  for _, name in ipairs(redis.call('SMEMBERS', head.index)) do
    local project, line, capabilities = string.match(name, '^(%d+)/(.*)/([^/]*)$')
    list[#list + 1] = { key = head.prefix .. name, project = project, line = line, capabilities = capabilities }
  end
  queuesOf[head.index] = list
  return list
end

local function fitting(head)
  local can, judged, lines = {}, {}, nil
  for _, one in ipairs(head.capabilities) do can[one] = true end
  if head.lines then
    lines = {}
    for _, one in ipairs(head.lines) do lines[one] = true end
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
  for _, queue in ipairs(queues(head)) do
    if (not head.project or queue.project == head.project) and (not lines or lines[queue.line])
      and isAble(queue.capabilities) then list[#list + 1] = queue end
  end
  return list
end

-- Of each queue the first ones, as many as are wanted. Where there are many queues, fewer of each, but never so few that
-- all together are less than what is wanted while more is waiting: one queue may hold nearly everything.
local shown, depth, seenBy = {}, {}, {}
for h, head in ipairs(cjson.decode(ARGV[4])) do
  local list, each = fitting(head), math.min(head.limit, ${A_FEW})
  local enough = math.max(${SHOWN}, 2 * head.limit)
  while each < head.limit do
    local total = 0
    local twice = math.min(each * 2, head.limit)
    for _, queue in ipairs(list) do
      queue.length = queue.length or redis.call('ZCARD', queue.key)
      total = total + math.min(queue.length, twice)
    end
    if total > enough then break end
    each = twice
  end
  seenBy[h] = {}
  for i, queue in ipairs(list) do
    if not queue.place then
      shown[#shown + 1] = queue
      queue.place = #shown
    end
    depth[queue.place] = math.max(depth[queue.place] or 0, each)
    seenBy[h][i] = queue.place - 1
  end
end
for place, queue in ipairs(shown) do
  shown[place] = redis.call('ZRANGE', queue.key, 0, depth[place] - 1)
  for _, id in ipairs(shown[place]) do show(id) end
end

local first, count = given()
local holding = {}
for i = 1, count do
  holding[i] = redis.call('SMEMBERS', tag .. 'holds:' .. ARGV[first + i - 1])
  for _, id in ipairs(holding[i]) do show(id) end
end

first, count = given()
local claimants, names = {}, {}
for i = 1, count do names[i] = tag .. 'session:' .. ARGV[first + i - 1] end
for i, record in ipairs(readAll(names)) do
  claimants[i] = record and { record, redis.call('SCARD', tag .. 'holds:' .. ARGV[first + i - 1]) } or false
end

local answers = {}
while at <= #ARGV do
  first, count = given()
  answers[#answers + 1] = redis.call(unpack(ARGV, first, first + count - 1))
end
return { 'seen', redis.call('TIME'), mine and 1 or 0, meta, shown, seenBy, holding, readAll(wanted), claimants, answers }
`
