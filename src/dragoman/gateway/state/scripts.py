"""The scripts that run in the server, each in one step and by the server's clock.

Knows keys and numbers; nothing of what they stand for.  Contract: all keys of one script lie in one slot of a Cluster;
whoever is refused is not counted.
"""

from __future__ import annotations

import hashlib


def _named(text: str) -> tuple[str, str]:
    return text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


CHANGE = _named(
    """
local old = redis.call('GET', KEYS[1]) or ''
if old ~= ARGV[1] then return {0, old} end
if ARGV[2] == '' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3]) end
return {1, ''}
"""
)
"""KEYS text; ARGV what it was, what it is to be, seconds.  Reply: whether it is now; else what it was."""

MOST_NOTES = 16384
NOTE = _named(
    f"""
if redis.call('HLEN', KEYS[1]) > {MOST_NOTES} then redis.call('DEL', KEYS[1]) end
for i = 1, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
redis.call('EXPIRE', KEYS[1], 604800)
local n = redis.call('INCR', KEYS[2])
redis.call('SET', KEYS[2], n, 'EX', 691200)
"""
)
"""KEYS notes, mark; ARGV a name and a text each."""

LOOK = _named(
    """
local t = redis.call('TIME')
local now = t[1] + t[2] / 1000000
redis.call('ZADD', KEYS[3], now, ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now - 15)
redis.call('EXPIRE', KEYS[3], 60)
local mark = redis.call('GET', KEYS[2]) or '0'
local reply = {mark, string.format('%.6f', now), redis.call('ZCARD', KEYS[3])}
if mark ~= ARGV[1] then
  for _, text in ipairs(redis.call('HVALS', KEYS[1])) do reply[#reply + 1] = text end
end
return reply
"""
)
"""KEYS notes, mark, processes; ARGV the mark that is known, this process.  Reply: mark, time, processes, new notes."""

ENTER = _named(
    """
local t = redis.call('TIME')
local sec = tonumber(t[1])
local now = sec + t[2] / 1000000
local con, per, most, cost = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local function sum(key)
  local cells, total, first = redis.call('HGETALL', key), 0, sec
  for i = 1, #cells, 2 do
    local at = tonumber(cells[i])
    if at < sec - 60 then redis.call('HDEL', key, cells[i])
    else
      total = total + tonumber(cells[i + 1])
      if at < first then first = at end
    end
  end
  return total, first
end
if con > 0 then
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
  if redis.call('ZCARD', KEYS[1]) >= con then return {'many', '1', sec} end
end
if per > 0 then
  local total, first = sum(KEYS[2])
  if total >= per then return {'often', tostring(first + 61 - now), sec} end
end
if most > 0 then
  local total, first = sum(KEYS[3])
  if total > 0 and total + cost > most then return {'tokens', tostring(first + 61 - now), sec} end
end
if per > 0 then
  redis.call('HINCRBY', KEYS[2], sec, 1)
  redis.call('EXPIRE', KEYS[2], 62)
end
if most > 0 then
  redis.call('HINCRBY', KEYS[3], sec, cost)
  redis.call('EXPIRE', KEYS[3], 62)
end
if con > 0 then
  redis.call('ZADD', KEYS[1], now + ARGV[6], ARGV[1])
  redis.call('EXPIRE', KEYS[1], math.ceil(ARGV[6]) + 1)
end
return {'', '0', sec}
"""
)
"""KEYS running, begun, tokens; ARGV lease, most at once, most a minute, most tokens a minute, tokens, lease's seconds.

Reply: why it is refused ('' where it is not), in how many seconds it may come again, and the second it came in.
"""

LEAVE = _named(
    """
redis.call('ZREM', KEYS[1], ARGV[1])
local more = tonumber(ARGV[2])
if more == 0 then return end
local at = ARGV[3]
if more > 0 then at = redis.call('TIME')[1] elseif redis.call('HEXISTS', KEYS[3], at) == 0 then return end
redis.call('HINCRBY', KEYS[3], at, more)
redis.call('EXPIRE', KEYS[3], 62)
"""
)
"""KEYS running, begun, tokens; ARGV lease, tokens more (or fewer) than it came in with, the second it came in."""

RENEW = _named(
    """
local t = redis.call('TIME')
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], t[1] + ARGV[1], ARGV[i]) end
redis.call('EXPIRE', KEYS[1], math.ceil(ARGV[1]) + 1)
"""
)
"""KEYS running; ARGV the lease's seconds, leases."""
