"""The game: pure functions over immutable facts, with no clock, chance or input and output.

Read in this order: cards, events, shoe, tableau, rounds, payouts, bets, odds.
"""
