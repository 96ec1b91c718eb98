-- The epoch to write: the one that is built, else the one that is shown, else a new one.
-- KEYS: current, building. ARGV: family, an epoch that is no good (or empty), the least number of a new one.
local family, broken = ARGV[1] .. '.', ARGV[2]
local function fits(epoch)
    return epoch and epoch ~= broken and string.sub(epoch, 1, #family) == family
end
local current, building = redis.call('GET', KEYS[1]), redis.call('GET', KEYS[2])
if fits(building) then
    return building
elseif not building and fits(current) then
    return current
end
local number = tonumber(ARGV[3])
for _, epoch in ipairs({current or '', building or ''}) do
    number = math.max(number, tonumber(string.match(epoch, '%.(%d+)$') or '0') + 1)
end
local fresh = family .. string.format('%d', number)
redis.call('SET', KEYS[2], fresh)
return fresh
