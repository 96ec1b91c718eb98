"""Recordings judged: cards dealt again by the rules, what a record claims compared, nothing repaired."""
