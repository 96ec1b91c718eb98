-- One table's view of one source topic, if the writer knows what it builds on.
-- KEYS: the view's hash. ARGV: previous offset (-1: none), offset, view, partition, channel, delta.
local stored = tonumber(redis.call('HGET', KEYS[1], 'offset') or '-1')
local previous = tonumber(ARGV[1])
if stored > previous then
    return 'older' -- somebody has written at least one of these facts already
elseif stored < previous then
    return 'hole' -- what the writer builds on is not here any more
end
redis.call('HSET', KEYS[1], 'offset', ARGV[2], 'view', ARGV[3], 'partition', ARGV[4])
redis.call('PUBLISH', ARGV[5], ARGV[6])
return 'written'
