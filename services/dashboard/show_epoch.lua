-- Notes which partitions of a new epoch have caught up, and shows it when all have.
-- KEYS: current, building, the epoch's set of caught up partitions. ARGV: epoch, how many there are, then names.
if redis.call('GET', KEYS[2]) ~= ARGV[1] then
    return redis.call('GET', KEYS[1]) == ARGV[1] and 'shown' or 'gone'
end
for number = 3, #ARGV do
    redis.call('SADD', KEYS[3], ARGV[number])
end
if redis.call('SCARD', KEYS[3]) < tonumber(ARGV[2]) then
    return 'waiting'
end
redis.call('SET', KEYS[1], ARGV[1])
redis.call('DEL', KEYS[2], KEYS[3])
return 'flipped'
